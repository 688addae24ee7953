"""Every figure of the README and the docs has its script here; each says how to run it."""
