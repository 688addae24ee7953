"""Verdicts of people on question pairs: sample, estimates, recalibration, test of thresholds."""
