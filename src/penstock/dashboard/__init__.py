"""The page: what a job does and why, in a browser, while it runs and afterwards."""
