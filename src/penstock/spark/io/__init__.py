"""Where records come from and go to, besides Kafka."""
