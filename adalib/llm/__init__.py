"""Any OpenAI-compatible endpoint: sample one answer, or collect many and resume; and a local model to try it on."""
