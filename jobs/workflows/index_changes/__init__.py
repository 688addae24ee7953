"""Changes of a published index: additions, deletions, compaction."""
