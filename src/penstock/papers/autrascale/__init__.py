"""AuTraScale (2021): throughput optimisation, then Bayesian optimisation of latency, with transfer learning."""
