"""A run and what it came to: simulated or live, its twin, and many of them compared."""

from penstock.model.extras import ensure

ensure("simulator")
