"""Devices of PyTorch.

name -> checked_device -> torch.device
"""

from __future__ import annotations

import torch

from schemas.errors import QprError


def checked_device(name: str | None) -> torch.device:
    """Return the device of this name, by default CUDA if it is there, else the processor.

    Raises:
        QprError: it does not work here.
    """
    chosen = name or ("cuda" if torch.cuda.is_available() else "cpu")
    try:
        device = torch.device(chosen)
        torch.zeros(1, device=device).item()  # the meta device allocates, but holds no number
    except (RuntimeError, AssertionError) as error:
        raise QprError(f"device {chosen}: {str(error).partition('. ')[0]}. Use --device cpu") from error
    return device
