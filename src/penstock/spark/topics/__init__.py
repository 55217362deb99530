"""Kafka's topics: their offsets, and how they grow."""
