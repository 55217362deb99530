"""The job of the demo: clicks of a news site, in the simulator and on Spark."""
