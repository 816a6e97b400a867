"""Decide while the answers come in: when to stop, and what to cancel."""
