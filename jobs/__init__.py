"""What a person or a scheduler runs: one thin module a command."""
