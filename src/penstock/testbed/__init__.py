"""What demos, tests and benches need around a job: Spark on this machine, a broker, a feeder, a standalone cluster."""
