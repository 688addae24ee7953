"""Settings of the gate that rejects clusters, and of splits.

options of `qpr clusters` -> Gate -> clustering.cluster
"""

from __future__ import annotations

from typing import Annotated, Literal

import pydantic

from schemas.option import Option

DEFAULT_SALT = "qpr"

SplitSalt = Annotated[
    str,
    Option("split-salt", metavar="WORD", panel="Splits"),
    pydantic.Field(min_length=1, description="Salt of the hash that decides splits; change it to draw other splits."),
]


class Gate(pydantic.BaseModel, frozen=True, extra="forbid", title="Clusters"):
    """Limits of a cluster that is kept.

    Attributes:
        max_cluster_size: the questions with the smallest ids (hashes) represent a larger cluster.
    """

    coherence: Literal["paper", "adjusted", "idf"] = pydantic.Field(
        default="idf",
        description="Score of --min-coherence: idf (common words, rare words count more), adjusted (common words) or "
        "paper (Bonadiman et al. 2019, high for few questions; sets --linkage none, --near-duplicate 0, "
        "--min-answer-share 0 and --scrub off).",
    )
    # linkage has judged its clusters by more than words: a higher limit costs recall and buys no precision
    min_coherence: Annotated[float, Option(default="0.05; 0.1 with --linkage none; 0 with --refine-with")] = (
        pydantic.Field(
            default=0.05,
            ge=0,
            le=1,
            description="Minimum coherence of a cluster, but for intents: 0 unrelated questions, 1 the same words.",
        )
    )
    max_cluster_size: Annotated[int, Option(panel="Limits")] = pydantic.Field(
        default=1_000, ge=2, description="Maximum number of questions of a cluster, chosen by hash."
    )


class Recalibration(pydantic.BaseModel, frozen=True, extra="forbid"):
    """Correction of linkage probabilities by verdicts, and the threshold that they support.

    Attributes:
        calibration: digest of the calibration.
        intercept: of the calibrated log odds.
        slope: of the calibrated log odds by the stated ones.
        min_stated: clusters with a lower stated probability are rejected.
        precision: minimum precision of the kept pairs, with 95 % confidence; None: no threshold.
        verdicts: number of verdicts.
        estimates: prior, precision and recall with low and high end, for the report.
        judged: digest of the files of the judged dataset, see `summary.answer_worth.digest_of_files`; of other columns
            or another release a digest that no files have.
    """

    calibration: str
    intercept: pydantic.FiniteFloat
    slope: float = pydantic.Field(gt=0, allow_inf_nan=False)
    min_stated: float = pydantic.Field(default=0, ge=0, le=1)
    precision: float | None = pydantic.Field(default=None, ge=0, lt=1)
    verdicts: int = pydantic.Field(default=0, ge=0)
    estimates: dict[str, tuple[float, float, float]] = {}
    judged: str = ""


class Reviewed(pydantic.BaseModel, frozen=True, extra="forbid"):
    """Clusters and questions that people judged to be wrong.

    Attributes:
        verdicts: digest of the file.
        wrong: names of clusters, "c" and 16 hexadecimal digits.
        strays: names of a cluster and of a question in it that does not belong there.
    """

    verdicts: str
    wrong: tuple[str, ...] = ()
    strays: tuple[tuple[str, str], ...] = ()
