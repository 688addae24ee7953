"""HTML and JSON in texts of a log: entities such as ``&quot;``, tags that make two answers of one, and whole objects.

encoded questions and answers -> count_markup -> counters
answers -> bare_texts -> texts that are equal if the answers differ in HTML alone
MEMBERS of whole questions -> split_by_markup -> number of questions with such answers
"""

from __future__ import annotations

import html
import re
from html.entities import name2codepoint
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

from pipelines.intermediate import LOG_ANSWER_ID
from schemas.text_arrays import encode, fold_all

PREFIX: Final = "html_entities_"
"""Beginning of the counters of rows with an entity in the question or in the answer."""

TAGS: Final = "html_tags_question"
"""Counter of rows with an end tag in the question, whose name and attributes would be words of it."""

JSON: Final = "json_"
"""Beginning of the counters of rows whose question or answer is an object or a list of JSON."""

SPLIT: Final = "questions_with_several_answers_by_html"
"""Counter of questions with several answers of which some differ in HTML alone."""

_ENTITY: Final = f"&(?:#[0-9]{{1,7}}|#[xX][0-9a-fA-F]{{1,6}}|apos|{'|'.join(sorted(name2codepoint))});"

_MARKUP: Final = "[<&]"
"""Signs with which a tag or an entity begins."""

_TAGS: Final = (
    r"a|abbr|article|b|big|blockquote|body|br|center|cite|code|dd|del|details|div|dl|dt|em|figure|font|footer|h[1-6]"
    r"|header|hr|html|i|img|ins|kbd|li|mark|ol|p|pre|q|s|section|small|span|strike|strong|sub|summary|sup|table|tbody"
    r"|td|tfoot|th|thead|tr|tt|u|ul|wbr"
)
"""Tags of texts; `<Esc>` and `<your name>` are words."""

_END_TAG: Final = f"(?i)</(?:{_TAGS})>"
_JSON: Final = r"(?s)^\s*(?:\{\s*\".*\}|\[\s*[\"{\[].*\])\s*$"
_TAG: Final = re.compile(rf"</?(?:{_TAGS})(?:\s[^<>]*)?/?>", re.IGNORECASE)
_TARGET: Final = re.compile(r"""<(?:a|img)\s(?:[^<>]*\s)?(?:href|src)\s*=\s*["']?([^"'\s<>]*)""", re.IGNORECASE)
"""The tag of a link or picture up to the end of its target: answers with other targets are others."""


def count_markup(questions: pa.DictionaryArray, answers: pa.DictionaryArray) -> dict[str, int]:
    """Return the counters of rows with HTML or JSON, without zeros.

    Args:
        questions: (R,) texts, may have null.
        answers: (R,) texts, may have null.
    """
    of_both = [("question", questions), ("answer", answers)]
    counts = {f"{PREFIX}{name}": rows_with_entity(texts) for name, texts in of_both}
    counts |= {f"{JSON}{name}": _rows_with(texts, _JSON, required='"') for name, texts in of_both}
    counts[TAGS] = _rows_with(questions, _END_TAG, required="</")
    return {name: count for name, count in counts.items() if count}


def rows_with_entity(texts: pa.DictionaryArray) -> int:
    """Return the number of rows with an entity that HTML 4 names, or ``&apos;``, or one of a number."""
    return _rows_with(texts, _ENTITY, required="&")


def _rows_with(texts: pa.DictionaryArray, pattern: str, *, required: str) -> int:
    """Return the number of rows with a match of a pattern, all of whose matches have the text ``required``."""
    if not pc.any(pc.match_substring(texts.dictionary, required)).as_py():  # Arrow builds expressions for each batch
        return 0
    matches = pc.match_substring_regex(texts.dictionary, pattern)
    return pc.sum(matches.take(texts.indices)).as_py() if pc.any(matches).as_py() else 0


def has_markup(texts: pa.Array) -> bool:
    """Return whether a text has a sign with which a tag or an entity begins."""
    return bool(pc.any(pc.match_substring_regex(texts, _MARKUP)).as_py())


def without_markup(text: str) -> str:
    """Return a text without tags, with the characters that its entities stand for and the targets of its links."""
    for _ in range(2):  # a program can have escaped tags or entities once more
        if "<" not in text and "&" not in text:
            break
        text = html.unescape(_TAG.sub(" ", _TARGET.sub(r" \1 <a ", text)))  # the rest of a link is a tag again
    return text


def bare_texts(texts: pa.Array) -> pa.Array:
    """Return texts, folded and without HTML and white space: those of answers that differ in HTML alone are equal.

    Args:
        texts: (N,) answers, without null.
    """
    marked = pc.match_substring_regex(texts, _MARKUP)
    bare = pa.array([without_markup(text) for text in texts.filter(marked).to_pylist()], pa.string())
    return pc.replace_substring(fold_all(pc.replace_with_mask(texts, marked, bare)), " ", "")


def split_by_markup(members: pa.Table) -> int:
    """Return the number of questions with two answers or more that differ in HTML alone.

    Answers with an id in the log are left out: their texts play no part.

    Args:
        members: MEMBERS; all rows of each question are present.
    """
    by_text = members.filter(pc.is_null(members[LOG_ANSWER_ID.name]))
    by_text = by_text.filter(pc.is_valid(by_text["answer"]))
    answers = encode(by_text["answer"])
    if not has_markup(answers.dictionary):
        return 0
    bare = encode(bare_texts(answers.dictionary)).indices.take(answers.indices)
    columns = {"question_id": by_text["question_id"], "bare": bare, "answer_id": by_text["answer_id"]}
    counted = pa.table(columns).group_by(["question_id", "bare"], use_threads=False)
    split = counted.aggregate([("answer_id", "count_distinct")])
    several = split.filter(pc.greater(split["answer_id_count_distinct"], 1))
    return len(several["question_id"].unique())
