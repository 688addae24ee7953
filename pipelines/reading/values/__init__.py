"""Numbers and times as files write them."""
