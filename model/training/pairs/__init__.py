"""Training by pairs of paraphrases: objective and validation score."""
