"""Advice from the event logs that Spark writes anyway: what each policy would have done with a recorded load."""
