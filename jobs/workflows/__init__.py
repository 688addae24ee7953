"""The work behind the commands, and the printing of its result."""
