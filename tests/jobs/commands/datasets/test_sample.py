import csv
import io
import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import rich.console
from hypothesis import given
from hypothesis import strategies as st

from jobs.display.safe_text import markdown_text, printable
from jobs.display.sample_formats import markdown, one_row_a_question, terminal_table
from jobs.workflows.cluster_sample import draw, with_counts
from schemas.artifacts import storage
from schemas.artifacts.writer import Output
from schemas.tables import CLUSTERS, QUESTIONS, SPLITS
from schemas.text import hash64
from tests.support.commands import run


def cluster(number: int, texts: list[str] | None = None, **changes) -> dict:
    texts = texts or [f"question {number} a", f"question {number} b"]
    scores = {"coherence": 0.5, "adjusted_coherence": 0.25, "idf_coherence": 0.125}
    ids = [10 * number + i for i in range(len(texts))]
    return {
        "cluster_id": number,
        "answer_hash": number,
        "answer": f"answer {number}",
        "split": SPLITS[number % 3],
        "size": len(texts),
        "events": 9,
        **scores,
        "question_ids": ids,
        "texts": texts,
        **changes,
    }


def clusters(*rows: dict) -> pa.Table:
    return pa.Table.from_pylist(list(rows), schema=CLUSTERS)


def publish(url: str, *rows: dict) -> str:
    """Write a dataset in which the question with id i was asked i % 10 + 1 times."""
    questions = [
        {"question_id": i, "key": text, "text": text, "events": i % 10 + 1, "cluster_id": row["cluster_id"]}
        for row in rows
        for i, text in zip(row["question_ids"], row["texts"], strict=True)
    ]
    output = Output(url, "dataset", overwrite=True)
    files = []
    for name, table in (
        ("questions", pa.Table.from_pylist(questions, schema=QUESTIONS)),
        ("clusters", clusters(*rows)),
    ):
        sink = io.BytesIO()
        pq.write_table(table, sink)
        files.append(output.write(f"{name}-0.parquet", sink.getvalue(), table=name, rows=len(table)))
    output.publish(files, inputs=[], configuration={}, counters={})
    return url


@pytest.fixture
def dataset(tmp_path) -> str:
    return publish(str(tmp_path / "dataset"), *(cluster(number) for number in range(30)))


@given(
    st.lists(st.integers(-(2**63), 2**63 - 1), unique=True, max_size=12),
    st.integers(1, 5),
    st.integers(0, 3),
    st.data(),
)
def test_the_sample_is_the_smallest_hashes_whatever_the_order_and_the_parts(ids, count, seed, data):
    shuffled = data.draw(st.permutations(ids))
    cut = data.draw(st.integers(0, len(ids)))
    parts = [clusters(*(cluster(1, cluster_id=i) for i in some)) for some in (shuffled[:cut], shuffled[cut:])]
    sample, available = draw(parts, count=count, order=f"{seed}")
    assert sample["cluster_id"].to_pylist() == sorted(ids, key=lambda i: hash64(f"{seed}:{i}"))[:count]
    assert available == len(ids)


def test_only_clusters_of_the_split_are_drawn():
    parts = [clusters(*(cluster(n) for n in range(9)))]
    sample, available = draw(parts, count=2, order="0", split="test")
    assert set(sample["cluster_id"].to_pylist()) < {2, 5, 8}
    assert (len(sample), available) == (2, 3)


def test_questions_are_counted_and_the_most_asked_comes_first():
    events = pa.table({"question_id": [10, 11, 99], "events": [3, 8, 5]})
    counted = with_counts(clusters(cluster(1, ["a", "b", "c"])), [events.slice(0, 1), events.slice(1)])
    assert counted[0]["questions"] == [
        {"text": "b", "events": 8},
        {"text": "a", "events": 3},
        {"text": "c", "events": 0},  # 12 is in no part
    ]


