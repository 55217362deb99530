"""The papers' Bayesian optimiser: Gaussian process, acquisition, search and transfer."""
