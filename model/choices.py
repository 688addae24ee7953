"""Values that settings of several packages choose among.

Torch-free, so that command-line options can name them.
"""

from __future__ import annotations

from typing import Literal

Distance = Literal["squared_euclidean", "euclidean", "symmetric_kl"]
Precision = Literal["float32", "bfloat16"]