def test_csv_rows_repeat_the_cluster_for_each_question():
    rows = one_row_a_question(with_counts(clusters(cluster(1), cluster(2)), []))
    assert rows["cluster_id"].to_pylist() == [1, 1, 2, 2]
    assert rows["question"].to_pylist()[2] == "question 2 a"
    assert one_row_a_question([]).num_rows == 0


def shown(sample: list[dict], **options) -> str:
    console = rich.console.Console(width=120, file=io.StringIO())
    console.print(terminal_table(sample, **options))
    return console.file.getvalue()


def test_long_lists_are_cut_with_a_note_in_terminal_and_markdown():
    sample = with_counts(clusters(cluster(1, ["a", "b", "c"])), [])
    for text in (shown(sample, shown=2), markdown(sample, shown=2)):
        assert "... and 1 more" in text
    for text in (shown(sample, shown=3), markdown(sample, shown=3)):
        assert "more" not in text


def test_a_right_to_left_answer_stays_left_of_its_questions():
    sample = with_counts(clusters(cluster(1, ["متى تجمع النفايات؟", "b"], answer="يوم الأحد")), [])
    row = next(line for line in shown(sample, shown=2).splitlines() if "يوم الأحد" in line)
    assert "\u200e" in row[row.index("يوم الأحد") : row.index("×")]


def test_markup_and_control_characters_are_shown_not_obeyed():
    nasty = "[bold]a|b[/] \x1b[31mred\n<b>*x*"
    sample = with_counts(clusters(cluster(1, [nasty, "b"], answer=None)), [])
    terminal = shown(sample, shown=5)
    assert "[bold]a|b[/]" in terminal
    assert "\x1b[31m" not in terminal
    assert "(no answer)" in terminal
    assert all(score in terminal for score in ("paper 0.50", "adjusted 0.25", "idf 0.12", "2 questions, validation"))
    row = next(line for line in markdown(sample, shown=5).splitlines() if "bold" in line)
    assert row == r"| 0 | \[bold\]a\|b\[/\] \[31mred \<b\>\*x\* |"


@given(st.text())
def test_escaped_text_is_one_line_and_its_pipes_are_escaped(text):
    assert len(markdown_text(text).splitlines()) <= 1
    assert markdown_text(text).count("|") == markdown_text(text).count(r"\|") == text.count("|")
    assert printable(printable(text)) == printable(text)


def test_every_format_holds_the_same_clusters_in_the_same_order(dataset, tmp_path, capsys):
    options = ("--dataset", dataset, "--clusters", "5")
    assert run("sample", *options, "--json") == 0
    told = json.loads(capsys.readouterr().out)
    ids = [int(row["cluster_id"]) for row in told["clusters"]]
    assert ids == sorted(range(30), key=lambda i: hash64(f"0:{i}"))[:5]
    assert told["clusters"][0]["questions"][0]["events"] == 2  # ids end in 0 and 1: asked once and twice
    assert run("sample", *options, "--format", "csv") == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert [int(row["cluster_id"]) for row in rows[::2]] == ids
    path = str(tmp_path / "sample.parquet")
    assert run("sample", *options, "--format", "parquet", "--output", path, "--json") == 0
    assert json.loads(capsys.readouterr().out) == {"output": path, "clusters": 5, "questions": 10, "warnings": []}
    assert pq.read_table(path)["cluster_id"].to_pylist()[::2] == ids
    assert run("sample", *options, "--format", "markdown") == 0
    sections = capsys.readouterr().out.split("\n## ")[1:]
    assert [section.splitlines()[2].rsplit(" ", 1)[1] for section in sections] == [str(i) for i in ids]
    assert run("sample", *options) == 0
    table = capsys.readouterr().out
    places = [table.index(f"answer {i} ") for i in ids]
    assert places == sorted(places)


def test_another_seed_gives_another_sample_and_the_same_seed_the_same_bytes(dataset, tmp_path):
    for name, seed in (("a", "1"), ("b", "1"), ("c", "2")):
        options = ("--format", "parquet", "--output", str(tmp_path / name), "--seed", seed, "--clusters", "5")
        assert run("sample", "--dataset", dataset, *options) == 0
    a, b, c = (storage.read_bytes(str(tmp_path / name)) for name in "abc")
    assert a == b != c


