"""Answers that look like a fallback: a large share of the rows, and questions that have nothing in common.

An answer of nearly all questions is reported too: nothing can show that its questions have something in common. So is
one of few questions and a smaller share if its text shows it: an apology such as "Sorry, I did not understand", a
confirmation such as "Okay", a placeholder such as "N/A", or, if its questions are unlike, an offer of help or a
hand-over to a person.

MEMBERS of whole answers -> broad_answers -> BroadAnswer -> fallbacks -> those with a large share of all rows

"Sorry, I did not understand" is the answer to many unrelated questions. They are no more alike than questions of
different answers, whereas questions about one topic are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pipelines.questions.answer_texts import ignore_option, shown
from pipelines.questions.row_filters import IGNORED
from pipelines.questions.stock_answers import is_acknowledgement, is_apology, is_opening, is_placeholder
from pipelines.questions.token_frequencies import TokenWeights
from pipelines.writing.reported import BroadAnswer
from schemas.quantities import counted, rounded_percent
from schemas.ragged import most_frequent
from schemas.text import fold
from schemas.text_arrays import encode

MIN_SHARE: Final = 0.05
"""Minimum share of the rows of an answer that causes a warning."""

MIN_SHARE_BY_TEXT: Final = 0.005
"""The same of an answer whose text shows it: an assistant has several apologies, each with a small share."""

FEWEST_QUESTIONS: Final = 50
"""With fewer questions the ratio is too uncertain: random samples of 50 had ratios of 0.85 to 1.18."""

UNLIKE: Final = 1.5
"""Maximum ratio of likeness inside to likeness outside. Banking77's intents have 2.4 to 8, random questions 0.9 to 1.2,
answers of open-domain questions 2.5 to 23 (docs/log.md)."""

NEARLY_ALL: Final = 0.95
"""Minimum share of the questions of a log of an answer that has too few others to be compared with."""

FEWEST_OF_ALL: Final = 20
"""Minimum number of questions of such an answer that causes a warning."""

FEWEST_BY_TEXT: Final = 5
"""Minimum number of questions of an answer whose text shows it; with fewer it is no burden."""

FEWEST_UNLIKE: Final = 3
MIN_SHARE_OF_UNLIKE: Final = 0.5
"""Minimum number and share of the rows of answers with unlike questions, whose texts show nothing, from which on these
are no exceptions: a log has one or two fallbacks, and of long messages most words are about other things."""

_NAMED_UNLIKE: Final = 5
"""Maximum number of these that are named."""

_MOST: Final = int(1 / MIN_SHARE)
_MOST_BY_TEXT: Final = int(1 / MIN_SHARE_BY_TEXT)
"""Maximum number of answers with these shares of the rows, so a shard reports no more."""

_NAMED: Final = 20
"""Maximum number of answers without a row that are named, if others have one."""


def broad_answers(members: pa.Table, weights: TokenWeights) -> list[BroadAnswer]:
    """Return the frequent answers of a shard that look like a fallback or have nearly all questions; at most 200.

    Args:
        members: MEMBERS; all rows of each answer are present, votes too.
        weights: of the tokens, over all questions of the run.
    """
    answers = members.filter(pc.is_valid(members["answer"])).group_by("answer_id", use_threads=False)
    totals = answers.aggregate([("events", "sum"), ("question_id", "count_distinct")])
    many = totals.filter(pc.greater_equal(totals["question_id_count_distinct"], FEWEST_BY_TEXT))
    frequent = many.sort_by([("events_sum", "descending"), ("answer_id", "ascending")]).slice(0, _MOST_BY_TEXT)
    rows = members.filter(pc.is_in(members["answer_id"], value_set=frequent["answer_id"].combine_chunks()))
    ids, events = rows["answer_id"].combine_chunks(), rows["events"].combine_chunks()
    forms = most_frequent(ids, encode(rows["answer"]), events)
    texts = dict(zip(*(forms[name].to_pylist() for name in ("group", "value")), strict=True))
    broad = []
    for place, row in enumerate(frequent.to_pylist()):
        text, questions = texts[row["answer_id"]], row["question_id_count_distinct"]
        nearly_all = questions >= max(NEARLY_ALL * weights.questions, FEWEST_OF_ALL)
        can_be_unlike = (place < _MOST and questions >= FEWEST_QUESTIONS) or is_opening(text)
        unlike = can_be_unlike and _are_unlike(rows, row["answer_id"], weights)
        if unlike or nearly_all or _shows_it(text):
            broad.append(BroadAnswer(text, row["events_sum"], questions, nearly_all and not unlike))
    return broad


def _are_unlike(members: pa.Table, answer_id: int, weights: TokenWeights) -> bool:
    questions = _of_questions(members.filter(pc.equal(members["answer_id"], answer_id)))
    return likeness_ratio(questions, weights) < UNLIKE


def _shows_it(answer: str) -> bool:
    return is_apology(answer) or is_acknowledgement(answer) or is_placeholder(answer)


def are_unlike(
    token_lists: pa.ChunkedArray, starts: np.ndarray, sizes: np.ndarray, weights: TokenWeights
) -> np.ndarray:
    """Return for each of some answers whether it has `FEWEST_QUESTIONS` and these are unlike.

    Args:
        token_lists: (R,) tokens of the questions, those of an answer one after another.
        starts: (A,) first row of each answer.
        sizes: (A,) number of questions of each answer.
        weights: of the tokens, over all questions of the run.
    """
    unlike = np.zeros(len(starts), bool)
    for place in np.flatnonzero(sizes >= FEWEST_QUESTIONS):
        rows = token_lists.slice(starts[place], sizes[place]).combine_chunks()
        unlike[place] = likeness_ratio(rows, weights) < UNLIKE
    return unlike


def _of_questions(rows: pa.Table) -> pa.Array:
    """Return the tokens of each distinct question, once."""
    questions = rows.filter(pc.is_valid(rows["question_id"]))
    _, first = np.unique(questions["question_id"].to_numpy(), return_index=True)
    return questions["token_ids"].combine_chunks().take(pa.array(first))


def likeness_ratio(token_lists: pa.Array, weights: TokenWeights) -> float:
    """Return the likeness among some questions divided by their likeness to all others: 1 for a random choice.

    The likeness of two questions is the sum of squared weights of the tokens they share; means over all pairs follow
    from the tokens' frequencies. It is infinite where there are no other questions to compare with.
    """
    questions = len(token_lists)
    counts = pc.value_counts(pc.list_flatten(token_lists))
    tokens = counts.field("values").to_numpy(zero_copy_only=False)
    order = np.argsort(tokens)  # sums of floats depend on their order
    tokens, inside = tokens[order], counts.field("counts").to_numpy()[order]
    others = weights.questions - questions
    weight, outside = weights.of(tokens) ** 2, np.maximum(weights.frequency(tokens) - inside, 0)
    within = float((weight * inside * (inside - 1)).sum()) / (questions * (questions - 1))
    across = float((weight * inside * outside).sum()) / (questions * max(others, 1))
    return within / across if others > 0 and across > 0 else float("inf")


def fallbacks(answers: Sequence[BroadAnswer], *, rows: int) -> list[BroadAnswer]:
    """Return the answers with a share of all rows that causes a warning, the most frequent first."""
    by_text = [_shows_it(answer.answer) or is_opening(answer.answer) for answer in answers]
    shares = [MIN_SHARE_BY_TEXT if shown_by_text else MIN_SHARE for shown_by_text in by_text]
    large = [answer for answer, share in zip(answers, shares, strict=True) if answer.rows >= share * rows]
    return sorted(large, key=lambda answer: (-answer.rows, answer.answer))


def warnings(answers: Sequence[BroadAnswer], *, rows: int, undecided: bool = True) -> list[str]:
    """Return a sentence a suspected fallback, and one about an answer of nearly all questions: what to do with it.

    Where most rows have an answer with unlike questions, one sentence about all of these states that words show little.

    Args:
        answers: answers that look like a fallback.
        rows: number of rows of the log.
        undecided: whether the run decides by itself which answers are intents.
    """
    unlike = [a for a in answers if not (a.only or _shows_it(a.answer) or is_opening(a.answer))]
    are_most = len(unlike) >= FEWEST_UNLIKE and sum(a.rows for a in unlike) >= MIN_SHARE_OF_UNLIKE * rows
    together = unlike if are_most else []
    alone = [a for a in answers if a not in together and (undecided or not a.only)]
    sentences = [_of_only(answer) if answer.only else _warning(answer, answer.rows / rows) for answer in alone]
    return sentences + ([_of_most(together, rows, undecided=undecided)] if together else [])


def idle_answers(ignored: Sequence[str], counters: Mapping[str, int]) -> list[str]:
    """Return a sentence about the answers that were to be ignored and that no row had, nothing if there are none."""
    effective = {fold(answer) for place, answer in enumerate(ignored) if counters.get(f"{IGNORED}{place}")}
    idle = [answer for answer in ignored if fold(answer) not in effective]
    if not idle:
        return []
    named = idle[:_NAMED] if effective else idle[:1]
    names = ", ".join(repr(shown(answer)) for answer in named)
    others = f" and {counted(len(idle) - len(named), 'other')}" if len(idle) > len(named) else ""
    effect = "rejected no row: none has" if not effective else "has an answer without effect: no row has"
    how = "An answer is compared whole, with its punctuation; @FILE reads a file"
    return [f"--ignore-answer {effect} the answer or answer id {names}{others}. {how}"]


def as_json(answers: Sequence[BroadAnswer], *, rows: int) -> list[dict[str, Any]]:
    """Return suspected fallbacks for a program, with their share of the rows."""
    return [{**answer._asdict(), "share": round(answer.rows / rows, 4)} for answer in answers]


def _of_only(answer: BroadAnswer) -> str:
    questions = f"{counted(answer.questions, 'question')}, nearly all of the log"
    return (
        f"one answer has {questions}: {shown(answer.answer)!r}. There is nothing to compare these with, so clusters "
        "rest on their words alone. If they mean the same, keep them together by --answers intent"
    )


def _of_most(answers: Sequence[BroadAnswer], rows: int, *, undecided: bool) -> str:
    share = rounded_percent(sum(answer.rows for answer in answers) / rows)
    named = ", ".join(repr(shown(answer.answer)) for answer in answers[:_NAMED_UNLIKE])
    keep = "If each is one intent, keep its questions together by --answers intent. " if undecided else ""
    return (
        f"{counted(len(answers), 'answer')} with {share} of the rows have unlike questions each, such as {named}. So "
        "words hardly show which questions mean the same, and probabilities can be far too high, as in long messages, "
        f"or where answers are topics or fit many questions. {keep}If some are fallbacks, add each by --ignore-answer"
    )


def _warning(answer: BroadAnswer, share: float) -> str:
    questions = counted(answer.questions, "question" if _shows_it(answer.answer) else "unlike question")
    holds = f"one answer holds {rounded_percent(share)} of the rows and {questions}: {shown(answer.answer)!r}"
    return f"{holds}. {_suspicion(answer.answer)}, add {ignore_option(answer.answer)}"


def _suspicion(answer: str) -> str:
    if is_acknowledgement(answer):
        return "It only confirms a request. If it was given to different ones"
    if is_placeholder(answer):
        return "It stands for a missing answer. If nobody should get it"
    if is_opening(answer):
        return "It reads like a greeting, an offer of help or a hand-over. If it was given to different ones"
    return "It reads like a fallback. If it is one" if is_apology(answer) else "If it is a fallback"
