"""Files of an artefact that are verified against its manifest, and what was verified before."""
