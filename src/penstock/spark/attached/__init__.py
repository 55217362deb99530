"""Steers a micro-batch query that its owner wrote and started, by its executors."""
