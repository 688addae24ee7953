"""Contract between all packages: table schemas, text normalisation, artefacts, errors."""

__version__ = "0.1.0"
