"""Ordering the nearest questions anew by all that two wordings tell, as learned on a validation split."""
