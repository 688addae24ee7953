import dataclasses
import re

import pyarrow as pa
import pytest

from pipelines.reading.headers.columns import Column, locate_columns
from schemas.errors import QprError

COLUMNS = [Column("question", pa.string()), Column("answer", pa.string()), Column("answer_id", pa.string(), False)]


def test_columns_are_found_under_our_name_or_the_mapped_one():
    found = locate_columns(COLUMNS, {"question": "prompt"}, ["answer", "prompt", "x"], url="f")
    assert found == {"question": "prompt", "answer": "answer"}


def test_a_mapping_wins_over_a_column_with_our_name():
    assert locate_columns(COLUMNS, {"answer": "a"}, ["answer", "a", "question"], url="f")["answer"] == "a"


def test_a_missing_column_is_explained_with_those_found_and_the_option_that_maps_it():
    with pytest.raises(QprError) as caught:
        locate_columns(COLUMNS, {}, ["prompt", "answer"], url="f.csv")
    assert str(caught.value) == ("f.csv: no column question; there are prompt, answer. Add: --column question=prompt")


def test_a_file_of_labelled_pairs_is_named_with_the_command_that_reads_it():
    texts = {"question1": ["How are you?"], "question2": ["How do you do?"], "is_duplicate": ["1"]}
    step = (
        "--column answer=question2. If question1 and question2 are both questions, as in labelled pairs, use `qpr quo"
    )
    with pytest.raises(QprError, match=re.escape(step)):
        locate_columns(COLUMNS, {}, list(texts), url="f", sample=lambda: texts)
    others = {"question1": ["How are you?"], "reply1": ["I am well."]}
    with pytest.raises(QprError, match=r"--column answer=reply1$"):
        locate_columns(COLUMNS, {}, list(others), url="f", sample=lambda: others)


def test_an_optional_column_may_be_missing_unless_it_was_mapped():
    assert "answer_id" not in locate_columns(COLUMNS, {}, ["question", "answer"], url="f")
    with pytest.raises(QprError, match=r"no column ref;.*Add, with one of them for NAME: --column answer_id=NAME"):
        locate_columns(COLUMNS, {"answer_id": "ref"}, ["question", "answer", "x"], url="f")


def test_a_command_without_mapping_options_does_not_offer_them():
    with pytest.raises(QprError, match=r"no column question, answer; there are none\. Rename .* or add question, ans"):
        locate_columns(COLUMNS, {}, [], url="f", mappable=False)


def test_many_names_are_not_all_shown():
    with pytest.raises(QprError, match=r"c28, c29 and 970 more\. Add"):
        locate_columns(COLUMNS, {}, [f"c{i}" for i in range(1000)], url="f")


def test_a_type_that_cannot_be_read_is_a_mistake_of_ours():
    with pytest.raises(ValueError, match="int64"):
        Column("n", pa.int64())


def test_a_file_without_a_column_to_spare_has_to_get_one():
    with pytest.raises(
        QprError, match=r"no column answer; there are question\. The file has no other column\. Add answer to"
    ):
        locate_columns(COLUMNS, {}, ["question"], url="f")
    with pytest.raises(QprError, match=r"no column reply; .* Add reply to the file$"):
        locate_columns(COLUMNS, {"answer": "reply"}, ["question"], url="f")


def test_columns_for_which_options_ask_can_do_without_these_options():
    locale, confidence = Column("locale", pa.string(), needed_by="--locale"), Column("confidence", pa.float64())
    with pytest.raises(QprError, match=r"Add: --column locale=lang\. Or leave out --locale$"):
        locate_columns([locale], {}, ["lang"], url="f", sample=lambda: {"lang": ["en-GB", "de-DE"]})
    with pytest.raises(QprError, match=r"Add locale and confidence to the file$"):
        locate_columns([locale, confidence], {}, [], url="f")
    both = [locale, dataclasses.replace(confidence, needed_by="--min-confidence")]
    with pytest.raises(QprError, match=r"Or leave out --locale and --min-confidence$"):
        locate_columns(both, {}, [], url="f")


def test_suggested_names_are_quoted_for_a_shell():
    with pytest.raises(QprError, match=r"Add: --column 'question=Frage des Kunden' --column answer=Antwort$"):
        locate_columns(COLUMNS, {}, ["Frage des Kunden", "Antwort"], url="f")
