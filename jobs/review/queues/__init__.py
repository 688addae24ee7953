"""Queues of a spot check: all clusters, pairs for a calibration, answered requests, each in a seeded random order."""
