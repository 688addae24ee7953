import collections

import pyarrow as pa

from pipelines.summary.reject_examples import SHOWN_REJECTS, reject_examples
from pipelines.writing.parquet import to_parquet
from schemas.artifacts.manifest import File
from schemas.artifacts.writer import Output, write_file
from schemas.tables import TABLES


def write(memory, *parts):
    """Write files of (stage, reason, payload) rows and return them with the counters of all rows."""
    output = Output(f"{memory}/d", "dataset", overwrite=False)
    files, counters = [], collections.Counter()
    for number, rows in enumerate(parts):
        columns = {name: [row[place] for row in rows] for place, name in enumerate(("stage", "reason", "payload"))}
        table = pa.table({**columns, "score": pa.nulls(len(rows), pa.float64())}).select(TABLES["rejected"].names)
        content = to_parquet(table.cast(TABLES["rejected"]), "rejected")
        files.append(
            write_file(output.run_url, f"rejected/{number}.parquet", content, table="rejected", rows=len(rows))
        )
        counters.update(f"rejected_{stage}_{reason}" for stage, reason, _ in rows)
    return files, dict(counters)


def test_the_first_rejects_of_every_reason_are_shown_the_most_frequent_reason_first(memory):
    many = [("size", "single_question", f"m{n:05}") for n in range(3_000)]
    files, counters = write(memory, many, [("read", "ragged_row", "raw"), *many[:2]], [("read", "ragged_row", "last")])
    path = "20260101T000000Z-000000/questions/0.parquet"
    other = File(path=path, sha256="0" * 64, bytes=0, rows=0, table="questions")
    found = reject_examples(f"{memory}/d", [other, *files[::-1]], counters)
    assert [(example.stage, example.reason, example.number) for example in found] == [
        ("size", "single_question", 3_002),
        ("read", "ragged_row", 2),
    ]
    assert found[0].payloads == [f"m{n:05}" for n in range(SHOWN_REJECTS)]
    assert found[1].payloads == ["raw", "last"]


def test_rows_far_apart_in_a_file_are_found(memory):
    rows = [("a", "x", f"{n:05}") for n in range(2_500)] + [("b", "y", "far")]
    files, counters = write(memory, rows)
    assert [example.payloads[-1] for example in reject_examples(f"{memory}/d", files, counters)] == ["00004", "far"]


def test_nothing_rejected_has_no_examples(memory):
    assert reject_examples(f"{memory}/d", [], {"rows_read": 3}) == []


def test_a_payload_is_shown_as_question_and_answer_where_it_has_them(memory):
    payloads = ['{"question": "q", "answer": "a"}', '{"question": "q"}', '{"answer": null}', "not json", "[1]"]
    files, counters = write(memory, [("read", "r", payload) for payload in payloads])
    [found] = reject_examples(f"{memory}/d", files, counters)
    assert found.texts == ["q -> a", "q", '{"answer": null}', "not json", "[1]"]


def test_a_payload_nested_too_deep_is_shown_as_it_is(memory):
    deep = '{"question": ' + "[" * 50_000
    files, counters = write(memory, [("read", "invalid_json", deep)])
    [found] = reject_examples(f"{memory}/d", files, counters)
    assert found.texts == [deep]
