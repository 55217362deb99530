"""What the papers' experiments on Spark share."""
