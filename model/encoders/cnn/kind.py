"""The convolutional encoder as a kind: settings, weights, network and inference.

CnnSettings -> CnnKind -> network, encoder
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from model.encoders.cnn.inference import CnnEncoder
from model.encoders.cnn.settings import CnnSettings
from model.encoders.interface import Encoder
from model.encoders.kind import EncoderKind
from model.text.vocabulary import Vocabulary

if TYPE_CHECKING:
    from model.encoders.network import Network
    from model.encoders.saved_model import ModelParts


class CnnKind(EncoderKind[CnnSettings]):
    """Embeddings, convolution, maximum, projection: the paper's encoder."""

    name = "cnn"
    title = "A convolutional network over word embeddings (Bonadiman, Kumar and Mittal 2019)"
    settings = CnnSettings
    preset = "paper"
    unused = frozenset({"dropout"})
    of_length_1 = False

    def network(self, vocabulary: Vocabulary, shape: CnnSettings, *, dropout: float, seed: int) -> Network:  # noqa: ARG002
        """Return an untrained network."""
        from model.encoders.cnn.network import CnnNetwork

        return CnnNetwork(vocabulary, shape)

    def weights(self, shape: CnnSettings, tokens: int) -> dict[str, tuple[int, ...]]:
        """Return the shape of every weight by name."""
        channels = shape.channels * len(shape.windows)
        kernels = {
            f"kernels.{number}": (shape.embedding_dimension, width * shape.channels)
            for number, width in enumerate(shape.windows)
        }
        return {
            "embedding.weight": (tokens, shape.embedding_dimension),
            **kernels,
            "bias": (channels,),
            "projection.weight": (shape.dimension, channels),
            "projection.bias": (shape.dimension,),
        }

    def encoder(self, shape: CnnSettings, parts: ModelParts, *, name: str) -> Encoder:  # noqa: ARG002
        """Return the encoder of a saved model."""
        return CnnEncoder(parts.manifest.digest, parts.vocabulary, shape.windows, parts.weights)

    def word_order(self, shape: CnnSettings) -> str:
        """Return a clause for the model card."""
        return f"Word order counts only inside a window of {' or '.join(map(str, shape.windows))} words"
