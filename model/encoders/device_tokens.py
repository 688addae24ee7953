"""Token ids of all train questions on the training device, so that a step moves nothing but numbers of questions.

TokenIds -> DeviceTokens.of -> DeviceTokens.take(rows) -> ids and offsets of a batch
"""

from __future__ import annotations

import dataclasses

import numpy as np
import numpy.typing as npt
import torch
import torch.nn.functional as F  # noqa: N812  # its usual name
from torch import Tensor

from model.text.vocabulary import TokenIds


@dataclasses.dataclass(frozen=True)
class DeviceTokens:
    """Questions as runs of token ids, as in `model.text.vocabulary.TokenIds`, on one device.

    Attributes:
        ids: (tokens,) int32.
        offsets: (questions + 1,) int64, from 0 to ``len(ids)``.
    """

    ids: Tensor
    offsets: Tensor

    @classmethod
    def of(cls, tokens: TokenIds, device: torch.device) -> DeviceTokens:
        """Return the same questions there; a processor shares their memory."""
        return cls(torch.from_numpy(tokens.ids).to(device), torch.from_numpy(tokens.offsets).to(device))

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def take(self, rows: npt.NDArray[np.integer]) -> DeviceTokens:
        """Return these questions in this order; a row may repeat."""
        where = torch.from_numpy(rows.astype(np.int64, copy=False)).to(self.ids.device)
        starts = self.offsets[where]
        lengths = self.offsets[where + 1] - starts
        offsets = F.pad(lengths.cumsum(0), (1, 0))
        shifts = torch.repeat_interleave(starts - offsets[:-1], lengths)
        return DeviceTokens(self.ids[torch.arange(len(shifts), device=shifts.device) + shifts], offsets)
