"""The options of ``qpr clusters`` that say how an answer is split into clusters of paraphrases.

--linkage, --min-probability, --calibration, --precision, --refine-with -> decide -> Decided
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from schemas.errors import UsageError

if TYPE_CHECKING:
    from pipelines.linkage.linker import Encode, Linking


class Method(StrEnum):
    """What splits an answer."""

    BOOSTED = "boosted"
    LOGISTIC = "logistic"
    FELLEGI_SUNTER = "fellegi-sunter"
    NONE = "none"


Linkage = Annotated[
    Method | None,
    typer.Option(
        help="What splits the questions of an answer into clusters. boosted: gradient-boosted trees on how two "
        "questions compare; logistic: a regression, faster and less precise; fellegi-sunter: learns from these logs "
        "alone; none: an answer is one cluster. Default: boosted; with --coherence paper none, as in the paper.",
        show_default=False,
    ),
]
MinProbability = Annotated[
    float | None,
    typer.Option(
        min=0.01,
        max=1,
        help="Questions stay together while their mean probability of being paraphrases is at least this. Default: "
        "what --linkage was learned with.",
        show_default=False,
    ),
]
RefineWith = Annotated[
    str | None,
    typer.Option(
        metavar="MODEL",
        help="Compare questions by this model's vectors too, so that paraphrases without a common word are found. "
        "Train it on a first dataset of these logs.",
    ),
]


class Decided(NamedTuple):
    """How to split answers, the least coherence of a cluster, and what gives texts their vectors."""

    linking: Linking | None
    min_coherence: float
    encode: Encode | None = None


def decide(
    *, method: Method | None, default: Method, min_probability: float | None, refine_with: str | None,
    min_coherence: float | None,
) -> Decided:  # fmt: skip
    """Fill in what was not asked for, and refuse what does not go together.

    Raises:
        UsageError: an option has no effect without another.
        QprError: there is no model to refine with.
    """
    from pipelines.linkage.linker import Linking

    chosen = method or default
    if chosen is Method.NONE:
        for option, value in (("--min-probability", min_probability), ("--refine-with", refine_with)):
            if value is not None:
                raise UsageError(f"{option} needs a --linkage other than none")
        return Decided(None, 0.1 if min_coherence is None else min_coherence)
    if refine_with and chosen is Method.FELLEGI_SUNTER:
        raise UsageError("--refine-with needs --linkage boosted or logistic: fellegi-sunter compares words alone")
    encoder = None
    if refine_with:
        from jobs.worker_encoder import WorkerEncoder

        encoder = WorkerEncoder.of(refine_with)
    # paraphrases without a common word have no coherence; the model alone can tell them
    least = (0.0 if refine_with else 0.1) if min_coherence is None else min_coherence
    digest = encoder.digest if encoder else None
    linking = Linking.model_validate({"method": chosen.value, "min_probability": min_probability, "encoder": digest})
    return Decided(linking, least, encoder)
