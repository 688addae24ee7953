"""The work behind the commands, without printing."""
