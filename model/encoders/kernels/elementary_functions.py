"""The elementary functions of PyTorch on a processor, which are MKL's where PyTorch has it.

settle_elementary_functions -> square roots, logarithms, ... of full precision in every thread
"""

from __future__ import annotations


def settle_elementary_functions() -> None:
    """Call one of them in this thread alone, so that the first call of several threads is right.

    At the first call of a process MKL 2024 stores the kind of the processor twice, first by another numbering. A second
    thread that reads it in between computes its share with a kernel for another processor and lower precision, wrong by
    3e-4 of a number (PyTorch's issue 188792), and a training ends with other weights.
    """
    import torch

    torch.ones(1).sqrt()
