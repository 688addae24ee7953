"""HTTP server of an index: searches, answers, feedback, metrics, exchange of the index."""
