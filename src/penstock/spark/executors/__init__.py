"""Executors: asking for them, releasing them, and a cluster on this machine to try it on."""
