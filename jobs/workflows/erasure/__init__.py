"""Erasure of questions and users from artefacts."""
