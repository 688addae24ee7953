"""Versions of a served index: opening, and use until the last request of each ends."""
