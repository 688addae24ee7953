"""Encoders of sentence-transformers: ``st:<folder>`` in place of a model's URL, and those that `qpr train` fine-tuned.

st:<folder>, or files of a model -> TransformerEncoder -> encode(texts) -> float32 matrix
"""

from __future__ import annotations

import contextlib
import copy
import dataclasses
import functools
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from model.encoders.interface import Encoder, texts_to_encode, threads_to_use
from model.encoders.kernels.elementary_functions import settle_elementary_functions
from model.encoders.transformer.checkpoint_folder import PREFIX, load_sentences, unpacked
from schemas.arrays import Matrix
from schemas.errors import QprError, UsageError

if TYPE_CHECKING:
    import torch

    from model.encoders.transformer.body import TransformerBody

ALIKE = 0.999
"""Minimum cosine of vectors at half precision to those at single precision, for half precision to be used."""

_PROBES = (
    "how do i renew my passport?",
    "What is the best way to learn a language in three months, if I have an hour a day and no teacher?",
    "why",
    "Is 0.1 + 0.2 == 0.3?",
)
"""Texts of that comparison: the same for all encoders of a run, so that they decide alike."""

_BATCH = 64
"""Texts of a batch of the library's own loop, for models that read something else than tokens."""


@dataclasses.dataclass(frozen=True, repr=False, eq=False)
class TransformerEncoder(Encoder):
    """A sentence-transformers model; it reads texts as they were asked, and its vectors have length 1.

    Questions of one length are encoded together, so a vector's last digits depend on what else there is. Where the
    device multiplies bfloat16 by itself, the transformer computes in it if that changes vectors by less than `ALIKE`:
    half the time. A model that reads something else than tokens is encoded by the library's own loop.

    Attributes:
        name: the encoder in messages, such as ``st:<folder>``.
        files: its files by name; None if they are in the folder of its name.
        device: where to compute, by PyTorch's name; None: a graphics card if there is one.
    """

    name: str
    files: Mapping[str, bytes] | None = None
    device: str | None = None

    @property
    def dimension(self) -> int:
        """Return the length of a question's vector."""
        return int(self._model.get_embedding_dimension())

    def encode_keys(self, keys: pa.Array) -> Matrix:
        """Return one vector a question key."""
        return self.encode(keys)

    def encode(self, texts: pa.Array | pa.ChunkedArray | Iterable[str], *, threads: int = 1) -> Matrix:
        """Return one vector a question text, (len(texts), dimension).

        Raises:
            UsageError: as of `Encoder.encode`, or a number of threads is given, which PyTorch chooses.
        """
        given = texts_to_encode(texts)
        if threads_to_use(threads) > 1:
            raise UsageError("--threads: PyTorch chooses the threads of a transformer. Leave it out")
        strings = given if isinstance(given, list) else given.to_pylist()
        if not strings:
            return np.empty((0, self.dimension), np.float32)
        if self._body is not None:
            return encoded(self._body, strings)
        vectors = self._model.encode(strings, batch_size=_BATCH, normalize_embeddings=True, show_progress_bar=False)
        return np.asarray(vectors, np.float32)

    @functools.cached_property
    def _model(self) -> Any:
        settle_elementary_functions()
        with contextlib.ExitStack() as stack:
            folder = Path(self.name.removeprefix(PREFIX))
            if self.files is not None:
                folder = stack.enter_context(unpacked(self.files))
            return load_sentences(folder, name=self.name, device=self.device)

    @functools.cached_property
    def _body(self) -> TransformerBody | None:
        """Return the model at the precision to encode with; None if it reads something else than tokens."""
        if not hasattr(self._model, "preprocess"):
            return None
        from model.encoders.transformer.body import TransformerBody

        try:
            body = TransformerBody(self._model).eval()
        except QprError:
            return None
        return _halved_where_alike(body) if _multiplies_half(next(body.parameters()).device) else body


def encoded(body: TransformerBody, texts: Sequence[str]) -> Matrix:
    """Return one vector a text, (len(texts), dimension), at the precision of the body's weights."""
    import torch

    tokens = body.tokens(texts)
    with torch.inference_mode():
        where = next(body.parameters()).device
        vectors = body(torch.from_numpy(tokens.ids).to(where), torch.from_numpy(tokens.offsets).to(where))
    return np.asarray(vectors.cpu().numpy(), np.float32)


def _multiplies_half(device: torch.device) -> bool:
    """Return True if the device has instructions for products of bfloat16; without them half precision is slower."""
    import torch

    if device.type == "cuda":
        return bool(torch.cuda.is_bf16_supported(including_emulation=False))
    able: Mapping[str, Any] = getattr(torch.cpu, "get_capabilities", dict)()
    return bool(able.get("avx512_bf16") or able.get("amx_bf16"))


def _halved_where_alike(body: TransformerBody) -> TransformerBody:
    """Return the body with its transformer at half precision if its vectors stay the same that way."""
    import torch

    weight = next(body.parameters())
    if weight.device.type not in {"cpu", "cuda"} or weight.dtype != torch.float32:
        return body
    halved = copy.deepcopy(body)
    halved.sentences[0].to(torch.bfloat16)
    cosines = np.einsum("nd,nd->n", encoded(body, _PROBES), encoded(halved, _PROBES))
    return halved if cosines.min() >= ALIKE else body
