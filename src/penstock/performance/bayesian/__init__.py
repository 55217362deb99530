"""The papers' Bayesian optimiser: Gaussian process, acquisition, search and transfer."""

from penstock.model.extras import ensure

ensure("learners")
