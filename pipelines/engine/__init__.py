"""Beam engines: runner, options, shuffle, workers."""
