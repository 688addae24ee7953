"""Exact tests and confidence bounds of shares: fixed samples, fixed sequences of tests, samples watched live."""
