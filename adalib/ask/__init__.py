"""Ask a model: one question to an OpenAI-compatible endpoint, or many samples of many questions."""
