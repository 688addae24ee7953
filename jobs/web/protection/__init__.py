"""Protection of the server: hosts, tokens, rates, concurrency and time."""