def test_fewer_clusters_than_requested_are_all_shown_with_a_note(dataset, capsys):
    assert run("sample", "--dataset", dataset, "--split", "test", "--json") == 0
    told = capsys.readouterr()
    assert len(json.loads(told.out)["clusters"]) == 10
    assert "10 clusters, fewer than the 200" in told.err
    assert run("sample", "--dataset", dataset, "--clusters", "30", "--json") == 0
    assert "fewer" not in capsys.readouterr().err


@pytest.mark.parametrize(("form", "lines"), [("table", 0), ("csv", 1), ("markdown", 1)])
def test_no_cluster_is_an_empty_result_and_a_message(tmp_path, capsys, form, lines):
    assert run("sample", "--dataset", publish(str(tmp_path / "d")), "--format", form) == 0
    told = capsys.readouterr()
    assert "holds no cluster" in told.err
    assert len(told.out.splitlines()) == lines


@pytest.mark.parametrize(("name", "form"), [("s.csv", "csv"), ("s.md", "markdown"), ("s.parquet", "parquet")])
def test_the_end_of_its_name_gives_the_format_of_a_file(dataset, tmp_path, name, form):
    by_name, by_option = tmp_path / name, tmp_path / f"sample of {form}"
    assert run("sample", "--dataset", dataset, "--output", str(by_name)) == 0
    assert run("sample", "--dataset", dataset, "--output", str(by_option), "--format", form) == 0
    assert by_name.read_bytes() == by_option.read_bytes()


@pytest.mark.parametrize(
    ("extra", "code", "message"),
    [
        (("--format", "parquet"), 2, "--output"),
        (("--split", "dev"), 2, "validation"),
        (("--output", "OUT"), 2, "its name ends in no known format. Give --format, one of markdown, csv, parquet"),
        (("--format", "csv", "--output", "TAKEN"), 1, "--overwrite"),
        (("--format", "parquet", "--output", "sample.csv"), 2, "that of --format csv, not of parquet"),
        (("--format", "csv", "--json"), 2, "--json prints the sample as JSON"),
        (("--format", "csv", "--questions", "1"), 2, "--questions: shortens a table or Markdown"),
        (("--json", "--questions", "1"), 2, "--questions: shortens a table or Markdown"),
        (("--format", "pdf"), 2, "pdf"),
    ],
)
def test_mistakes_are_explained_in_a_line(dataset, tmp_path, capsys, extra, code, message):
    (tmp_path / "TAKEN").write_text("old")
    extra = tuple(str(tmp_path / word) if word.isupper() else word for word in extra)
    assert run("sample", "--dataset", dataset, *extra) == code
    told = capsys.readouterr()
    assert message in told.err
    assert told.out == ""
    assert (tmp_path / "TAKEN").read_text() == "old"


def test_a_folder_without_a_manifest_is_no_dataset_and_a_changed_file_is_noticed(dataset, tmp_path, capsys):
    (tmp_path / "empty").mkdir()
    assert run("sample", "--dataset", str(tmp_path / "empty")) == 1
    assert "manifest.json" in capsys.readouterr().err
    changed = next((tmp_path / "dataset").glob("*/clusters-0.parquet"))
    changed.write_bytes(changed.read_bytes()[:-1] + b"x")
    assert run("sample", "--dataset", dataset) == 1
    assert "sha256" in capsys.readouterr().err


@pytest.mark.parametrize(
    "more", [("--output", "OUT.md", "--json"), ("--output", "OUT.md"), ("--format", "markdown"), ()]
)
def test_a_table_and_markdown_may_show_fewer_questions(qpr, dataset, tmp_path, more):
    more = tuple(str(tmp_path / word) if word == "OUT.md" else word for word in more)
    assert qpr("sample", "--dataset", dataset, "--questions", 1, *more).code == 0
