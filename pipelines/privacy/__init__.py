"""Protection of people who asked: personal data replaced, questions of few users rejected, user ids hashed."""
