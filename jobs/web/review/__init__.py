"""The review page: people judge a queue in their browsers, several at once."""
