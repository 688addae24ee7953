"""Question-answering logs with known truth: a seeded generator, for tests, benchmarks and anyone without data."""
