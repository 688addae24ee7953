"""Verdicts on sampled pairs: the sample, its calibration, and the use of it."""
