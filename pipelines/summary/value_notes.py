"""Sentences about input values that could not be read, texts with HTML, and answers that vary from row to row.

counters -> idle_filter, value_warnings, text_warnings, markup_warnings, varied_answer_warnings
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from pipelines.questions.markup import JSON, PREFIX, SPLIT, TAGS
from schemas.quantities import counted, rounded_percent

ENCODING_HINT: Final = (
    "If the text is in another encoding, add it, such as --encoding cp1252 (Western Europe), cp1251 (Cyrillic) "
    "or cp932 (Japanese)"
)

MIN_SHARE_OF_MARKUP: Final = 0.01
"""Minimum share of the rows with HTML or JSON that causes a warning: an FAQ about these may contain some."""

FEWEST_SPLIT: Final = 5
"""Minimum number of questions with answers that differ in HTML alone that causes a warning."""

MIN_SHARE_OF_SPLIT: Final = 0.05
"""The same as a share of the questions with several answers: those asked once cannot show it."""

FEWEST_UNSETTLED: Final = 5
MIN_SHARE_OF_UNSETTLED: Final = 0.25
"""Minimum number and share of a log's questions that have several answers and none often enough that cause a
warning."""

_OPTIONS = {
    "confidence": "--min-confidence",
    "locale": "--locale",
    "user_id": "--min-users, --max-events-of-user or --max-answer-events-of-user",
}
_KINDS = {"confidence": "number", "timestamp": "time"}
_FORMS = {"confidence": "0.95", "timestamp": "2025-01-31T18:00:00+01:00"}


def idle_filter(counters: Mapping[str, int]) -> str | None:
    """Return an error about an option that filters by a column without a readable value: it would keep every row."""
    for name, option in _OPTIONS.items():
        if counters.get(f"readable_{name}") == 0:
            unreadable = counters.get(f"unreadable_{name}", 0)
            cause = (
                f"none of {counted(unreadable, 'value')} in it is a {_KINDS[name]}"
                if unreadable
                else "it holds no value"
            )
            step = f"Name another column with --column {name}=NAME, or leave {option} out"
            return f"{option} filters by the column {name}, but {cause}. {step}"
    return None


def value_warnings(counters: Mapping[str, int]) -> list[str]:
    """Return one warning for each kind of unreadable value, with the form in which it can be read."""
    notes = [
        f"{name}: no {kind} can be read from {counted(counters[f'unreadable_{name}'], 'value')}, not used. "
        f"Write each as in {_FORMS[name]}"
        for name, kind in _KINDS.items()
        if counters.get(f"unreadable_{name}")
    ]
    if ambiguous := counters.get("ambiguous_timestamp"):
        choice = "their day or their month may be first, as in 01/02/2025, and no date of the file shows which"
        notes.append(f"timestamp: {ambiguous:,} of these are dates: {choice}. Write the year first, as in 2025-02-01")
    if damaged := counters.get("rejected_read_invalid_utf8"):
        notes.append(f"{counted(damaged, 'row')} without valid UTF-8. {ENCODING_HINT}")
    return notes


def text_warnings(counters: Mapping[str, int]) -> list[str]:
    """Return a sentence each if many texts have HTML entities, questions have HTML tags, or texts are JSON."""
    notes = []
    if of := _shares(counters, f"{PREFIX}question", f"{PREFIX}answer"):
        finding = (
            f"HTML entities such as &quot; are in the questions of {of[0]} of the rows and in the answers of {of[1]}"
        )
        step = "Replace them in both columns before the run, with html.unescape of Python for example"
        notes.append(f"{finding}. They stay as they are, and answers are given with them. {step}")
    if of := _shares(counters, TAGS):
        finding = f"HTML tags such as </p> are in the questions of {of[0]} of the rows"
        step = "Remove them before the run, so that only the text remains"
        notes.append(f"{finding}. Their names and attributes count as words of the questions. {step}")
    if of := _shares(counters, f"{JSON}question", f"{JSON}answer"):
        finding = f"{of[0]} of the questions and {of[1]} of the answers are JSON in a text, whose keys count as words"
        step = "Write the text in it as a column, for example with fromjson of jq or json.loads of Python"
        notes.append(f"{finding}. {step}")
    return notes


def _shares(counters: Mapping[str, int], *names: str) -> list[str]:
    """Return the shares of the rows that counters have, in percent, or nothing if all are small."""
    rows = counters.get("rows_read", 0)
    shares = [counters.get(name, 0) / rows if rows else 0.0 for name in names]
    return [rounded_percent(share) for share in shares] if max(shares) >= MIN_SHARE_OF_MARKUP else []


def markup_warnings(counters: Mapping[str, int]) -> list[str]:
    """Return a sentence if many questions have several answers that differ in HTML alone, nothing otherwise."""
    split, several = (counters.get(name, 0) for name in (SPLIT, "questions_with_several_answers"))
    if split < FEWEST_SPLIT or split < MIN_SHARE_OF_SPLIT * several:
        return []
    return [
        f"of {counted(several, 'question')} with several answers {split:,} have some that differ in HTML tags or "
        "entities alone. Each such text counts as another answer, so questions become ambiguous and clusters smaller. "
        "Write the answers without HTML before the run; to keep it, add a column with the text alone and give it as "
        "the id: --column answer_id=NAME"
    ]


def varied_answer_warnings(counters: Mapping[str, int]) -> list[str]:
    """Return a sentence if many questions have several answers and none often enough, nothing otherwise.

    Where answers differ in HTML alone, `markup_warnings` states the cause.
    """
    questions = counters.get("questions", 0)
    is_split = counters.get("rejected_ambiguity_ambiguous", 0) > 0 and not markup_warnings(counters)
    unsettled = questions - counters.get("members_judged", 0) if is_split else 0  # each settled question is judged once
    if unsettled < max(FEWEST_UNSETTLED, MIN_SHARE_OF_UNSETTLED * questions):
        return []
    return [
        f"of {counted(questions, 'question')} {unsettled:,} are rejected as ambiguous: they have several answers and "
        "none often enough. Texts of answers are compared whole, so a name, number, date or typing error makes another "
        "answer. If your answers vary in this way, write them without these parts, or add a column that "
        "names what is answered and give it as the id: --column answer_id=NAME"
    ]
