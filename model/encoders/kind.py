"""Interface of a kind of encoder, the only part of it that the rest of the code uses.

settings -> EncoderKind.network -> network to train; parts of a saved model -> EncoderKind.encoder -> Encoder

A kind imports PyTorch inside the methods that need it: search and indexing go without.
"""

from __future__ import annotations

import abc
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Final, Generic, TypeVar

import numpy as np
import pydantic

from model.encoders.interface import Encoder, Weights
from model.text.vocabulary import Vocabulary

if TYPE_CHECKING:
    from model.encoders.network import Network
    from model.encoders.saved_model import ModelParts


MAX_WIDTH: Final = 2**16
"""Maximum length of a vector and number of channels: 16 times those of the widest encoders in use."""


class Shape(pydantic.BaseModel, frozen=True, extra="forbid"):
    """Settings of an encoder; config.json holds them as ``shape``, in the order of the class.

    Each class declares its ``dimension``, the length of a question's vector, at a place of its own.
    """

    if TYPE_CHECKING:
        dimension: int


ShapeT = TypeVar("ShapeT", bound=Shape)


class EncoderKind(abc.ABC, Generic[ShapeT]):
    """A kind of encoder.

    Attributes:
        name: the encoder in options and in config.json.
        settings: class of its settings.
        title: phrase that names it in the model card.
        preset: preset of `model.training.presets` that trains it unless another is named.
        taught: settings of the training that distillation replaces unless they are given.
        derived: settings that `complete` fills in, so that no option gives them.
        unused: settings of the training without effect on it.
        smaller: options of a smaller model, for the message of a training that runs out of memory.
        has_vocabulary: has a vocabulary and weights by name; False: all it learned is in files of its own.
        needs_hash_bins: cannot do without rows for unlisted words.
        of_length_1: all its vectors have length 1, but for those of zeros.
        stored_as: type of its weights in a model.
        required_files: further files without which a model of it is incomplete.
        prefix: beginning of addresses of models of other programs that it opens, such as ``st:``; "" for none.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    settings: type[ShapeT]
    preset: ClassVar[str] = "default"
    taught: ClassVar[Mapping[str, float]] = {}
    derived: ClassVar[frozenset[str]] = frozenset()
    unused: ClassVar[frozenset[str]] = frozenset()
    smaller: ClassVar[str] = "Lower {step}, --vocabulary-size, --hash-bins, --dimension for a smaller model"
    has_vocabulary: ClassVar[bool] = True
    needs_hash_bins: ClassVar[bool] = False
    of_length_1: ClassVar[bool] = True
    stored_as: ClassVar[type[np.floating]] = np.float32
    required_files: ClassVar[frozenset[str]] = frozenset()
    prefix: ClassVar[str] = ""

    @abc.abstractmethod
    def network(self, vocabulary: Vocabulary, shape: ShapeT, *, dropout: float, seed: int) -> Network:
        """Return an untrained network; PyTorch's global random state is seeded already."""

    @abc.abstractmethod
    def weights(self, shape: ShapeT, tokens: int) -> dict[str, tuple[int, ...]]:
        """Return the shape of every weight by name; ``tokens`` counts words and hash bins."""

    @abc.abstractmethod
    def encoder(self, shape: ShapeT, parts: ModelParts, *, name: str) -> Encoder:
        """Return the encoder of a saved model, without PyTorch if possible.

        Args:
            shape: settings of the encoder.
            parts: the model.
            name: the model in messages.
        """

    def complete(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Return given settings and those that are read from what training begins with.

        Raises:
            QprError: that is missing or does not fit; the message names the option.
        """
        return dict(given)

    def check(self, shape: ShapeT, files: Mapping[str, bytes]) -> None:
        """Check the further files of a saved model.

        Raises:
            QprError: one does not fit the settings.
        """

    def files(self, shape: ShapeT, weights: Weights) -> tuple[dict[str, bytes], dict[str, bytes]]:  # noqa: ARG002
        """Return further files of a trained model by name, and pages for people."""
        return {}, {}

    def start_from(self, older: ModelParts, network: Network) -> bool:  # noqa: ARG002  # for subclasses
        """Give a fresh network all weights of an older model; False: they are to be taken by name and word."""
        return False

    def shared_rows(self, shape: ShapeT) -> int:  # noqa: ARG002  # for subclasses
        """Return the number of rows shared by parts of words, beside those shared by unlisted words; 0 for none."""
        return 0

    def card_section(self, shape: ShapeT) -> str:  # noqa: ARG002  # for subclasses
        """Return the model card's section about what training began with; "" for random weights."""
        return ""

    @abc.abstractmethod
    def word_order(self, shape: ShapeT) -> str:
        """Return a clause for the model card about the effect of word order."""

    def open(self, url: str) -> Encoder:
        """Return the encoder at an address with `prefix`.

        Raises:
            QprError: there is none.
        """
        raise NotImplementedError(f"{self.name} opens no models of other programs")

    def digest(self, url: str) -> str:
        """Return the digest of the encoder at an address with `prefix`, without loading it.

        Raises:
            QprError: there is none.
        """
        raise NotImplementedError(f"{self.name} opens no models of other programs")
