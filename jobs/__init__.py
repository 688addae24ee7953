"""Commands for people and schedulers."""
