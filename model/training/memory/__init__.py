"""Gradients, devices and memory of a training step."""
