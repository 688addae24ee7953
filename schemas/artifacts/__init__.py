"""Artefacts on any store: manifest, writer, reader, content digest."""
