"""Versions of a served index: opening, calls, and use until the last request of each ends."""
