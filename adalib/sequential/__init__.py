"""Decide while the answers come in: when to stop, what to cancel, and how a budget is held."""
