"""A transformer as a kind: settings, network, inference and addresses.

TransformerSettings -> TransformerKind -> network, encoder, folder of sentence-transformers
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from model.encoders.interface import Encoder, Weights
from model.encoders.kind import EncoderKind
from model.encoders.transformer.checkpoint_folder import (
    MODULES,
    PREFIX,
    checked_folder,
    described,
    folder_digest,
    load_sentences,
    packed,
    unpacked,
)
from model.encoders.transformer.settings import TransformerSettings
from model.text.vocabulary import Vocabulary
from schemas.artifacts.paths import public_name
from schemas.errors import UsageError

if TYPE_CHECKING:
    from model.encoders.network import Network
    from model.encoders.saved_model import ModelParts

FOLDER = "transformer/"
"""Begins the names of its files in a model, which are a folder of sentence-transformers."""

_SECTION = """\
## Start

Training began with the sentence-transformers model in `{start}` (licence as its README states it:
{transformer_licence}; digest `{transformer_digest}`), whose weights all learned. Pass the licence on with the model.
sentence-transformers can load the folder `transformer` too.

"""


class TransformerKind(EncoderKind[TransformerSettings]):
    """A model of sentence-transformers, trained further."""

    name = "transformer"
    title = "A transformer that others trained, of sentence-transformers, brought to length 1"
    settings = TransformerSettings
    preset = "transformer"
    derived = frozenset({"transformer_digest", "transformer_licence", "dimension"})
    unused = frozenset({"dropout", "vocabulary_size", "hash_bins"})
    smaller = "Lower {step}, or begin with a smaller model"
    has_vocabulary = False
    required_files = frozenset({FOLDER + MODULES})
    prefix = PREFIX

    def network(self, vocabulary: Vocabulary, shape: TransformerSettings, *, dropout: float, seed: int) -> Network:  # noqa: ARG002
        """Return a network with the weights of the model that training begins with."""
        from model.encoders.transformer.network import TransformerNetwork

        return TransformerNetwork(shape)

    def weights(self, shape: TransformerSettings, tokens: int) -> dict[str, tuple[int, ...]]:  # noqa: ARG002
        """Return nothing: the weights are in the files of the folder."""
        return {}

    def encoder(self, shape: TransformerSettings, parts: ModelParts, *, name: str) -> Encoder:  # noqa: ARG002
        """Return the encoder of a saved model, which needs PyTorch."""
        from model.encoders.transformer.inference import TransformerEncoder

        return TransformerEncoder(parts.manifest.digest, name, _folder(parts))

    def complete(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Return the settings of the model that training begins with.

        Raises:
            QprError: there is no such model.
            UsageError: none is named.
        """
        if "transformer_from" not in given:
            needed = "give --transformer-from, the folder of a sentence-transformers model"
            raise UsageError(f"--encoder transformer: {needed}")
        return described(given["transformer_from"])

    def files(self, shape: TransformerSettings, weights: Weights) -> tuple[dict[str, bytes], dict[str, bytes]]:
        """Return the folder of the trained transformer."""
        import torch

        from model.encoders.transformer.network import TransformerNetwork

        network = TransformerNetwork(shape)
        with torch.no_grad():
            for name, weight in network.body.named_parameters():
                weight.copy_(torch.from_numpy(weights[name]))
        return {FOLDER + name: content for name, content in packed(network.body.sentences).items()}, {}

    def start_from(self, older: ModelParts, network: Network) -> bool:
        """Give a network all weights of an older model."""
        with unpacked(_folder(older)) as folder:
            learned = load_sentences(folder, name="the model to begin from").float()
        network.body.load_state_dict({f"sentences.{name}": value for name, value in learned.state_dict().items()})
        return True

    def card_section(self, shape: TransformerSettings) -> str:
        """Return the section of the model card about the model that training began with."""
        return _SECTION.format(start=public_name(shape.transformer_from), **shape.model_dump())

    def word_order(self, shape: TransformerSettings) -> str:  # noqa: ARG002  # of `EncoderKind`
        """Return a clause for the model card."""
        return "Word order, case and punctuation count as its start counted them"

    def open(self, url: str) -> Encoder:
        """Return the encoder at ``st:<folder>``; its weights are read when they are needed.

        Raises:
            QprError: there is no such folder.
        """
        from model.encoders.transformer.inference import TransformerEncoder

        return TransformerEncoder(self.digest(url), url)

    def digest(self, url: str) -> str:
        """Return the SHA-256 of the names and contents of all files in the folder of ``st:<folder>``.

        Raises:
            QprError: there is no such folder, or it holds no model of sentence-transformers.
        """
        return folder_digest(checked_folder(url))


def _folder(parts: ModelParts) -> dict[str, bytes]:
    """Return the files of the folder by their names in it."""
    return {name.removeprefix(FOLDER): content for name, content in parts.files.items()}
