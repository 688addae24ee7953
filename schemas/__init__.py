"""The contract: what a row of every table holds, what a question's text means, what makes an artefact complete."""

__version__ = "0.1.0"
