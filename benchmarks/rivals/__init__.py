"""The same job done by other means, to compare with; results must be equal."""
