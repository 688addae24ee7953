"""Record linkage: which questions of one answer are paraphrases of one another."""
