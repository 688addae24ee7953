"""Logs whose paraphrases are known, to learn from and to score on, and datasets with planted faults."""
