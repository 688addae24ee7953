import gzip
import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from pipelines.reading.headers.columns import LOG_COLUMNS
from pipelines.reading.headers.row_lists import advise_conversion, find_row_list
from pipelines.reading.lines import MAX_ROW_BYTES
from pipelines.reading.reader import check_header, read
from pipelines.reading.sources import expand
from schemas.errors import QprError

ROWS = [{"question": f"How do I pay bill {n}?", "answer": "In the app."} for n in range(30)]


def advice_for(path):
    with pytest.raises(QprError) as caught:
        check_header(*expand([str(path)]), LOG_COLUMNS)
    return str(caught.value)


def follow(path, advice):
    """Run the command at the end of the advice, and return the rows that are read of its result."""
    [command] = re.findall(r"((?:jq|zcat) .*)$", advice, re.DOTALL)
    subprocess.run(command, shell=True, check=True, cwd=path.parent)
    [source] = expand([str(path.parent / command.rpartition(" > ")[2])])
    check_header(source, LOG_COLUMNS)
    return [row["question"] for batch in read(source, LOG_COLUMNS) for row in batch.rows.to_pylist()]


@pytest.mark.skipif(shutil.which("jq") is None, reason="jq is not installed")
@pytest.mark.parametrize(
    "content",
    [
        json.dumps(ROWS),
        json.dumps(ROWS, indent=2),
        "\n".join(json.dumps(row, indent=2) for row in ROWS),
        json.dumps({"tickets": ROWS, "count": 30, "next_page": None}),
        "\n".join(json.dumps({"tickets": ROWS[start : start + 15]}) for start in (0, 15)),
        json.dumps({"took": 3, "hits": {"total": {"value": 30}, "hits": ROWS}}),
        json.dumps({"my rows": ROWS}),
        json.dumps({r"""it's "our"; \(1) $HOME""": ROWS}),
    ],
)
def test_the_advised_command_writes_one_row_a_line(tmp_path, content):
    (tmp_path / "export of may.json").write_text(content)
    advice = advice_for(tmp_path / "export of may.json")
    assert follow(tmp_path / "export of may.json", advice) == [row["question"] for row in ROWS]
    (tmp_path / "export.json.gz").write_bytes(gzip.compress(content.encode()))
    advice = advice_for(tmp_path / "export.json.gz")
    assert "zcat" in advice
    assert follow(tmp_path / "export.json.gz", advice) == [row["question"] for row in ROWS]


@pytest.mark.skipif(shutil.which("jq") is None, reason="jq is not installed")
@pytest.mark.parametrize("name", ["-rf.jsonl", "it's; a\nname.jsonl", "rows.jsonl", "~/x.jsonl"])
def test_the_advised_command_reads_a_file_of_any_name_and_does_not_empty_it(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    (tmp_path / "home").mkdir()
    (path := Path(name).expanduser()).write_text(json.dumps(ROWS))
    assert follow(tmp_path / "x", advice_for(name)) == [row["question"] for row in ROWS]
    assert json.loads(path.read_text()) == ROWS


@pytest.mark.skipif(shutil.which("jq") is None, reason="jq is not installed")
def test_names_of_columns_are_no_commands_for_the_shell(tmp_path):
    name = "it's; touch pwned; '"
    (tmp_path / "x.jsonl").write_text(json.dumps({name: json.dumps({"text": "How do I pay?"})}))
    [command] = re.findall(r"by (jq .*fromjson')", advice_for(tmp_path / "x.jsonl"))
    written = subprocess.run(f"{command} x.jsonl", shell=True, check=True, cwd=tmp_path, capture_output=True).stdout
    assert json.loads(written) == {name: {"text": "How do I pay?"}}
    assert [path.name for path in tmp_path.iterdir()] == ["x.jsonl"]


@pytest.mark.skipif(shutil.which("jq") is None, reason="jq is not installed")
def test_the_list_of_a_line_that_is_too_long_has_to_be_named(tmp_path):
    (tmp_path / "x.json").write_text(json.dumps({"tickets": ROWS, "more": "a" * MAX_ROW_BYTES}))
    advice = advice_for(tmp_path / "x.json")
    assert "with its name for NAME: jq" in advice
    assert len(follow(tmp_path / "x.json", advice.replace(".NAME[]", ".tickets[]"))) == len(ROWS)


def test_the_messages_of_a_conversation_are_no_rows(tmp_path):
    messages = {"messages": [{"role": "user", "content": "How do I pay?"}, {"role": "bot", "content": "In the app."}]}
    (tmp_path / "x.jsonl").write_text("\n".join([json.dumps(messages)] * 3))
    assert "messages[0].FIELD" in advice_for(tmp_path / "x.jsonl")


def test_a_text_of_json_is_written_as_an_object_first(tmp_path):
    row = {"request": json.dumps({"text": "How do I pay?"}), "the reply": json.dumps([{"text": "In the app."}])}
    (tmp_path / "x.jsonl").write_text(json.dumps(row))
    advice = advice_for(tmp_path / "x.jsonl")
    assert """Of JSON in texts (request, the reply) no field is a column.""" in advice
    assert """jq -c '.request |= fromjson | ."the reply" |= fromjson'""" in advice


@pytest.mark.parametrize(
    ("sizes", "name"),
    [([10], "b"), ([9], None), ([19, 0], None), ([20, 0], "b"), ([], None)],
)
def test_a_list_of_rows_has_at_least_ten_objects_for_each_line(sizes, name):
    values = {"a": [["text"] * 99, 5], "b": [[{}] * size for size in sizes]}
    assert find_row_list(values, lines=max(1, len(sizes))) == name
    assert find_row_list({}, lines=1) is None


@pytest.mark.parametrize(
    ("url", "compression", "command"),
    [
        ("logs/x.json", None, "jq -c '.[]' logs/x.json > rows.jsonl"),
        ("s3://bucket/logs/x.json", None, "jq -c '.[]' x.json > rows.jsonl"),
        ("logs/x.json.gz", "gzip", "zcat logs/x.json.gz | jq -c '.[]' > rows.jsonl"),
        ("logs/x.json.zst", "zstd", "zstdcat logs/x.json.zst | jq -c '.[]' > rows.jsonl"),
    ],
)
def test_the_command_reads_a_local_file_at_its_path_and_that_of_a_url_by_its_name(url, compression, command):
    assert advise_conversion(b" [", url, compression, is_long=False) == f"Write one object per line: {command}"
    assert advise_conversion(b"question,answer", url, compression, is_long=False) is None
