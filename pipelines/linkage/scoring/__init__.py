"""Match probabilities of question pairs, and groups made from them."""
