"""Servers on this machine, and the load on them."""
