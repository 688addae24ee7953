"""Roles in English texts: sides of a verb or question, clauses, ways from A to B."""
