"""AuTraScale+ is evaluated with the jobs of AuTraScale, and has none of its own."""

WORKLOADS = ()
