"""Settings of the gate that rejects clusters.

options of `qpr clusters` -> Gate -> clustering.cluster
"""

from __future__ import annotations

from typing import Annotated, Literal

import pydantic

from schemas.option import Option

DEFAULT_SALT = "qpr"


class Gate(pydantic.BaseModel, frozen=True, extra="forbid", title="Clusters"):
    """Limits of a cluster that is kept.

    Attributes:
        max_cluster_size: the questions with the smallest ids (hashes) represent a larger cluster.
    """

    coherence: Annotated[Literal["paper", "adjusted", "idf"], Option(metavar="NAME")] = pydantic.Field(
        default="idf",
        description="Score of --min-coherence: idf (common words, rare words count more), adjusted (common words) or "
        "paper (Bonadiman et al. 2019, high for few questions; sets --linkage none, --near-duplicate 0 and "
        "--min-answer-share 0).",
    )
    # linkage has judged its clusters by more than words: a higher limit costs recall and buys no precision
    min_coherence: Annotated[float, Option(default="0.05; 0.1 with --linkage none; 0 with --refine-with")] = (
        pydantic.Field(
            default=0.05,
            ge=0,
            le=1,
            description="Minimum coherence of a cluster: 0 unrelated questions, 1 the same words.",
        )
    )
    max_cluster_size: Annotated[int, Option(panel="Limits")] = pydantic.Field(
        default=1_000, ge=2, description="Maximum number of questions of a cluster, chosen by hash."
    )
