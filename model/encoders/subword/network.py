"""The bag of words and their parts that turns a question into a vector, to be trained.

Bags -> rows looked up once -> words summed -> questions summed -> length 1 -> vectors
"""

from __future__ import annotations

import numpy as np
import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor, nn

from model.distances import unit
from model.encoders.config import SubwordSettings
from model.encoders.subword.row_ids import Bags

FIRST_DEVIATION = 0.1
"""Of the first weights; Adam moves a number by about its learning rate a step."""


class SubwordEncoder(nn.Module):
    """A question is the sum of its words at length 1, a word the sum of its own row and those of its n-grams.

    The words' vectors are those of Bojanowski et al. 2017, section 3.2, with n-grams weighted; they are learned from
    pairs of questions and not from contexts. The mean in place of the sum would have the same direction. The gradient
    is sparse: only the rows of a batch have one.

    Dropout leaves out words of a question and n-grams of a word, each by itself and a word in half as many cases; what
    stays is not scaled, since length does not count.

    Args:
        rows: how many embeddings there are.
        settings: dimension and the weight of an n-gram.
        dropout: share of n-grams left out in training.
        generator: decides what is left out.

    Shape:
        bags: N questions whose rows are below ``rows``.
        output: (N, settings.dimension), rows of length 1, or 0 for a question without a word.
    """

    def __init__(
        self, rows: int, settings: SubwordSettings, *, dropout: float = 0.0, generator: torch.Generator | None = None
    ) -> None:
        super().__init__()
        self.embedding = nn.Embedding(rows, settings.dimension, sparse=True)
        self.ngram_weight, self.dropout, self.generator = settings.ngram_weight, dropout, generator
        nn.init.normal_(self.embedding.weight, std=FIRST_DEVIATION)

    @torch.no_grad()
    def begin_with(self, rows: Tensor) -> None:
        """Make these the last rows, so that a word begins as the sum of its own among them, and all others zero."""
        self.embedding.weight.zero_()
        self.embedding.weight[len(self.embedding.weight) - len(rows) :] = rows / self.ngram_weight

    def forward(self, bags: Bags) -> Tensor:
        """Return the vectors of a batch of questions."""
        distinct, local = np.unique(np.concatenate([bags.words, bags.ngrams.ids]), return_inverse=True)
        embeddings = self.embedding(self._moved(distinct))
        own, parts = np.split(local, [len(bags.words)])
        ngrams = self._sum(embeddings, parts, bags.ngrams.offsets, weight=self.ngram_weight, dropout=self.dropout)
        words = embeddings[self._moved(own)] + ngrams
        return unit(self._sum(words, bags.questions.ids, bags.questions.offsets, weight=1.0, dropout=self.dropout / 2))

    def _sum(self, table: Tensor, ids: np.ndarray, offsets: np.ndarray, *, weight: float, dropout: float) -> Tensor:
        """Sum the rows of each run, those that are left out with weight 0."""
        weights = torch.full((len(ids),), weight)
        if self.training and dropout:
            weights *= torch.rand(len(ids), generator=self.generator) >= dropout
        where = self._moved(ids), self._moved(offsets[:-1])
        return F.embedding_bag(where[0], table, where[1], mode="sum", per_sample_weights=weights.to(table))

    def _moved(self, numbers: np.ndarray) -> Tensor:
        return torch.from_numpy(numbers.astype(np.int64, copy=False)).to(self.embedding.weight.device)
