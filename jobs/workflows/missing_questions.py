"""Questions of a split that are not in an index, so that no search finds them.

dataset, Index, Judgements -> warn_of_missing -> a note, or an error where it holds none
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from jobs.display.console import say, warn
from schemas.artifacts.dataset import open_dataset
from schemas.artifacts.manifest import read_manifest
from schemas.errors import QprError

if TYPE_CHECKING:
    from model.evaluation.metrics import Ints
    from model.evaluation.relevance import Judgements
    from model.index.index import Index

MISSING_SHARE = 0.05
"""With a larger share of paraphrases missing, the index was probably built from another dataset."""


def warn_of_missing(dataset: str, index: Index, judged: Judgements, *, split: str) -> None:
    """Report how many paraphrases are not in the index, and what it was built from where they are many.

    Raises:
        QprError: the index holds none of them.
    """
    relevant, missing = missing_questions(index, judged)
    count = f"{len(missing):,} of {len(relevant):,} paraphrases of split {split}"
    built = f"It was built from {_built_from(index.url)}, and {_named(dataset, open_dataset(dataset).manifest.digest)}"
    if len(missing) == len(relevant):
        raise QprError(
            f"{index.url}: holds none of the questions of split {split} of {dataset}. {built} is evaluated. "
            "Use the --dataset it was built from, or index this one with `qpr index`"
        )
    if len(missing) > MISSING_SHARE * len(relevant):
        share = f"{count} ({len(missing) / len(relevant):.0%}) are not in {index.url}; they count as not found"
        warn(f"{share}. {built} is evaluated")
    elif len(missing):
        say(f"{count} are not in the index; they count as not found")


def missing_questions(index: Index, judged: Judgements) -> tuple[Ints, Ints]:
    """Return the ids of all paraphrases, and of those that are not in an index."""
    relevant = np.unique(judged.relevant)
    return relevant, np.setdiff1d(relevant, np.concatenate(index.question_ids), assume_unique=True)


def _built_from(url: str) -> str:
    """Return the inputs of an index but for its model, which is the last one."""
    return ", ".join(_named(source.url, source.digest) for source in read_manifest(url, "index").inputs[:-1])


def _named(url: str, digest: str | None) -> str:
    return f"{url} (digest {digest[:12]})" if digest else url
