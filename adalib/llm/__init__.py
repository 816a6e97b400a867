"""Any OpenAI-compatible endpoint: one answer, or many with resuming; and a local model."""
