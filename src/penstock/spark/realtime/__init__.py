"""The real-time engine: operators at once, segments joined by topics, a change by restart."""
