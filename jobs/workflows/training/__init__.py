"""Work behind the commands that train: encoders, distilled encoders and rerankers."""
