"""The price of compute, and every budget at once."""
