"""Record linkage: the paraphrase groups among the questions of one answer."""
