"""Rounds in batches: a policy that watches, at the price of an endpoint that works overnight."""
