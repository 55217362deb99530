"""Slots and executors: counting them, requesting them and releasing them."""

from penstock.model.extras import ensure

ensure("spark")
