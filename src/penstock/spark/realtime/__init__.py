"""The real-time engine: operators run concurrently, topics join the segments, and a change restarts some of them."""

from penstock.model.extras import ensure

ensure("spark")
