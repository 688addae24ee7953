"""Simulated question-answering logs with known clusters."""
