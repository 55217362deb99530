"""Stateful native queries: their checkpoints, and changing their partitions."""
