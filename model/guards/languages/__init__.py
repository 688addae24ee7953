"""Eight other languages than English: their words, negation, numbers and order."""
