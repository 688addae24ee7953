"""Processes that search in place of the threads of a server."""
