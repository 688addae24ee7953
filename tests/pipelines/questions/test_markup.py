"""Rows with HTML entities, and answers that differ in HTML alone."""

import time

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from pipelines.intermediate import MEMBERS
from pipelines.questions.markup import bare_texts, count_markup, rows_with_entity, split_by_markup
from schemas.tables import with_nulls
from schemas.text_arrays import encode


def test_rows_with_an_entity_are_counted_and_other_ampersands_are_not() -> None:
    entities = ["f&uuml;r", "&quot;Mein Konto&quot;", "it&#39;s", "it&#x27;s", "it&apos;s", "a &amp;quot; b"]
    others = [None, "", "AT&T; and others", "a & b;", "?a=1&copy=2", "&#;", "&Konto;", "R&D"]
    assert [rows_with_entity(encode(pa.array([text]))) for text in entities] == [1] * len(entities)
    assert rows_with_entity(encode(pa.array([*entities, *others, *entities], pa.string()))) == 2 * len(entities)
    assert rows_with_entity(encode(pa.array(others, pa.string()))) == 0
    assert (
        rows_with_entity(encode(pa.array([None], pa.string())))
        == rows_with_entity(encode(pa.array([], pa.string())))
        == 0
    )


def test_without_an_ampersand_no_expression_is_built(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pc, "match_substring_regex", None)
    assert rows_with_entity(encode(pa.array(["How do I pay?", None]))) == 0


def test_rows_with_tags_in_the_question_and_with_json_as_a_text_are_counted() -> None:
    questions = [
        '<div class="zd-comment" dir="auto"><p>How do I pay?</p></div>',
        'what does "<p>" mean in {"a": 1}?',
        "press </Esc>",
        '[{"role": "user", "content": "How do I pay?"}]',
        '{\n "text": "How do I pay?"\n}',
        "{name}",
        None,
    ]
    answers = ["<p>In the app.</p>", "[deleted]", '{"role": "assistant"}', '["a", "b"]', "[1]", "{}", "a"]
    assert count_markup(*(encode(pa.array(texts, pa.string())) for texts in (questions, answers))) == {
        "html_tags_question": 1,
        "json_question": 2,
        "json_answer": 2,
    }


SAME = [
    "Use a cloth & soap.",
    "<p>Use a cloth &amp; soap.</p>",
    "use a&nbsp;cloth &#38; soap.<br/>",
    '<div class="x">&lt;p&gt;Use a <b>cloth</b> &amp;amp; soap.&lt;/p&gt;</div>',
    "<UL>\n<LI>Use a  cloth & soap.</LI></UL>",
]


def test_answers_that_differ_in_html_alone_have_one_bare_text() -> None:
    assert set(bare_texts(pa.array(SAME)).to_pylist()) == {"useacloth&soap."}
    assert bare_texts(pa.array(["&amp;amp;amp;"])).to_pylist() == ["&amp;"]  # escaped twice more


@pytest.mark.parametrize("start", ["<a href=", "<a ", "<p ", "&", "<"])
def test_the_time_of_a_long_text_with_an_open_tag_grows_with_its_length(start: str) -> None:
    began = time.process_time()
    assert bare_texts(pa.array([start + "x" * 300_000, (start + " ") * 30_000])).null_count == 0
    assert time.process_time() - began < 10  # a minute and more where it grows with the square


def test_words_in_angle_brackets_and_targets_of_links_remain() -> None:
    others = [
        "Press <Esc>",
        "Press <Enter>",
        "a < b and c > d",
        "a < b",
        "<a href='/one'>here</a>",
        '<a class="k" href="/two" rel=x>here</a>',
        "here",
        '<img alt="" src=/one>',
    ]
    bare = bare_texts(pa.array(others)).to_pylist()
    assert len(set(bare)) == len(others)
    assert bare[4:6] == ["/onehere", "/twohere"]


def members(rows: list[tuple[int, int, str | None, str | None]]) -> pa.Table:
    names = ("question_id", "answer_id", "log_answer_id", "answer")
    columns = dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))
    known = {name: pa.array(values, MEMBERS.field(name).type) for name, values in columns.items() if name != "answer"}
    return with_nulls(MEMBERS, known | {"answer": pa.array(columns["answer"], pa.string()).dictionary_encode()})


def test_questions_are_counted_once_if_answers_without_id_differ_in_html_alone() -> None:
    split = [(1, 10, None, SAME[0]), (1, 11, None, SAME[1]), (1, 12, None, SAME[2]), (1, 13, None, "No.")]
    others = [(2, 10, None, SAME[0]), (2, 14, None, "<p>Yes.</p>"), (3, 11, None, SAME[1]), (4, 15, None, None)]
    others.append((4, 16, None, None))
    of_ids = [(5, 20, "a", SAME[0]), (5, 21, "b", SAME[1])]
    assert split_by_markup(members(split + others + of_ids)) == 1
    assert split_by_markup(members(others + of_ids)) == 0


def test_answers_without_a_sign_of_html_are_not_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pipelines.questions.markup.bare_texts", None)
    assert split_by_markup(members([(1, 10, None, "Yes."), (1, 11, None, "yes ,")])) == 0
