"""Spot checks: queues of what people judge, their verdicts on disk, the statistics of these, reports."""
