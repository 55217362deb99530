"""Penstock keeps a Spark streaming job inside its latency target with as few cores as possible."""

from penstock.model import Slo

__all__ = ["Slo"]
__version__ = "0.1.0"
