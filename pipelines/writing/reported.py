"""Reports of steps beside their tables: files, counts, and answers for the summary of a run.

Written of a step -> `writing.run_report.WriteReport`
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from schemas.artifacts.manifest import File, Source


class BroadAnswer(NamedTuple):
    """An answer to unlike questions, or to nearly all questions of a log, or an apology.

    Producer: `summary.fallbacks.broad_answers`. Consumers: `writing.run_report`, `summary.fallbacks.fallbacks`.

    Attributes:
        answer: its most frequent form.
        rows: number of log rows with it.
        questions: number of distinct questions; fewer than there are where `clusters.size_cap` cut them.
        only: whether it has nearly all questions, and nothing shows that these are unlike.
    """

    answer: str
    rows: int
    questions: int
    only: bool = False


class ChangedAnswer(NamedTuple):
    """An answer and the one that some questions got after it; times are microseconds since 1970.

    Producer: `questions.changed_answers.changed_answers`. Consumers: `writing.run_report`,
    `questions.changed_answers.merge_changes`.

    Attributes:
        old_id: hash of the earlier answer.
        new_id: hash of the later one.
        old: beginning of the earlier one's text.
        new: that of the later one.
        questions: number of questions of which these are the last two answers.
        first_old: first time that one of these questions got the earlier answer.
        last_old: last time.
        first_new: first time that one got the later answer.
        last_new: last time.
    """

    old_id: int
    new_id: int
    old: str
    new: str
    questions: int
    first_old: int
    last_old: int
    first_new: int
    last_new: int


class JudgedAnswer(NamedTuple):
    """An answer of many questions whose worth is among the lowest or highest of its shard.

    Producer: `clusters.answer_worth.extreme_answers`. Consumers: `writing.run_report`, `summary.worth_by_kind`.

    Attributes:
        answer: beginning of its most frequent form.
        kind: of its text, in `questions.answer_kinds.KINDS`.
        questions: number of distinct questions.
        share: of its pairs that are paraphrases, by the linkage.
    """

    answer: str
    kind: str
    questions: int
    share: float


class Written(NamedTuple):
    """One file, or none, and counts of a part of a run.

    Producers: `writing.parquet.WriteTable` and every step that counts. Consumer: `writing.run_report.WriteReport`.

    Attributes:
        file: the file written.
        counts: they add up over all parts of a run.
        source: an input of the run, with its digest.
        broad_answers: answers that look like a fallback.
        judged_answers: answers of many questions with the lowest or highest worth.
        changed_answers: pairs of answers that questions got one after the other.
    """

    file: File | None
    counts: dict[str, int]
    source: Source | None = None
    broad_answers: Sequence[BroadAnswer] = ()
    judged_answers: Sequence[JudgedAnswer] = ()
    changed_answers: Sequence[ChangedAnswer] = ()
