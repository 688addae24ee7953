"""A sentence-transformers model over token ids that were computed before: what training and encoding share.

texts -> TransformerBody.tokens -> TokenIds; ids, offsets -> groups of one length -> all its modules -> vectors
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F  # noqa: N812  # its usual name
from torch import Tensor, nn
from torch.nn.attention import SDPBackend, sdpa_kernel

from model.distances import unit
from model.encoders.transformer.length_buckets import length_groups
from model.text.vocabulary import TokenIds
from schemas.errors import QprError
from schemas.ragged import offsets_of

_TENSORS = frozenset({"input_ids", "attention_mask", "token_type_ids"})
"""All that a model may read of a text, beside what is the same for all texts."""

_CARD_TOKENS = 16_384
"""Tokens of a group on a graphics card, padding included: starting a kernel takes it longer than computing padding."""

_ATTENTION = [SDPBackend.FLASH_ATTENTION, SDPBackend.EFFICIENT_ATTENTION, SDPBackend.MATH]
"""Kernels of attention on a card. cuDNN's, the first choice on some, is planned again for each shape of a group."""

_PART = 512
"""Texts that are cut into tokens at a time."""


class TransformerBody(nn.Module):
    """All modules of a SentenceTransformer, one after the other, and then length 1.

    The library pads a batch to its longest question; here a batch is divided into groups of one length, or almost, so
    little is computed for nothing; on a graphics card into few groups. Nothing is left out in training either, see
    `model.encoders.transformer.network.TransformerNetwork`.

    Args:
        sentences: the SentenceTransformer.

    Shape:
        ids: (T,) integers, the tokens of N questions one after the other.
        offsets: (N + 1,) int64, question i is ``ids[offsets[i]:offsets[i + 1]]``.
        output: (N, dimension) float32, rows of length 1; 0 for a question without a token.

    Raises:
        QprError: it reads something else than the tokens of a text.
    """

    def __init__(self, sentences: Any) -> None:
        super().__init__()
        self.sentences = sentences
        prompts, name = getattr(sentences, "prompts", {}), getattr(sentences, "default_prompt_name", None)
        self._prompt = prompts[name] if name else None
        features = self._features(["a", "a longer question"])
        self._types = "token_type_ids" in features
        self._constants = {name: value for name, value in features.items() if not isinstance(value, Tensor)}
        tokenizer = sentences.tokenizer
        self._left = getattr(tokenizer, "padding_side", "right") == "left"
        self._padding = getattr(tokenizer, "pad_token_id", None) or 0
        sentences[0].register_forward_hook(_at_single_precision)

    @property
    def dimension(self) -> int:
        """Return the length of a question's vector."""
        return int(self.sentences.get_embedding_dimension())

    def tokens(self, texts: Sequence[str]) -> TokenIds:
        """Return the token ids of texts, as many as the model reads of each, its prompt and its own marks included."""
        order = sorted(range(len(texts)), key=lambda row: len(texts[row]))
        runs: list[np.ndarray] = [np.empty(0, np.int32)] * len(texts)
        for start in range(0, len(texts), _PART):
            rows = order[start : start + _PART]
            features = self._features([texts[row] for row in rows])
            ids, mask = (features[name].numpy() for name in ("input_ids", "attention_mask"))
            for row, run, real in zip(rows, ids, mask, strict=True):
                runs[row] = run[real != 0].astype(np.int32)
        lengths = np.array([len(run) for run in runs], np.int64)
        return TokenIds(np.concatenate([*runs, np.empty(0, np.int32)]), offsets_of(lengths))

    def forward(self, ids: Tensor, offsets: Tensor) -> Tensor:
        """Return the vectors of a batch of questions."""
        if len(offsets) < 2:  # an empty question, left out again: every weight has a gradient then, of zeros
            return self.forward(ids, offsets.new_zeros(2))[:0]
        lengths = offsets.diff().cpu().numpy()
        on_card = ids.device.type == "cuda"
        limits = {"max_tokens": _CARD_TOKENS, "padding": _CARD_TOKENS} if on_card else {}
        groups = list(length_groups(lengths, **limits))
        ids = F.pad(ids, (0, 1), value=self._padding)
        order = torch.from_numpy(np.concatenate(groups)).to(ids.device)
        runs = zip(torch.split(order, [len(rows) for rows in groups]), groups, strict=True)
        with sdpa_kernel(_ATTENTION) if on_card else contextlib.nullcontext():
            vectors = torch.cat([self._group(ids, offsets, run, width=int(lengths[rows].max())) for run, rows in runs])
        return vectors[order.argsort()]

    def _group(self, ids: Tensor, offsets: Tensor, rows: Tensor, *, width: int) -> Tensor:
        """Return the vectors of questions that are filled up to ``width`` tokens, the length of the longest."""
        starts = offsets[rows]
        lengths = offsets[rows + 1] - starts
        places = torch.arange(max(1, width), device=ids.device)
        if self._left:
            places = places - (len(places) - lengths[:, None])
        inside = (places >= 0) & (places < lengths[:, None])
        tokens = torch.where(inside, ids[(starts[:, None] + places).clamp(0, len(ids) - 1)], self._padding).long()
        read = inside | (lengths[:, None] == 0)  # attention to nothing would be no number
        features = {"input_ids": tokens, "attention_mask": read.long(), **self._constants}
        if self._types:
            features["token_type_ids"] = torch.zeros_like(tokens)
        return unit(self.sentences(features)["sentence_embedding"]) * (lengths > 0)[:, None]

    def _features(self, texts: list[str]) -> dict[str, Any]:
        """Return the features of texts that the model's first module reads.

        Raises:
            QprError: that is not the tokens of each text.
        """
        features: dict[str, Any] = dict(self.sentences.preprocess(texts, prompt=self._prompt))
        tensors = {name: value for name, value in features.items() if isinstance(value, Tensor)}
        usable = {"input_ids", "attention_mask"} <= tensors.keys() <= _TENSORS
        types = tensors.get("token_type_ids", torch.zeros(1))
        if not usable or types.any() or any(value.ndim != 2 or len(value) != len(texts) for value in tensors.values()):
            names = ", ".join(sorted(tensors)) or "nothing"
            raise QprError(f"reads {names} of a text, not the ids of its tokens alone. Choose another model")
        return features


def _at_single_precision(_: nn.Module, __: Any, features: Any) -> Any:
    """Return the features of a module with every half-precision tensor at single precision."""
    return {name: _single(value) for name, value in features.items()}


def _single(value: Any) -> Any:
    half = isinstance(value, Tensor) and value.dtype in (torch.bfloat16, torch.float16)
    return value.float() if half else value
