"""An existing FAQ, in every format, from a file to an answer."""

import csv
import gzip
import io
import itertools
import json
import re
import shlex
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from qpr import open_searcher
from schemas.artifacts.dataset import open_dataset
from schemas.artifacts.manifest import read_manifest

FAQ = [
    {
        "question": "How do I pay my bill?",
        "answer": "Online.",
        "answer_id": "A-1",
        "cluster_id": 2**62 + 1,
        "events": 5,
    },
    {
        "question": "Cancel my flight",
        "answer": 'Call "us",\nplease',
        "answer_id": "A-2",
        "cluster_id": None,
        "events": 1,
    },
    {"question": "¿Puedo pagar en euros?", "answer": "Sí", "answer_id": None, "cluster_id": -7, "events": None},
    {"question": "how do I pay my bill", "answer": "By post.", "answer_id": "A-3", "cluster_id": 4, "events": 4},
    {"question": "?!", "answer": "nothing", "answer_id": None, "cluster_id": None, "events": None},
]
FOUND = ("text", "answer", "answer_id", "cluster_id", "events")
PACKED = {"": lambda content: content, ".gz": gzip.compress, ".zst": pa.Codec("zstd").compress}


def delimited(rows, delimiter):
    sink = io.StringIO(newline="")
    writer = csv.DictWriter(sink, list(rows[0]), delimiter=delimiter)
    writer.writeheader()
    writer.writerows(rows)
    return sink.getvalue().encode()


def written(rows, kind):
    if kind == "parquet":
        sink = io.BytesIO()
        pq.write_table(pa.Table.from_pylist(rows), sink)
        return sink.getvalue()
    if kind == "jsonl":
        return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode()
    return delimited(rows, {"csv": ",", "tsv": "\t"}[kind])


@pytest.fixture
def index(qpr, tmp_path, model):
    """Return a function that indexes a file and gives the result, which is the index's JSON, and what was said."""
    numbers = itertools.count()

    def make(*questions, options=()):
        folder = tmp_path / f"index-{next(numbers)}"
        given = [part for name in questions for part in ("--questions", name)]
        outcome = qpr("index", *given, "--model", model, "--output", folder, "--json", *options)
        assert outcome.code == 0, outcome.err
        return json.loads(outcome.out), outcome.err

    return make


def search(qpr, result, question):
    return json.loads(qpr("search", "--index", result["index"], "-k", 1, "--json", question).out)["hits"][0]


def rejected(result):
    table = open_parts(result["index"])
    return sorted((row["stage"], row["reason"], row["payload"]) for row in table)


def open_parts(url):
    files = read_manifest(url, "index").of("rejected")
    return [row for file in files for row in pq.read_table(f"{url}/{file.path}").to_pylist()]


@pytest.mark.parametrize(
    "ending", [f"{kind}{packed}" for kind in ("csv", "tsv", "jsonl") for packed in PACKED] + ["parquet"]
)
def test_a_faq_in_any_format_is_answered_with_all_that_it_holds(qpr, index, tmp_path, ending):
    kind, _, packed = ending.partition(".")
    (tmp_path / f"faq.{ending}").write_bytes(PACKED[f".{packed}" if packed else ""](written(FAQ, kind)))
    result, said = index(tmp_path / f"faq.{ending}")
    assert result["counters"] == {
        "columns_ignored": 0,
        "questions_read": 5,
        "questions_indexed": 3,
        "questions_merged": 1,
        "questions_rejected": 1,
        "rejected_merge_other_answer": 1,
        "rejected_validate_no_word": 1,
    }
    for row in FAQ[:3]:
        hit = search(qpr, result, row["question"])
        expected = {name: row[name.replace("text", "question")] for name in FOUND}
        expected["cluster_id"] = None if row["cluster_id"] is None else str(row["cluster_id"])
        assert {name: hit[name] for name in FOUND} == expected
    other = {**dict(list(FAQ[3].items())[:3]), "cluster_id": "4", "events": 4}
    assert rejected(result) == [
        ("merge", "other_answer", json.dumps(other)),
        ("validate", "no_word", json.dumps({"question": "?!", "answer": "nothing"})),
    ]
    assert "not indexed, and in the index's table rejected: 1 row (1 no_word)" in said
    assert "table rejected: 1 row with another answer" in said


