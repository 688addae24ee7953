"""Datasets of rows from a pipeline of one's own, as the page about it shows."""

import json
import re
from pathlib import Path

import pyarrow as pa
import pytest
from apache_beam.options.pipeline_options import StandardOptions

from pipelines.graphs import from_tables
from pipelines.graphs.from_logs import read_asked
from pipelines.graphs.from_tables import count_rows
from pipelines.graphs.settings import ClustersConfig
from pipelines.privacy.settings import Privacy
from pipelines.questions.settings import Validation
from pipelines.reading.sources import only_file
from schemas.artifacts.dataset import open_dataset
from schemas.errors import UsageError
from schemas.tables import QA_LOG

TEXTS = ("when does the {} open", "what time does the {} open", "opening time of the {}", "mail a@b.example, {}")
WORDS = ("moon", "garden", "river", "engine", "castle", "market")
ROWS = [
    {"utterance": text.format(word), "reply": f"The {word} opens at nine.", "lang": "en-GB"}
    for word in WORDS
    for text in TEXTS
    for _ in range(3)
]
TABLES = ("questions", "clusters", "pairs")
PAGE = Path(__file__).parents[3] / "docs" / "beam.md"


def code_of(page):
    [program] = re.findall(r"^```python\n(.*?)^```", page.read_text(), re.MULTILINE | re.DOTALL)
    return program


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = [*ROWS, {"utterance": "?!", "reply": "nothing", "lang": "en-GB"}]
    (tmp_path / "events.txt").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return tmp_path


def test_the_settings_of_the_page_are_those_of_the_configuration():
    [made] = re.findall(r"^\| settings .*?`(ClustersConfig\(.+\))`", PAGE.read_text(), re.MULTILINE)
    validation = eval(made, {"ClustersConfig": ClustersConfig, "Validation": Validation}).validation
    assert (validation.min_confidence, validation.locale) == (0.5, "en-GB")


def test_the_program_of_the_page_makes_the_dataset_of_the_command(qpr, folder, monkeypatch):
    monkeypatch.setattr(StandardOptions, "DEFAULT_RUNNER", "FnApiRunner")  # Beam's own one tries to download a runner
    program = code_of(PAGE).replace('url="dataset"', 'url=Path("dataset")')
    exec(compile(program, "beam.md", "exec"), {"__name__": "beam_page", "Path": Path})
    names = ("--column", "question=utterance", "--column", "answer=reply", "--column", "locale=lang")
    (folder / "events.jsonl").write_text((folder / "events.txt").read_text())
    assert qpr("clusters", "events.jsonl", "--output", "by_command", "--shards", 8, *names).code == 0
    made, expected = open_dataset("dataset"), open_dataset("by_command")
    for table in TABLES:
        assert made.table(table).num_rows > 0
        assert made.table(table).equals(expected.table(table)), table
    assert made.manifest.counters == expected.manifest.counters
    written = [json.loads(line) for line in (folder / "clusters.txt").read_text().splitlines()]
    clusters = made.table("clusters").to_pylist()
    assert sorted(written) == sorted([cluster["answer"], *cluster["texts"]] for cluster in clusters)
    assert qpr("train", "--dataset", "dataset", "--output", "model", "--dry-run").code == 0


@pytest.mark.parametrize("privacy", [Privacy(), Privacy(scrub="all"), Privacy(min_users=2)])
@pytest.mark.parametrize("validation", [Validation(), Validation(locale="en-GB", min_confidence=0.5)])
def test_rows_of_a_table_count_as_those_of_a_file(tmp_path, validation, privacy):
    names = ("question", "answer", "user_id", "locale", "confidence")
    cells = [
        ("mail a@b.example", "to c@d.example", "Ada", "en-GB", 0.9),
        ("pay", "here", "Bob", "de-DE", 0.9),
        ("pay", "here", None, None, 0.1),
        ("?!", "", "Ada", "en-GB", None),
    ]
    given = [dict(zip(names, row, strict=True)) for row in cells]
    (tmp_path / "log.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in given))
    of_file = list(read_asked(only_file(str(tmp_path / "log.jsonl"), option="file"), {}, validation, privacy))
    of_table = list(count_rows(pa.Table.from_pylist(given, schema=QA_LOG), validation, privacy))
    assert len(of_file) == len(of_table)
    for one, other in zip(of_file, of_table, strict=True):
        assert getattr(one, "tag", None) == getattr(other, "tag", None)
        assert getattr(one, "value", one) == getattr(other, "value", other)


@pytest.mark.parametrize("text", [pa.large_string(), pa.string_view(), pa.dictionary(pa.int32(), pa.string())])
def test_tables_of_other_libraries_count_as_those_of_a_log(text):
    rows = [{"question": "pay", "answer": "here", "locale": "de"}, {"question": None, "answer": "x", "locale": "de"}]
    table = pa.Table.from_pylist(rows, schema=QA_LOG)
    names = ["locale", "answer", "question"]
    other = table.select(names).cast(pa.schema([(name, text) for name in names]))
    expected, found = (list(count_rows(given, Validation(), Privacy())) for given in (table, other))
    assert [getattr(one, "value", one) for one in found] == [getattr(one, "value", one) for one in expected]


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"question": ["a"], "reply": ["b"]}, "lacks column answer; there are question, reply. Rename"),
        ({"question": ["a"], "answer": ["b"], "timestamp": ["soon"]}, "column timestamp of type string cannot be read"),
    ],
)
def test_a_table_that_is_no_log_is_named(columns, message):
    with pytest.raises(UsageError, match=message):
        list(count_rows(pa.table(columns), Validation(), Privacy()))


def test_rows_with_much_text_are_counted_in_parts(monkeypatch):
    rows = [{"question": f"how do i pay bill {n % 7}", "answer": f"answer {n % 3}" * 9} for n in range(40)]
    table = pa.Table.from_pylist(rows, schema=QA_LOG)
    whole = [*count_rows(table, Validation(), Privacy())]
    monkeypatch.setattr(from_tables, "PART_BYTES", 500)
    parts = [*count_rows(table, Validation(), Privacy())]
    assert len(parts) > len(whole) == 2

    def events(found):
        tables = [asked for asked in found if isinstance(asked, pa.Table)]
        counted = pa.concat_tables(tables).group_by(["text", "answer_id"]).aggregate([("events", "sum")])
        return sorted(map(str, counted.to_pylist()))

    assert events(parts) == events(whole)
    assert sum(part.value.counts["rows_read"] for part in parts if not isinstance(part, pa.Table)) == 40
    assert all(part.nbytes < 5000 for part in parts if isinstance(part, pa.Table))
