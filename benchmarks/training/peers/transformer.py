"""A pretrained model of sentence-transformers, fine-tuned as its users do, to compare training speed with.

folder, pairs of texts -> PeerFineTuning.step -> loss
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence

import torch

from model.encoders.transformer.checkpoint_folder import checked_folder, load_sentences


class PeerFineTuning:
    """The model with MultipleNegativesRankingLoss and fused AdamW on all weights; a side of a batch is padded at once.

    Its trainer is left out, which is in its favour: a step tokenizes as its collator does, encodes, and learns.

    Args:
        folder: of the model.
        learning_rate: AdamW's.
        half: encode at half precision, by autocast.
        device: where it computes, by PyTorch's name.
    """

    def __init__(self, folder: str, *, learning_rate: float, half: bool, device: str = "cpu") -> None:
        from sentence_transformers.sentence_transformer.losses import MultipleNegativesRankingLoss

        self.model = load_sentences(checked_folder(folder), name=folder, device=device).train()
        self.loss = MultipleNegativesRankingLoss(self.model)
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=learning_rate, fused=True)
        self._half, self._device = half, torch.device(device)

    def step(self, first: Sequence[str], second: Sequence[str]) -> float:
        """Learn from one batch of pairs; return its loss."""
        features = [
            {
                name: value.to(self._device) if isinstance(value, torch.Tensor) else value
                for name, value in dict(self.model.preprocess(list(side))).items()
            }
            for side in (first, second)
        ]
        with torch.autocast(self._device.type, dtype=torch.bfloat16) if self._half else contextlib.nullcontext():
            loss = self.loss(features, torch.empty(0))
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return float(loss.detach())
