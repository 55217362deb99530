"""The micro-batch engine: operators run sequentially, and a change takes effect with the next batch."""
