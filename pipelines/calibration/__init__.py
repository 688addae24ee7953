"""Thresholds and weights from logs with known clusters."""
