"""Series for Prometheus: what is measured, decided and done, under names that stay."""
