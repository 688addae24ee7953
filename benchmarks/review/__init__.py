"""Spot checks: what verdicts of people promise, compared with the truth."""
