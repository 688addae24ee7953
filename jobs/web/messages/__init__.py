"""Requests and responses: bodies, documents, faults and their descriptions."""
