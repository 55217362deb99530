"""The micro-batch engine: operators run sequentially, and a change takes effect with the next batch."""

from penstock.model.extras import ensure

ensure("spark")
