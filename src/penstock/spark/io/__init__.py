"""Where records come from and go to, besides Kafka."""

from penstock.model.extras import ensure

ensure("spark")
