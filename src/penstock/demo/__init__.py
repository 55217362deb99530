"""The job of the demo: clicks of a news site. `graph` says what it does, and both the simulator and Spark run that."""
