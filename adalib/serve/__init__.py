"""Answer questions within a budget, as a library or as a server in front of a model."""
