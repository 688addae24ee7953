"""Commands to type after a dataset or an index was made.

counters of a dataset -> next_steps -> lines; index -> next_search -> command
"""

from __future__ import annotations

import datetime
import importlib.util
import shlex
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from jobs.display.safe_text import printable
from model.encoders.subword.settings import STATIC_FROM
from pipelines.questions import scripts
from schemas.errors import how_to_install
from schemas.filters import VALID_UNTIL
from schemas.quantities import counted
from schemas.tables import SPLITS

if TYPE_CHECKING:
    from model.index.index import Index

FEW_QUESTIONS: Final = 200
"""Minimum number of questions in clusters to train on: with 250, `static` had an H@1 of .37 and the default of .31."""

STATIC_WINS: Final = 10_000
"""Up to 10,849 train questions `--preset static` had the higher MRR in all 14 comparisons (docs/log.md)."""

EXAMPLES: Final = 100
"""Questions of an index from which an example is chosen: rows are in the order of hashes, so these are a sample."""

EXAMPLE_CHARACTERS: Final = 80
"""Maximum characters of an example, so that the command fits two lines of a terminal."""


def next_steps(url: str, counters: Mapping[str, int], salt: Callable[[], str | None] = lambda: None) -> list[str]:
    """Return advice on the use of a dataset, one step a line.

    Args:
        url: folder of the dataset.
        counters: as in its manifest.
        salt: returns a salt that leaves no split empty, called if one is.
    """
    quoted = shlex.quote(url)
    questions = sum(counters.get(f"members_{split}", 0) for split in SPLITS)
    missing = [split for split in SPLITS if not counters.get(f"clusters_{split}")]
    index = f"qpr index --questions {quoted} --model st:FOLDER --output INDEX"
    train = f"qpr train --dataset {quoted} --preset static --output MODEL"
    if questions >= FEW_QUESTIONS and not missing:
        small = questions < STATIC_WINS
        hint = (
            "static starts from published vectors of English words: in English logs of this size it finds more."
            f"{_static_to_install()}"
        )
        by_vectors = small and _is_mostly_latin(counters)
        command = train if by_vectors else train.replace(" --preset static", "")
        return [f"Next: qpr sample --dataset {quoted}; {command}", *([hint] if by_vectors else [])]
    lines = [f"Next: qpr sample --dataset {quoted}"]
    if questions < FEW_QUESTIONS:
        lines.append(
            f"{counted(questions, 'question')} in clusters are too few to train an encoder from random weights."
        )
    if missing:
        lines.append(
            f"No cluster in split {' or '.join(missing)}: {_cause(counters, salt)} fill it; without it nothing can be "
            "learned or measured there."
        )
    lines.append(f"To search without training: {index}, with a model of sentence-transformers in FOLDER.")
    if "train" not in missing and _is_mostly_latin(counters):
        lines.append(f"To start from published vectors of English words: {train}.{_static_to_install()}")
    return lines


def _static_to_install() -> str:
    """Return the command that installs the published word vectors after a space, empty if they are installed."""
    return "" if importlib.util.find_spec(STATIC_FROM) else f" {how_to_install('static')}"


def next_search(url: str, index: Index) -> str:
    """Return a command that searches an index for one of its own questions, with the values that it requires.

    The question has an answer, if a short one does; the most frequent of these is the example.

    Args:
        url: folder of the index.
        index: the same, opened; it has at least one question.
    """
    sample = index.questions(index.live_rows(np.arange(min(len(index), EXAMPLES)))).to_pylist()
    now = datetime.datetime.now(datetime.UTC)
    row = max(
        sample,
        key=lambda row: (
            _is_typed_easily(row["text"]),
            row["answer"] is not None and _is_valid(row, now),
            row["events"] or 0,
        ),
    )
    filters = [word for name in index.settings.vary_by or () for word in ("--filter", f"{name}={row[name]}")]
    question = printable(row["text"])
    dashed = ["--"] if question.startswith("-") else []
    return shlex.join(["qpr", "search", "--index", url, *filters, *dashed, question])


def _is_typed_easily(text: str) -> bool:
    """Return whether a question is short and stands between quotes as it is."""
    return len(text) <= EXAMPLE_CHARACTERS and printable(text) == text and "'" not in text


def _is_valid(row: Mapping[str, Any], now: datetime.datetime) -> bool:
    end = row.get(VALID_UNTIL.name)
    return end is None or end > now


def _is_mostly_latin(counters: Mapping[str, int]) -> bool:
    """Return whether most questions in clusters are in Latin letters: the published vectors are of English words."""
    kept = {name: n for name, n in counters.items() if name.startswith(scripts.PREFIX) and name.endswith("_kept")}
    return not kept or 2 * kept.get(f"{scripts.PREFIX}latin_kept", 0) >= sum(kept.values())


def _cause(counters: Mapping[str, int], salt: Callable[[], str | None]) -> str:
    """Return why a split can be empty, and what fills it; labelled pairs have no answers."""
    if "positive_edges" in counters:
        return "--held-out-pairs allows it a tenth of all pairs at most. More pairs, or a larger --held-out-pairs,"
    other_salt = salt()
    other = "" if other_salt is None else f", or --split-salt {other_salt},"
    return f"all clusters of an answer share a split. More answers{other}"
