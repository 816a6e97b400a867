"""Sampled answers from files, and simulated populations whose true accuracy is known."""
