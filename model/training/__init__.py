"""Training of encoders: trainer, batches, settings, progress."""
