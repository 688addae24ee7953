"""Expected answer types of English questions: a time, a place, an amount of money, a phone number."""
