"""Nights of a warehouse: ingestion, fold, training, index, evaluation, gate and publication."""
