"""The convolutional encoder of sentence-transformers, trained as its users do, to compare training speed with.

vocabulary, pairs of texts -> PeerTraining.step -> seconds of a step
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch


class PeerTraining:
    """WordEmbeddings + CNN + Pooling (maximum) with MultipleNegativesRankingLoss and fused AdamW on all weights.

    It has no projection and drops unlisted words, both in its favour. Its trainer is left out: a step tokenizes as its
    collator does, and no more.

    Args:
        words: of the vocabulary.
        dimension: numbers a word, and channels.
        width: of the window.
        learning_rate: AdamW's.
    """

    def __init__(self, words: Sequence[str], *, dimension: int, width: int, learning_rate: float) -> None:
        from sentence_transformers import SentenceTransformer
        from sentence_transformers.sentence_transformer.losses import MultipleNegativesRankingLoss
        from sentence_transformers.sentence_transformer.modules import CNN, Pooling, WordEmbeddings
        from sentence_transformers.sentence_transformer.modules.tokenizer import WhitespaceTokenizer

        rows = np.random.default_rng(0).uniform(-1, 1, (len(words) + 1, dimension)).astype(np.float32)
        tokenizer = WhitespaceTokenizer(["<padding>", *words], stop_words=[], do_lower_case=True)
        modules: list[Any] = [
            WordEmbeddings(tokenizer, rows, update_embeddings=True),
            CNN(dimension, dimension, kernel_sizes=[width]),
            Pooling(dimension, "max"),
        ]
        self.model = SentenceTransformer(modules=modules, device="cpu")
        self.model.train()
        self.loss = MultipleNegativesRankingLoss(self.model)
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=learning_rate, fused=True)

    def step(self, first: Sequence[str], second: Sequence[str]) -> float:
        """Learn from one batch of pairs; return its loss."""
        loss = self.loss([self.model.preprocess(list(side)) for side in (first, second)], torch.empty(0))
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return float(loss.detach())
