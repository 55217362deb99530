"""A cluster that imitates: whole records in steps, queueing theory below a step."""

from penstock.model.extras import ensure

ensure("simulator")