def test_rows_without_an_answer_placeholders_and_entities_are_counted_and_named(qpr, index, tmp_path):
    texts = ["Online.", "NULL", "<p></p>", "Fish &amp; chips", "Deleted.", "[deleted]"]
    rows = [{"question": f"what is thing {n}", "answer": text} for n, text in enumerate(texts)]
    table = tmp_path / "faq.csv"
    table.write_bytes(delimited([*rows, {"question": "Total &#931;", "answer": " "}], ","))
    result, said = index(table)
    counters = {"rows_without_answer": 1, "rows_with_placeholder": 3, "html_entities_answer": 1}
    assert counters.items() <= result["counters"].items()
    assert "no answer in 1 row of tables; `qpr answer` abstains" in said
    [placeholders, entities] = (text for text in result["warnings"] if "no confidence model" not in text)
    assert placeholders.startswith("a text such as NULL, which stands for a missing answer, in 3 rows of tables")
    assert "in the questions of 14.3 % of the rows and in the answers of 14.3 %" in entities
    added = tmp_path / "more.csv"
    added.write_bytes(delimited([{"question": "what is another", "answer": "N/A"}], ","))
    outcome = qpr("index", "--output", result["index"], "--add", added, "--json")
    assert outcome.code == 0, outcome.err
    [warning] = json.loads(outcome.out)["warnings"]
    assert "in 1 row of tables" in warning


def test_a_row_with_the_id_of_its_answer_alone_is_answered_by_that(qpr, index, tmp_path):
    (tmp_path / "ids.csv").write_text("question,answer,answer_id\nhow are you,fine,a\nwho is it,,b\nthe total,,\n")
    result, said = index(tmp_path / "ids.csv")
    assert result["counters"]["rows_without_answer"] == 1
    assert "no answer in 1 row of tables" in said
    for question, answered in (("who is it", True), ("the total", False)):
        answer = json.loads(qpr("answer", "--index", result["index"], "--json", question).out)
        assert (answer["answered"], answer["answer"]) == (answered, None)


def test_a_list_of_questions_without_answers_has_no_note_about_them(index, tmp_path):
    (tmp_path / "list.csv").write_text("question\nhow are you\nwho is it\n")
    result, said = index(tmp_path / "list.csv")
    assert result["counters"]["rows_without_answer"] == 2
    assert "no answer in" not in said


def test_the_index_depends_neither_on_the_number_of_shards_nor_on_the_order_of_the_rows(qpr, index, tmp_path):
    for name, rows in (("a", FAQ), ("b", FAQ[::-1])):
        (tmp_path / f"{name}.csv").write_bytes(delimited(rows, ","))
    one, same = index(tmp_path / "a.csv"), index(tmp_path / "b.csv")
    assert one[0]["digest"] == same[0]["digest"]
    results = [index(tmp_path / "a.csv", options=("--shards", shards))[0] for shards in (1, 3)]
    assert rejected(results[0]) == rejected(results[1]) == rejected(one[0])
    found = [[search(qpr, result, row["question"]) for row in FAQ[:4]] for result in (one[0], *results)]
    assert found[0] == found[1] == found[2]


def test_columns_of_other_names_are_read_and_columns_without_a_place_are_named(qpr, index, tmp_path):
    (tmp_path / "faq.csv").write_text("title,reply,times,url,lang\nPay my bill,Online,7,http://a,en\n")
    options = ("--column", "question=title", "--column", "answer=reply", "--column", "events=times")
    result, said = index(tmp_path / "faq.csv", options=options)
    hit = search(qpr, result, "pay my bill")
    assert (hit["text"], hit["answer"], hit["events"]) == ("Pay my bill", "Online", 7)
    assert "faq.csv: ignored columns: url, lang. An index keeps question, answer, " in said
    assert result["ignored_columns"] == ["lang", "url"]
    assert result["counters"]["columns_ignored"] == 2


def test_a_dataset_and_a_faq_make_one_index(qpr, index, tmp_path, make_dataset):
    make_dataset(tmp_path / "data", [["pay my bill", "how do I pay"]])
    (tmp_path / "faq.csv").write_text("question,answer,events\nPay my bill!,Online,100\ncancel my flight,Call,1\n")
    result, _ = index(tmp_path / "data", tmp_path / "faq.csv")
    assert result["counters"]["questions_indexed"] == 3
    assert search(qpr, result, "pay my bill")["answer"] == "Online"
    assert len(open_dataset(str(tmp_path / "data")).table("questions")) == 2
    [(_, reason, payload)] = rejected(result)
    assert (reason, json.loads(payload)["answer"]) == ("other_answer", "answer c0")


