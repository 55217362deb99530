"""Slots and executors: counting them, requesting them and releasing them."""
