"""Roles in English texts: sides of a verb or question, places of words, clauses, owners, ways from A to B."""
