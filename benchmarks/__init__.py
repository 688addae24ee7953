"""Benchmarks: a script for every figure of the documentation."""
