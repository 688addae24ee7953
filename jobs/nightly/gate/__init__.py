"""Gate of a night: evidence on its index and answers, limits, and the reason to refuse it."""
