"""Honest comparison: what a policy gains on questions and samples that it has not seen."""
