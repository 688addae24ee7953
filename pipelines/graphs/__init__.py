"""Wiring of the Beam pipelines; logic lives in the other packages."""
