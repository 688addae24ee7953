import csv
import io
import json

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobs.display.safe_text import (
    CONTROLS,
    cell_text,
    csv_bytes,
    cut,
    formula_free,
    json_text,
    markdown_text,
    printable,
    printable_lines,
    terminal_text,
    with_text_ids,
)
from jobs.web.messages.faults import json_bytes

BEGINNINGS = "'=+-@\t\r\n\uff1d\uff0b\uff0d\uff20"


@given(st.one_of(st.text(), st.text(BEGINNINGS + "a1 ;")))
def test_a_cell_is_read_back_as_its_text_and_begins_no_formula(text):
    cell = formula_free(text)
    assert cell_text(cell) == text
    number = text.startswith("-") and text[1:].isdecimal() and text.isascii()
    assert number or not cell.startswith(tuple(BEGINNINGS[1:]))


@pytest.mark.parametrize(
    ("text", "cell"),
    [("x;=1+1;", "x;'=1+1;"), ("a\n+b\r\n@c\n\nd", "a\n'+b\r\n'@c\n\nd"), ("a;'=b", "a;''=b"), ("=a;-b", "'=a;'-b")],
)
def test_no_part_of_a_text_that_a_spreadsheet_splits_at_semicolons_and_line_ends_begins_a_formula(text, cell):
    assert formula_free(text) == cell
    assert cell_text(cell) == text


@pytest.mark.parametrize("text", ["how do I pay", "a; b\n\nc;", "-123", "'quoted'", "5 = 5", "", "pay -now", "'-7"])
def test_other_texts_stay_as_they_are(text):
    assert (formula_free(text), cell_text(text)) == (text, text)


def test_texts_of_a_table_are_no_formulas_and_its_numbers_and_nulls_stay():
    table = pa.table({"text": ["=1+1", None, "a"], "number": [-1, 2, None]})
    rows = list(csv.reader(io.StringIO(csv_bytes(table).decode("utf-8-sig"))))
    assert rows == [["text", "number"], ["'=1+1", "-1"], ["", "2"], ["a", ""]]


def test_csv_shows_excel_that_it_is_utf_8():
    assert csv_bytes(pa.table({"text": ["für"]})).startswith(b"\xef\xbb\xbf")


@given(st.text(st.one_of(st.characters(exclude_categories=["Cs"]), st.sampled_from("\x07\x1b\x7f\x80\x9b\x9d"))))
def test_json_spells_all_control_characters_and_has_the_same_value(text):
    document = {"question": text, text: [text]}
    for written in (json_text(document), json_bytes(document).decode()):
        assert json.loads(written) == document
        assert not CONTROLS.search(written)
    assert json_text("für 5 £") == '"für 5 £"\n'


@pytest.mark.parametrize(
    ("is_terminal", "printed"), [(True, r"\x1b]0;a\x07\x9b2J" + "\tb\n"), (False, "\x1b]0;a\x07\x9b2J\tb\n")]
)
def test_a_terminal_gets_control_characters_spelled_and_a_file_as_they_are(is_terminal, printed):
    stream = io.StringIO()
    stream.isatty = lambda: is_terminal
    assert terminal_text("\x1b]0;a\x07\x9b2J\tb\n", stream) == printed


def test_no_character_turns_the_rest_of_a_line_around():
    text = "a\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069b"
    assert printable(text) == "ab"
    assert (
        printable("\u0645\u0627\u200f \u200e\u200d!") == "\u0645\u0627\u200f \u200e\u200d!"
    )  # marks and joiners turn nothing


@given(st.text(st.one_of(st.characters(), st.sampled_from(" \t\n\r\x1b\u2028"))))
def test_lines_have_the_words_of_one_line_and_no_controls(text):
    lines = printable_lines(text)
    assert printable(lines) == printable(text)
    assert all(line.isspace() or not line or printable(line) == line.strip() for line in lines.split("\n"))
    assert "\n\n\n" not in lines


def test_code_keeps_its_lines_and_their_indentation():
    text = "Try:\r\n\n \n\n```\nif x:\n\tgo()  # \x1b[2J\n" + " " * 9000 + "end\n```\n"
    assert printable_lines(text) == "Try:\n\n```\nif x:\n    go() # [2J\n" + " " * 40 + "end\n```"


def test_a_text_longer_than_three_hundred_characters_is_cut_and_its_length_shown():
    assert cut("x" * 300) == "x" * 300
    assert cut("x" * 300 + "yz") == "x" * 300 + "… (302 characters)"
    assert cut("x" * 1_300) == "x" * 300 + "… (1,300 characters)"


def test_signs_of_markdown_and_html_are_escaped_on_one_line():
    special = "\\`*_{}[]<>#|~"
    assert markdown_text(special) == "".join(f"\\{sign}" for sign in special)
    assert markdown_text("a\n- b & c\x1b[2J") == "a - b &amp; c \\[2J"


def test_integers_called_ids_are_strings_and_other_values_stay():
    row = {"cluster_id": 2**60, "answer_id": "a", "log_answer_id": None, "events": 2**60, "idle": 1, "id": 2}
    assert with_text_ids(row) == row | {"cluster_id": str(2**60)}
