"""Counters of the questions that were read for an index: their check, and lines for a person.

counters of a run -> check_readable, input_notes, answer_warnings, reject_reasons
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from pipelines.reading.index_questions import PLACEHOLDERS, WITHOUT_ANSWER
from pipelines.summary.faults import fault_of_rows
from pipelines.summary.value_notes import text_warnings
from schemas.errors import QprError
from schemas.quantities import counted

OF_DATASETS = ("rows_rejected", "members_rejected")
"""Counters of a rejected table that mean rows of logs and of clusters."""


def check_readable(counters: Mapping[str, int], urls: Sequence[str], max_reject_ratio: float) -> None:
    """Check that most rows of the question files can be read; rows of a table may well lack a question.

    Args:
        counters: of the run.
        urls: of the files.
        max_reject_ratio: maximum share of rows that cannot be read.

    Raises:
        QprError: too many cannot.
    """
    unreadable = {name: count for name, count in counters.items() if name.startswith("rejected_read_")}
    rows = {"rows_read": counters["questions_read"], "rows_rejected": sum(unreadable.values())}
    if unreadable and (fault := fault_of_rows(unreadable | rows, urls, max_reject_ratio)):
        raise QprError(fault)


def input_notes(counters: dict[str, int]) -> Iterator[str]:
    """Yield a line for a person about each kind of input that is not in the index, and about rows without an answer."""
    if rejected := counters.get("questions_rejected"):
        yield f"not indexed, and in the index's table rejected: {counted(rejected, 'row')}{reject_reasons(counters)}"
    if others := counters.get("rejected_merge_other_answer"):
        yield (
            f"in the index's table rejected: {counted(others, 'row')} with another answer to a question than the one "
            "indexed, the most frequent"
        )
    for column, kind in (("cluster_id", "a 64-bit integer"), ("events", "a whole number from 0 to 2**53")):
        if unreadable := counters.get(f"unreadable_{column}"):
            yield f"{column}: {counted(unreadable, 'value')} cannot be read as {kind}; the rows are indexed without"
    if 0 < 2 * (without := counters.get(WITHOUT_ANSWER, 0)) <= counters.get("questions_read", 0):  # else a list of them
        yield (
            f"no answer in {counted(without, 'row')} of tables; `qpr answer` abstains where one of them is the nearest "
            "question. Remove rows that are no questions, such as a total"
        )


def answer_warnings(counters: Mapping[str, int]) -> Iterator[str]:
    """Yield a sentence about answers of tables that nobody should get as they are: placeholders and HTML entities."""
    if placeholders := counters.get(PLACEHOLDERS):
        yield (
            f"a text such as NULL, which stands for a missing answer, in {counted(placeholders, 'row')} of tables; it "
            "would be given. Leave these cells empty, or write their answers"
        )
    yield from text_warnings({**counters, "rows_read": counters.get("questions_read", 0)})


def reject_reasons(counters: dict[str, int]) -> str:
    """Return the number of rejected rows by reason, in brackets; nothing if none was rejected."""
    reasons = [
        f"{count:,} {name.split('_', 2)[2]}"
        for name, count in sorted(counters.items())
        if name.startswith(("rejected_read_", "rejected_validate_"))
    ]
    return f" ({', '.join(reasons)})" if reasons else ""
