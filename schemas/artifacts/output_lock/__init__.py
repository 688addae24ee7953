"""Lock of an output: one run writes to it at a time."""
