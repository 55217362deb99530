"""Steers the micro-batch queries of an application that somebody else wrote, by its executors."""

from penstock.model.extras import ensure

ensure("spark")
