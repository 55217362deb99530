"""Kafka's topics: their offsets, and how they grow."""

from penstock.model.extras import ensure

ensure("kafka")
