"""Question encoders: interface, settings, registry, saved models."""
