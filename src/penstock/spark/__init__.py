"""A cluster that is real: pipelines on Spark, and the two engines that run them."""
