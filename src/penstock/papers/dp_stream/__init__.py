"""Dp-Stream (2022): a network trained by annealing predicts the load, and the critical path is sized for it."""
