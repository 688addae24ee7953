import json
import typing

import pyarrow as pa
import pytest

from jobs.display import console
from jobs.options.inputs import LogFiles, PairFiles, check_inputs, check_users, warn_of_partial_columns
from pipelines.reading.headers.columns import Column
from pipelines.reading.reader import _READERS
from pipelines.reading.sources import FORMATS, Format, Source, expand
from schemas.errors import UsageError, WrongColumnsError

COLUMNS = [Column("question", pa.string()), Column("answer", pa.string())]


@pytest.fixture
def files_of(tmp_path):
    def write(*headers):
        for number, header in enumerate(headers):
            (tmp_path / f"{number}.csv").write_text(f"{header}\n" + ",".join("abc"[: header.count(",") + 1]) + "\n")
        return expand([str(tmp_path / "*.csv")])

    return write


@pytest.mark.parametrize(
    ("headers", "names"),
    [
        (["question,answer", "query,reply"], {}),
        (["question,answer", "query,reply"], {"question": "query", "answer": "reply"}),
        (["query,reply", "query,reply", "question,answer"], {}),
    ],
)
def test_files_with_different_columns_need_no_option_that_the_others_lack(files_of, headers, names):
    with pytest.raises(WrongColumnsError) as raised:
        check_inputs(files_of(*headers), COLUMNS, names)
    assert "there are" in str(raised.value)
    assert "csv has the columns. An option names a column of all files: rename" in str(raised.value)
    assert "--column" not in str(raised.value)


def test_files_that_all_lack_a_column_need_an_option(files_of):
    with pytest.raises(WrongColumnsError, match=r"0\.csv: .*Add: --column question=query --column answer=reply$"):
        check_inputs(files_of("query,reply", "query,reply"), COLUMNS)


@pytest.mark.parametrize(
    ("headers", "names", "absent"),
    [
        (["question,answer"], {}, []),
        (["question,answer", "question,answer"], {}, []),
        (["question,answer_id", "question,answer_id"], {}, []),
        (["question,answer_id", "question,answer"], {}, ["answer_id"]),
        (["question,ref", "question,answer_id"], {"answer_id": "ref"}, ["answer_id"]),
        (["question,timestamp", "question,answer_id"], {}, ["answer_id", "timestamp"]),
        (["question,locale", "question,answer"], {}, []),
    ],
)
def test_columns_of_some_files_alone_are_reported(files_of, capsys, monkeypatch, headers, names, absent):
    monkeypatch.setattr(console, "_warnings", [])
    warn_of_partial_columns(check_inputs(files_of(*headers), COLUMNS[:1]), names)
    console.emit({"warnings": ["of the run"]}, as_json=True, table=str)
    found = json.loads(capsys.readouterr().out)["warnings"]
    assert [warning.split(" in 1 of 2 files, ")[0] for warning in found] == [
        *(f"no column {name}" for name in absent),
        "of the run",
    ]


def test_every_format_has_an_ending_a_reader_and_a_place_in_the_help():
    formats = set(typing.get_args(Format))
    assert formats == {*FORMATS.values()} == {*_READERS}
    for files in (LogFiles, PairFiles):
        assert all(f".{name}" in files.__metadata__[0].help for name in formats)


def test_files_whose_columns_are_known_are_not_read_again_for_user_ids(tmp_path):
    source = Source(str(tmp_path / "gone.jsonl"), 0, "jsonl")
    check_users([source], {source.url: ["question", "who"]}, {"user_id": "who"}, ["--min-users"])
    check_users([source], {source.url: ["question"]}, {}, [])
    with pytest.raises(UsageError, match=r"--min-users: users cannot be counted\. .*gone\.jsonl"):
        check_users([source], {source.url: ["question", "who"]}, {}, ["--min-users"])
