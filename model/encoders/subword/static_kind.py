"""The static encoder as a kind: the subword encoder with pretrained tokens.

StaticSettings, published tokens -> StaticKind -> network, encoder, tokenizer.json
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from model.encoders.interface import Encoder, Weights
from model.encoders.subword.inference import BagEncoder
from model.encoders.subword.kind import BagKind
from model.encoders.subword.pretrained_tokens import read_static
from model.encoders.subword.published import PREFIX, open_published
from model.encoders.subword.row_ids import Subwords
from model.encoders.subword.settings import STATIC_FROM, StaticSettings
from model.encoders.subword.tokenizer import Pieces
from model.text.vocabulary import Vocabulary
from schemas.artifacts.paths import public_name
from schemas.errors import QprError, UsageError
from schemas.quantities import counted

if TYPE_CHECKING:
    from model.encoders.network import Network
    from model.encoders.saved_model import ModelParts

TOKENIZER = "tokenizer.json"
TOKENS_LICENCE = "LICENSE.tokens.txt"

_SECTION = """\
## Tokens

Training began with {tokens:,} token embeddings of `{source}` (licence: {static_licence}; its text is in
`LICENSE.tokens.txt`; digest `{static_digest}`), which learned with the rest. Pass the licence on with the model.

"""


class StaticKind(BagKind[StaticSettings]):
    """A bag of words, their character n-grams and pretrained tokens."""

    name = "static"
    title = """A bag of words, their character n-grams (after Bojanowski et al. 2017) and tokens that others embedded,
  brought to length 1"""
    settings = StaticSettings
    preset = "static"
    derived = frozenset({"static_version", "static_licence", "static_digest", "tokens"})
    required_files = frozenset({TOKENIZER})
    prefix = PREFIX

    def network(self, vocabulary: Vocabulary, shape: StaticSettings, *, dropout: float, seed: int) -> Network:
        """Return a network that begins with the published tokens."""
        from model.encoders.subword.network import SubwordNetwork

        start = read_static(shape.static_from, digest=shape.static_digest)
        subwords = Subwords.of(vocabulary, shape, start.pieces, shape.tokens)
        return SubwordNetwork(subwords, shape, start.rows, dropout=dropout, seed=seed)

    def weights(self, shape: StaticSettings, tokens: int) -> dict[str, tuple[int, ...]]:
        """Return the shape of the table."""
        return super().weights(shape, tokens + shape.tokens)

    def encoder(self, shape: StaticSettings, parts: ModelParts, *, name: str) -> Encoder:  # noqa: ARG002
        """Return the encoder of a saved model."""
        subwords = Subwords.of(parts.vocabulary, shape, Pieces(parts.files[TOKENIZER]), shape.tokens)
        return BagEncoder(parts.manifest.digest, subwords, parts.weights["embedding.weight"], shape.ngram_weight)

    def complete(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Return given settings and those of the published tokens.

        Raises:
            QprError: there are no such tokens.
            UsageError: they have fewer numbers than the given dimension.
        """
        source = given.get("static_from", STATIC_FROM)
        published = read_static(source).settings(source)
        if given.get("dimension", 0) > published["dimension"]:
            numbers = f"the tokens of {source} have {counted(published['dimension'], 'number')}"
            raise UsageError(f"--dimension {given['dimension']}: {numbers}")
        return published | dict(given)

    def check(self, shape: StaticSettings, files: Mapping[str, bytes]) -> None:
        """Check the tokenizer of a saved model.

        Raises:
            QprError: it cannot be read, or has more tokens than the settings.
        """
        try:
            largest = Pieces(files[TOKENIZER]).checked().largest_id()
        except QprError as error:
            raise QprError(f"{TOKENIZER}: {error}") from error
        if largest >= shape.tokens:
            raise QprError(f"{TOKENIZER} holds token {largest:,}, config.json lists {shape.tokens:,}")

    def files(self, shape: StaticSettings, weights: Weights) -> tuple[dict[str, bytes], dict[str, bytes]]:  # noqa: ARG002
        """Return the tokenizer, and the licence of the tokens."""
        tokens = read_static(shape.static_from, digest=shape.static_digest)
        return {TOKENIZER: tokens.pieces.content}, {TOKENS_LICENCE: tokens.licence_text.encode()}

    def card_section(self, shape: StaticSettings) -> str:
        """Return the section of the model card about the tokens."""
        return _SECTION.format(
            source=f"{public_name(shape.static_from)} {shape.static_version}".strip(), **shape.model_dump()
        )

    def open(self, url: str) -> Encoder:
        """Return the encoder of published tokens as they are, at ``static:<package or folder>``.

        Raises:
            QprError: there are no such tokens.
        """
        return open_published(url)

    def digest(self, url: str) -> str:
        """Return the digest of the tokens at ``static:<package or folder>``.

        Raises:
            QprError: there are no such tokens.
        """
        return open_published(url).digest