@pytest.mark.parametrize(
    ("name", "content", "options", "code", "message"),
    [
        ("faq.csv", "title,answer\na,b\n", (), 1, "no column question; there are title, answer. Add"),
        ("faq.csv", "question\na\n", ("--column", "answer=reply"), 1, "no column reply; there are question."),
        (
            "faq.txt",
            "question\na\n",
            (),
            1,
            "faq.txt: its name shows no known format. Rename it to end in one of .jsonl",
        ),
        (
            "faq.csv",
            "question,answer\n?!,a\n,b\n",
            (),
            1,
            "no question with a word to index (1 empty_question, 1 no_word)",
        ),
        ("faq.csv", "question\na\n", ("--questions", "{folder}/faq.csv"), 2, "--questions: a file is given twice"),
    ],
)
def test_a_table_that_cannot_be_indexed_is_named(qpr, tmp_path, model, name, content, options, code, message):
    (tmp_path / name).write_text(content)
    given = ("--questions", tmp_path / name, "--model", model, "--output", tmp_path / "i")
    outcome = qpr("index", *given, *(option.format(folder=tmp_path) for option in options))
    assert outcome.code == code
    assert message in outcome.err
    assert name in outcome.err or code == 2
    assert not (tmp_path / "i").exists()


def test_naming_a_column_of_a_dataset_is_wrong_usage(qpr, tmp_path, model, make_dataset):
    make_dataset(tmp_path / "data", [["pay", "bill"]])
    given = (
        "--questions",
        tmp_path / "data",
        "--model",
        model,
        "--output",
        tmp_path / "i",
        "--column",
        "question=text",
    )
    outcome = qpr("index", *given)
    assert outcome.code == 2
    assert "--column question=text: maps a column of a file, but --questions has datasets only" in outcome.err


def test_a_faq_as_a_spreadsheet_saves_it_is_read_with_its_delimiter_and_encoding(qpr, tmp_path, model):
    path = tmp_path / "faq.csv"
    path.write_bytes("Frage;Antwort\nWie kündige ich?;Im Konto über „Kündigen“\n".encode("cp1252"))
    given = ("index", "--questions", path, "--model", model, "--output", tmp_path / "i", "--encoding", "cp1252")
    outcome = qpr(*given, "--column", "question=Frage", "--column", "answer=Antwort")
    assert outcome.code == 0, outcome.err
    assert [hit.answer for hit in open_searcher(str(tmp_path / "i")).search("Wie kündige ich?")] == [
        "Im Konto über „Kündigen“"
    ]


def test_one_file_by_two_spellings_is_refused(qpr, tmp_path, model):
    (tmp_path / "faq.csv").write_text("question,answer\npay,bill\n")
    given = ("--questions", tmp_path / "faq.csv", "--questions", f"{tmp_path}/../{tmp_path.name}/faq.csv")
    outcome = qpr("index", *given, "--model", model, "--output", tmp_path / "i")
    assert (outcome.code, "a file is given twice" in outcome.err) == (2, True)


def test_the_commands_and_the_program_of_the_page_run(qpr, tmp_path, model, monkeypatch, capsys):
    page = (Path(__file__).parents[4] / "docs" / "faq.md").read_text()
    commands, training, changes, exports = re.findall(r"^```sh\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    program, of_langchain = re.findall(r"^```python\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    monkeypatch.chdir(tmp_path)
    Path("encoder").symlink_to(model)
    (tmp_path / "faq.csv").write_bytes(delimited(FAQ, ","))
    for line in commands.splitlines():
        outcome = qpr(*shlex.split(line)[1:])
        assert outcome.code == 0, outcome.err
    assert "Online." in outcome.out
    assert qpr(*shlex.split(training.splitlines()[0])[1:], "--dry-run").code == 0
    (tmp_path / "new.csv").write_text("question,answer\nwhere are you,In Ulm.\n")
    (tmp_path / "old.csv").write_text("question\nwhere are you\n")
    for line in changes.splitlines():
        outcome = qpr(*shlex.split(line)[1:])
        assert outcome.code == 0, outcome.err
    exec(compile(program, "faq.md", "exec"), {})
    printed = capsys.readouterr().out.splitlines()
    assert [line[0] for line in printed if line[0].isdigit()] == ["1", "2", "3"]
    assert "A-1" in printed[0]
    assert qpr(*shlex.split(exports.splitlines()[0])[1:]).code == 0
    caches = pytest.importorskip("langchain_core.globals", reason="needs langchain-core")
    exec(compile(of_langchain, "faq.md", "exec"), {})
    assert caches.get_llm_cache().lookup("How do I cancel?", "") is None
    caches.set_llm_cache(None)


def test_the_answers_of_a_faq_are_suggested_with_its_questions(qpr, tmp_path, model):
    path = tmp_path / "faq.csv"
    path.write_text("Frage;Antwort\nWas kostet das?;Nichts, und zwar immer.\n", encoding="utf-8")
    outcome = qpr("index", "--questions", path, "--model", model, "--output", tmp_path / "i")
    assert outcome.code == 1
    assert "there are Frage, Antwort. Add: --column question=Frage --column answer=Antwort" in outcome.err
