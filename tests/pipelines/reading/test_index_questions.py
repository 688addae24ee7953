import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pipelines.reading.index_inputs import question_files
from pipelines.reading.index_questions import read_questions, whole_numbers
from pipelines.reading.sources import expand
from schemas.tables import INDEX_ROWS
from schemas.text import question_id


def read(path, **names):
    """Return all that is read of one table."""
    [file] = question_files([str(path)], names, files_of=lambda url: expand([url])).files
    parts = list(read_questions(file))
    away = pa.concat_tables([part.rejects for part in parts]).to_pylist()
    unreadable = {name: count for part in parts for name, count in part.unreadable.items()}
    return pa.concat_tables([part.rows for part in parts]), away, unreadable


def test_a_whole_number_is_read_exactly_and_nothing_else_is_one():
    written = [
        "9007199254740993",
        " 12 ",
        "12.0",
        "+3",
        "-4",
        "-9223372036854775808",
        "9223372036854775808",
        "1e3",
        "1.5",
    ]
    numbers = [9007199254740993, 12, 12, 3, -4, -(2**63), None, None, None]
    assert whole_numbers(pa.array([*written, "x", "", None])).to_pylist() == [*numbers, None, None, None]
    assert whole_numbers(pa.array([], pa.string())).to_pylist() == []


def test_every_row_is_kept_or_rejects_with_its_reason(tmp_path):
    (tmp_path / "faq.csv").write_text('question,answer\npay,x\n,x\n?!,x\npay,x,y\n"  ",\nlost,"   "\n')
    rows, away, unreadable = read(tmp_path / "faq.csv")
    assert rows.schema == INDEX_ROWS
    assert rows["question_id"].to_pylist() == [question_id("pay"), question_id("lost")]
    assert rows["answer"].to_pylist() == ["x", None]
    reasons = sorted((row["stage"], row["reason"]) for row in away)
    assert reasons == [
        ("read", "ragged_row"),
        ("validate", "empty_question"),
        ("validate", "empty_question"),
        ("validate", "no_word"),
    ]
    [wordless] = [row["payload"] for row in away if row["reason"] == "no_word"]
    assert json.loads(wordless) == {"question": "?!", "answer": "x"}
    assert unreadable == {}


def test_values_that_are_no_number_are_null_and_counted_but_blank_ones_never_were(tmp_path):
    (tmp_path / "faq.tsv").write_text(
        "text\tevents\tcluster_id\npay\tmany\tc1\nbill\t \t\nflight\t3.0\t9007199254740993\n"
    )
    rows, away, unreadable = read(tmp_path / "faq.tsv")
    assert rows["events"].to_pylist() == [None, None, 3]
    assert rows["cluster_id"].to_pylist() == [None, None, 9007199254740993]
    assert (away, unreadable) == ([], {"cluster_id": 1, "events": 1})


def test_an_answer_or_an_id_of_white_space_is_none(tmp_path):
    (tmp_path / "faq.csv").write_text('question,answer,answer_id\npay,x,\u3000 \nbill,"\t",7\nlost,y, 8 \n')
    rows = read(tmp_path / "faq.csv")[0]
    assert rows["answer"].to_pylist() == ["x", None, "y"]
    assert rows["answer_id"].to_pylist() == [None, "7", " 8 "]


def test_events_below_0_or_too_large_to_add_up_are_unreadable(tmp_path):
    events = [0, 2**53, 2**53 + 1, 2**63 - 1, -1]
    (tmp_path / "faq.csv").write_text("question,events\n" + "".join(f"pay,{number}\n" for number in events))
    rows, away, unreadable = read(tmp_path / "faq.csv")
    assert rows["events"].to_pylist() == [0, 2**53, None, None, None]
    assert (away, unreadable) == ([], {"events": 3})


@pytest.mark.parametrize(
    "kind", [pa.int8(), pa.uint64(), pa.float64(), pa.string(), pa.large_string(), pa.decimal128(20)]
)
def test_parquet_columns_of_any_castable_type_are_kept(tmp_path, kind):
    table = pa.table({"question": ["pay"], "events": pa.array(["12"]).cast(pa.int8()).cast(kind), "answer": [5]})
    pq.write_table(table, tmp_path / "faq.parquet")
    rows, _, unreadable = read(tmp_path / "faq.parquet")
    assert (rows["events"].to_pylist(), rows["answer"].to_pylist(), unreadable) == ([12], ["5"], {})


def test_a_question_column_is_found_and_what_is_not_kept_is_named(tmp_path):
    (tmp_path / "a.csv").write_text("text,question,answer,lang\nno,pay,x,en\n")
    (tmp_path / "b.csv").write_text("topic,text\nmoney,bill\n")
    inputs = question_files([str(tmp_path / "*.csv")], {}, files_of=lambda url: expand([url]))
    texts = [next(read_questions(file)).rows["text"].to_pylist() for file in inputs.files]
    assert texts == [["pay"], ["bill"]]
    assert list(inputs.ignored.values()) == [["text", "lang"], ["topic"]]
    assert inputs.ignored_columns == ["lang", "text", "topic"]
    rows, _, _ = read(tmp_path / "a.csv", question="text", answer="lang")
    assert rows.select(["text", "answer"]).to_pylist() == [{"text": "no", "answer": "en"}]
