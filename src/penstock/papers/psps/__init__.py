"""PSPS (2022): replicas from a pool, for the events predicted and those that wait."""
