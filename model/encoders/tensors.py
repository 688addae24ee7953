"""Tensors of a file that may come from anywhere: of numpy's types, and finite.

bytes of safetensors -> read_tensors -> arrays by name; mapped memory -> mapped_tensors -> views of it by name
array -> all_finite -> bool; tensors -> signature, first_difference -> the name of a wrong one
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import safetensors
import safetensors.numpy

_BLOCK = 2**16
"""Numbers looked at together: 256 kB at single precision, which stay in a core's second-level cache."""

_LONGEST_HEADER = 2**20
"""Bytes of a header that are read: a damaged length can name gigabytes. A header that is cut is no JSON."""

_TYPES = {"F16": "<f2", "F32": "<f4", "F64": "<f8", "I64": "<i8", "I32": "<i4", "I8": "i1", "U8": "u1", "BOOL": "?"}

_HALF_MAGNITUDE, _HALF_INFINITY = np.uint16(0x7FFF), np.uint16(0x7C00)
"""All bits of a half-precision number but its sign, and infinity; greater ones are no numbers."""

Signature = Mapping[str, tuple[object, ...]]
"""Shape of each tensor and the name of its type, one tuple."""

_DAMAGED = "is no file of safetensors of numpy's types"


def read_tensors(content: bytes) -> dict[str, npt.NDArray[Any]]:
    """Return the tensors of a safetensors file by name.

    Raises:
        ValueError: it is damaged, holds a type that numpy lacks, or a number that is infinite or none.
    """
    try:
        tensors: dict[str, npt.NDArray[Any]] = safetensors.numpy.load(content)
    except (safetensors.SafetensorError, KeyError, TypeError, AttributeError) as error:  # KeyError: numpy lacks a type
        raise ValueError(f"{_DAMAGED}: {str(error)[:200]}") from error
    check_finite(tensors)
    return tensors


def mapped_tensors(content: memoryview) -> dict[str, npt.NDArray[Any]]:
    """Return the tensors of a safetensors file by name, read-only views of its content.

    A safetensors file is the length of a header, the header as JSON, and the numbers of all tensors one after the
    other (https://huggingface.co/docs/safetensors). Its library copies them.

    Raises:
        ValueError: as of `read_tensors`, except that numbers may be infinite or none.
    """
    try:
        start = 8 + int.from_bytes(content[:8], "little")
        header = json.loads(bytes(content[8 : min(start, _LONGEST_HEADER)]))
        header.pop("__metadata__", None)
        parts = sorted((tuple(part["data_offsets"]), name, part) for name, part in header.items())
        ends = [0, *(end for (_, end), _, _ in parts)]
        tensors = {
            name: np.frombuffer(content[start + first : start + last], _TYPES[part["dtype"]]).reshape(part["shape"])
            for (first, last), name, part in parts
        }
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise ValueError(f"{_DAMAGED}: {str(error)[:200]}") from error
    if [first for (first, _), _, _ in parts] != ends[:-1] or start + ends[-1] != len(content):
        raise ValueError(f"{_DAMAGED}: its tensors do not fill it")
    return tensors


def signature(tensors: Mapping[str, npt.NDArray[Any]]) -> Signature:
    """Return the shape and type of each tensor."""
    return {name: (*tensor.shape, tensor.dtype.name) for name, tensor in tensors.items()}


def first_difference(stored: Signature, expected: Signature) -> str | None:
    """Return the first name, by alphabet, of a tensor that is missing, unexpected or of another shape or type."""
    names = stored.keys() | expected.keys()
    return min((name for name in names if stored.get(name) != expected.get(name)), default=None)


def check_finite(tensors: Mapping[str, npt.NDArray[Any]]) -> None:
    """Check that no number of some tensors is infinite or NaN.

    Raises:
        ValueError: one is.
    """
    for name, tensor in sorted(tensors.items()):
        if not all_finite(tensor):
            raise ValueError(f"tensor {name[:60]!a} holds numbers that are infinite or none")


def all_finite(numbers: npt.NDArray[Any]) -> bool:
    """Return True if no number of an array is infinite or NaN; integers never are."""
    if numbers.dtype.kind not in "fc":
        return True
    flat = numbers.reshape(-1)
    blocks = (flat[start : start + _BLOCK] for start in range(0, len(flat), _BLOCK))
    if numbers.dtype == np.float16:  # 50 million in 12 ms; np.isfinite converts each to float32, which takes 120 ms
        return all((block.view(np.uint16) & _HALF_MAGNITUDE).max() < _HALF_INFINITY for block in blocks)
    return all(bool(np.isfinite(block).all()) for block in blocks)
