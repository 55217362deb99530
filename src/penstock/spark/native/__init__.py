"""Stateful native queries: their checkpoints, and changing their partitions."""

from penstock.model.extras import ensure

ensure("spark")
