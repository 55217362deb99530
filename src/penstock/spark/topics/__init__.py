"""Kafka: the source and sink over it, a broker of our own, what its offsets tell."""
