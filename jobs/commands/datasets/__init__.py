"""Commands that make datasets, and show and judge them."""
