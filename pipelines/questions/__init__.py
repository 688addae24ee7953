"""Log rows to distinct questions: filters, aggregation, memberships, ambiguity."""
