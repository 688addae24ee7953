"""Hits of a question as a JSON object or a terminal table, and answers as a JSON object or a line.

question, hits -> print_hits -> a line of JSON or a table; Answer -> print_answer -> a line of JSON, or the answer
"""

from __future__ import annotations

import dataclasses
import itertools
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

import rich.table

from jobs.display.console import results
from jobs.display.safe_text import cut, json_text, printable, with_text_ids
from jobs.display.terminal_tables import keep_order
from schemas.text import key, words, words_of

if TYPE_CHECKING:
    from model.search.results import Answer, Hit

SHOWN_WORDS = 5
"""Maximum shared words, or runs of text in scripts without spaces, in a row of the table."""

UNLIKELY: Final = 0.05
"""Probability below which a hit is not likely to mean the same: at least 19 of 20 such hits do not."""


_NARROW: Final = 60
"""Columns of a terminal below which a table would break words, or be wider than the terminal."""


def print_hits(question: str, hits: Sequence[Hit], *, as_json: bool) -> None:
    """Print the hits of a question; in a table no hits are nothing."""
    if as_json:
        row = {"question": question, "hits": [with_text_ids(dataclasses.asdict(hit)) for hit in hits]}
        sys.stdout.write(json_text(row))
        sys.stdout.flush()
    elif hits:
        results.print(_table(question, hits) if results.width >= _NARROW else _list(question, hits))
        for note in _notes(hits):
            results.print(note)


def _notes(hits: Sequence[Hit]) -> Iterator[str]:
    """Yield lines below the table."""
    if all(hit.probability is not None and hit.probability < UNLIKELY for hit in hits):
        yield "No hit is likely to mean the same."
    texts = [text for hit in hits for text in (hit.text, hit.answer or "")]
    if any(cut(text) != text for text in map(printable, texts)):
        yield "Long texts are cut; --json prints them whole."


def reason_of_no_hits(question: str, *, filtered: bool) -> str:
    """Return why a question has no hits; ``filtered``: the index varies by columns or has ends of validity."""
    if not words(key(question)):
        return "no word to search by"
    return f"no question of the index{' with these values and a valid answer' if filtered else ''} was found"


def print_answer(answer: Answer, *, filters: Mapping[str, str], as_json: bool) -> None:
    """Print one answer or abstention."""
    if as_json:
        sys.stdout.write(json_text(answer_row(answer, filters)))
        sys.stdout.flush()
        return
    results.print(printable(answer.question), style="bold")
    results.print(f"  {_outcome(answer)}")


def answer_row(answer: Answer, filters: Mapping[str, str]) -> dict[str, Any]:
    """Return the JSON object of an answer; ``answer_id``, ``probability``, filters are columns of a requests file.

    ``filters`` has these once more, which distinguishes them from the other keys.
    """
    hit = answer.hit
    return {
        **({"filters": dict(filters)} if filters else {}),
        **filters,
        "question": answer.question,
        "answered": answer.answered,
        "reason": answer.reason,
        "answer": hit.answer if hit and answer.answered else None,
        "probability": hit.probability if hit else None,
        "answer_id": hit.judged_id if hit else None,
        "certificate": answer.certificate,
        "hit": with_text_ids(dataclasses.asdict(hit)) if hit else None,
    }


def _table(question: str, hits: Sequence[Hit]) -> rich.table.Table:
    table = rich.table.Table(title=printable(question), title_justify="left")
    table.add_column("rank", justify="right")
    likely = any(hit.probability is not None for hit in hits)
    if likely:
        table.add_column("probability", justify="right", min_width=len("probability"))
    table.add_column("question", overflow="fold")  # a text without spaces would end at the edge of its column
    answered = any(hit.answer for hit in hits)
    if answered:
        table.add_column("answer", overflow="fold")
    table.add_column("why", overflow="fold")
    for hit in hits:
        cells = [hit.text, *([hit.answer or ""] if answered else []), _reasons(question, hit)]
        probability = [] if not likely else ["" if hit.probability is None else f"{hit.probability:.2f}"]
        table.add_row(str(hit.rank), *probability, *(cut(printable(cell)) for cell in cells))
    keep_order(table, (text for hit in hits for text in (hit.text, hit.answer or "")))
    return table


def _list(question: str, hits: Sequence[Hit]) -> rich.table.Table:
    """Return the texts of each hit below each other, right of its rank."""
    table = rich.table.Table(
        title=printable(question), title_justify="left", show_header=False, box=None, padding=(0, 1)
    )
    table.add_column(justify="right")
    table.add_column(overflow="fold")
    for hit in hits:
        probability = "" if hit.probability is None else f"probability {hit.probability:.2f}, "
        cells = [hit.text, hit.answer or "", f"{probability}{_reasons(question, hit)}"]
        table.add_row(str(hit.rank), "\n".join(cut(printable(cell)) for cell in cells if cell))
    return table


def _reasons(question: str, hit: Hit) -> str:
    if key(hit.text) == key(question):
        return "the same question"
    runs = _shared_runs(question, hit)
    shown = [" ".join(runs[:SHOWN_WORDS]) + (" …" if len(runs) > SHOWN_WORDS else "")] if runs else []
    ranks = {"nearest": hit.why.dense_rank, "BM25": hit.why.lexical_rank}
    return ", ".join([*shown, *(f"{name} {rank}" for name, rank in ranks.items() if rank)])


def _shared_runs(question: str, hit: Hit) -> list[str]:
    """Return the shared words; those that overlap or touch, in a script without spaces, as their whole run."""
    asked, shared, of_hit = key(question), set(hit.why.shared_words), set(itertools.pairwise(words_of(hit.text)))
    runs: list[str] = []
    before = ""
    for word in words_of(question):
        if word in shared:
            rest = _rest(before, word) if (before, word) in of_hit else None
            if rest is not None:
                runs[-1] += rest
            elif (before, word) in of_hit and runs[-1] + word in asked:  # characters of Chinese or Korean
                runs[-1] += word
            else:
                runs.append(word)
        before = word
    return list(dict.fromkeys(runs))


def _rest(before: str, word: str) -> str | None:
    """Return the part of a word that a run of text has after the word before; None where no run is cut into the two."""
    for start in range(len(word) - 1, 0, -1):
        if before.endswith(word[:start]) and words_of(before + word[start:]) == [before, word]:
            return word[start:]
    return None


def _outcome(answer: Answer) -> str:
    hit, reason = answer.hit, answer.reason
    if hit is None:
        return f"no known answer ({reason})"
    likely = "" if hit.probability is None else f", probability {hit.probability:.2f}"
    if answer.answered:
        answer_text = printable(hit.answer) if hit.answer else f"without an answer in the index: {printable(hit.text)}"
        return f"{answer_text} ({reason}{likely})"
    return f"no known answer ({reason}{likely}); nearest question: {printable(hit.text)}"
