"""The bag of words and their parts that turns a question into a vector, to be trained.

Bags -> rows looked up once -> words summed -> questions summed -> length 1 -> vectors
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import torch
import torch.nn.functional as F  # noqa: N812  # its usual name
from torch import Tensor, nn

from model.distances import unit
from model.encoders.network import Network
from model.encoders.subword.row_ids import Bags, Subwords
from model.encoders.subword.settings import SubwordSettings
from model.encoders.token_store import collected
from model.text.vocabulary import TokenIds, slices
from schemas.ragged import offsets_of
from schemas.text_arrays import key_all

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
        rows: number of embeddings.
        settings: dimension and the weight of an n-gram.
        dropout: share of n-grams left out in training.
        generator: source of the random numbers of dropout.

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


class SubwordNetwork(Network):
    """The subword encoder over bags.

    Args:
        subwords: turns questions into rows.
        shape: settings of the encoder.
        start: vectors of pretrained tokens, (tokens, at least dimension); None without any.
        dropout: share of n-grams left out in training.
        seed: of what is left out.
    """

    body: SubwordEncoder

    stored_as = np.float16

    def __init__(
        self, subwords: Subwords, shape: SubwordSettings, start: npt.NDArray[Any] | None, *, dropout: float, seed: int
    ) -> None:
        super().__init__()
        self.subwords, self.turnable = subwords, start is not None
        self.generator = torch.Generator().manual_seed(seed)
        self.body = SubwordEncoder(len(self.subwords), shape, dropout=dropout, generator=self.generator)
        with torch.no_grad():  # a pair of words adds nothing until it has learned to
            self.body.embedding.weight[self.subwords.rows_of_pairs] = 0
        if start is not None:
            self.body.begin_with(torch.from_numpy(start.astype(np.float32)[:, : shape.dimension]))

    def read(self, texts: pa.Array) -> Bags:
        """Return the bags of questions."""
        return bags(self.subwords, key_all(texts))

    @torch.no_grad()
    def turn(self, matrix: Tensor) -> None:
        """Multiply all rows, and so every question's vector before it is brought to length 1, by a (D, D) matrix."""
        rows = self.body.embedding.weight
        rows.copy_(rows @ matrix.to(rows))

    def forward(self, inputs: Bags) -> Tensor:
        """Return the vectors of questions."""
        vectors: Tensor = self.body(inputs)
        return vectors


def bags(subwords: Subwords, keys: pa.Array) -> Bags:
    """Return `Subwords.bags` of the keys; words are numbered in the order in which they first occur.

    Raises:
        QprError: the numbers of the words do not fit in the folder of temporary files.
    """
    words = pa.array([], pa.string())

    def numbered() -> Iterator[TokenIds]:
        nonlocal words
        for part in slices(keys):
            listed = subwords.vocabulary.words_of(part)
            encoded = pc.list_flatten(listed).dictionary_encode()
            numbers_before = pc.index_in(encoded.dictionary, value_set=words)
            fresh = pc.is_null(numbers_before).to_numpy(zero_copy_only=False)
            numbers = pc.fill_null(numbers_before, -1).to_numpy().astype(np.int32)
            numbers[fresh] = len(words) + np.arange(np.count_nonzero(fresh))
            words = pa.concat_arrays([words, encoded.dictionary.filter(pa.array(fresh))])
            lengths = pc.list_value_length(listed).to_numpy()
            yield TokenIds(numbers[encoded.indices.to_numpy()], offsets_of(lengths))

    questions = collected(numbered())
    return subwords.bags_of(questions, words)
