"""The subword encoder as a kind: settings, weights, network and inference.

SubwordSettings -> SubwordKind -> network, encoder
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, TypeVar

import numpy as np

from model.encoders.interface import Encoder
from model.encoders.kind import EncoderKind
from model.encoders.subword.inference import BagEncoder
from model.encoders.subword.row_ids import Subwords
from model.encoders.subword.settings import SubwordSettings
from model.text.vocabulary import Vocabulary

if TYPE_CHECKING:
    from model.encoders.network import Network
    from model.encoders.saved_model import ModelParts

BagSettings = TypeVar("BagSettings", bound=SubwordSettings)


class BagKind(EncoderKind[BagSettings]):
    """A bag of words and their parts, with or without pretrained tokens."""

    smaller = "Lower {step}, --vocabulary-size, --hash-bins, --dimension and --ngram-bins for a smaller model"
    taught: ClassVar = {"epochs": 3, "learning_rate": 1e-2, "dropout": 0.1}  # chosen as presets are (docs/log.md)
    needs_hash_bins = True
    stored_as = np.float16

    def weights(self, shape: BagSettings, tokens: int) -> dict[str, tuple[int, ...]]:
        """Return the shape of the table."""
        return {"embedding.weight": (tokens + self.shared_rows(shape), shape.dimension)}

    def shared_rows(self, shape: BagSettings) -> int:
        """Return the rows shared by n-grams and by pairs of words."""
        return shape.ngram_bins + shape.bigram_bins

    def word_order(self, shape: BagSettings) -> str:
        """Return a clause for the model card."""
        return "Word order counts only between neighbours" if shape.bigram_bins else "Word order does not count at all"


class SubwordKind(BagKind[SubwordSettings]):
    """A bag of words and their character n-grams."""

    name = "subword"
    title = "A bag of words and their character n-grams (after Bojanowski et al. 2017), brought to length 1"
    settings = SubwordSettings

    def network(self, vocabulary: Vocabulary, shape: SubwordSettings, *, dropout: float, seed: int) -> Network:
        """Return an untrained network."""
        from model.encoders.subword.network import SubwordNetwork

        return SubwordNetwork(Subwords.of(vocabulary, shape), shape, None, dropout=dropout, seed=seed)

    def encoder(self, shape: SubwordSettings, parts: ModelParts, *, name: str) -> Encoder:  # noqa: ARG002
        """Return the encoder of a saved model."""
        subwords = Subwords.of(parts.vocabulary, shape)
        return BagEncoder(parts.manifest.digest, subwords, parts.weights["embedding.weight"], shape.ngram_weight)
