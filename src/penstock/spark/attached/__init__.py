"""Steering a query that somebody else wrote and started."""
