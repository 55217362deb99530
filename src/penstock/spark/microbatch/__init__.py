"""The micro-batch engine: operators in turn, a change with every batch."""
