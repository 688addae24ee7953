import io
import json
import shlex
import subprocess
import sys

import pytest

from schemas.text import hash64, question_id
from tests.support.commands import run


def stdin(content):
    return io.TextIOWrapper(io.BytesIO(content))


@pytest.fixture
def index(folder, make_model, make_dataset):
    if not (folder / "index").exists():
        make_model(folder / "model")
        clusters = [["pay my bill", "how do I pay"], ["cancel my flight", "cancel [bold] flight"]]
        make_dataset(folder / "data", clusters, alone=["what is this"])
        given = ("--questions", folder / "data", "--model", folder / "model", "--output", folder / "index")
        assert run("index", *given, "--shards", 2) == 0
    return folder / "index"


def test_json_is_one_object_a_question_with_ranked_hits(index, capsys):
    assert run("search", "--index", index, "--k", 3, "--json", "pay my bill", "cancel my flight") == 0
    first, second = map(json.loads, capsys.readouterr().out.splitlines())
    assert (first["question"], second["question"]) == ("pay my bill", "cancel my flight")
    assert [hit["rank"] for hit in first["hits"]] == [1, 2, 3]
    best = first["hits"][0]
    assert best["probability"] is None
    assert best["why"] == {
        "shared_words": ["pay", "my", "bill"],
        "dense_rank": 1,
        "lexical_rank": None,
        "contributions": {},
        "guard": None,
    }
    assert best["question_id"] == str(question_id("pay my bill"))  # a JSON number would be rounded
    assert (best["text"], best["answer"]) == ("pay my bill", "answer c0")
    assert best["cluster_id"] == str(hash64("c0"))
    assert [hit["why"]["dense_rank"] for hit in first["hits"]] == [1, 2, 3]
    assert "score" not in best  # a distance is no probability


def test_a_question_without_cluster_has_nulls(index, capsys):
    run("search", "--index", index, "-k", 1, "--json", "what is this")
    [hit] = json.loads(capsys.readouterr().out)["hits"]
    assert (hit["text"], hit["answer"], hit["cluster_id"]) == ("what is this", None, None)


def test_a_person_gets_a_table_with_markup_shown_as_text(index, capsys):
    assert run("search", "--index", index, "--k", 2, "cancel [bold] flight") == 0
    shown = capsys.readouterr().out
    assert "cancel [bold] flight" in shown
    assert "answer c1" in shown
    assert shown.count("[bold]") == 2  # the question and its first hit


def test_the_table_gives_the_reasons_for_each_hit(index, capsys):
    assert run("search", "--index", index, "--k", 2, "how to pay my bill?") == 0
    rows = [line for line in capsys.readouterr().out.splitlines() if "answer c0" in line]
    assert any("pay my bill, nearest 1" in row or "how pay, nearest 1" in row for row in rows)
    assert run("search", "--index", index, "--k", 1, "Pay my bill!") == 0
    assert "the same question" in capsys.readouterr().out


def test_stdin_is_one_question_a_line(index, capsys, monkeypatch):
    monkeypatch.setattr("sys.stdin", stdin(b"pay my bill\r\ncancel my flight\n" * 200))
    assert run("search", "--index", index, "--k", 1, "--json") == 0
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert len(lines) == 400
    assert {(line["question"], line["hits"][0]["text"]) for line in lines} == {
        ("pay my bill", "pay my bill"),
        ("cancel my flight", "cancel my flight"),
    }


def test_a_question_without_a_word_gets_no_hits_and_a_note(index, capsys, monkeypatch):
    monkeypatch.setattr("sys.stdin", stdin(b"\n?!\n"))
    assert run("search", "--index", index, "--json") == 0
    printed = capsys.readouterr()
    assert [json.loads(line) for line in printed.out.splitlines()] == [
        {"question": "", "hits": []},
        {"question": "?!", "hits": []},
    ]
    assert "'?!': no word to search by" in printed.err


def test_a_person_gets_no_table_of_no_hits(index, capsys):
    assert run("search", "--index", index, "?!") == 0
    notes = "the index has no confidence model, so hits have no probability\n"
    assert capsys.readouterr() == ("", notes + "warning: '?!': no word to search by\n")


def test_a_question_with_a_word_is_reported_as_not_found(index, capsys):
    assert run("search", "--index", index, "--mode", "exact", "hi") == 0
    assert "warning: 'hi': no question of the index was found\n" in capsys.readouterr().err


@pytest.mark.parametrize(("mode", "warned"), [("exact", True), ("bm25", True), ("dense", False), ("fusion", False)])
def test_probes_of_a_search_without_vectors_are_a_warning(index, capsys, mode, warned):
    assert run("search", "--index", index, "--mode", mode, "--probes", 3, "pay my bill") == 0
    assert (f"warning: --probes has no effect: mode {mode}" in capsys.readouterr().err) == warned


def test_a_line_that_is_not_utf8_is_named_after_those_before_it_were_answered(index, capsys, monkeypatch):
    monkeypatch.setattr("sys.stdin", stdin(b"\xef\xbb\xbfpay my bill\n" * 256 + b"caf\xe9\n"))
    assert run("search", "--index", index, "-k", 1, "--json") == 1
    out, err = capsys.readouterr()
    assert [json.loads(line)["hits"][0]["text"] for line in out.splitlines()] == ["pay my bill"] * 256
    assert "standard input: line 257 is not UTF-8" in err


def test_an_argument_that_is_not_utf8_is_wrong_usage(index, capsys):
    assert run("search", "--index", index, "caf\udce9") == 2  # how Python hands over a byte that is no text
    assert "the question is not UTF-8" in capsys.readouterr().err


def test_as_many_hits_as_there_are_questions_are_the_most(index, capsys, monkeypatch):
    monkeypatch.setattr("jobs.display.text_input.HITS", 12)  # two questions of five hits at a time
    monkeypatch.setattr("sys.stdin", stdin(b"pay my bill\n" * 5))
    assert run("search", "--index", index, "-k", 10**12, "--json") == 0
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [len(line["hits"]) for line in lines] == [5] * 5


def test_what_could_drive_a_terminal_is_left_out_of_the_table(index, capsys):
    assert run("search", "--index", index, "-k", 1, "pay\x1b[31m my bill") == 0
    assert "\x1b" not in capsys.readouterr().out


def test_without_standard_input_there_is_no_question(index, capsys, monkeypatch):
    monkeypatch.setattr("sys.stdin", None)
    assert run("search", "--index", index) == 2
    assert "no question" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("--index", "nowhere", "a"), 1, "nowhere: not an index: it does not exist"),
        (("--k", "0", "a"), 2, "--k"),
        (("--probes", "0", "a"), 2, "--probes"),
        (("--k", "-1", "a"), 2, "error: --k: must be at least 1."),
        (("--filter", "locale", "a"), 2, "--filter locale: has no value. Write --filter locale=VALUE"),
        ((), 2, "no question: give one as an argument or one a line on stdin"),
    ],
)
def test_mistakes_are_named(index, capsys, monkeypatch, arguments, code, message):
    monkeypatch.setattr("sys.stdin", stdin(b""))
    given = ("search", *arguments) if "--index" in arguments else ("search", "--index", index, *arguments)
    assert run(*given) == code
    assert message in " ".join(capsys.readouterr().err.split())


@pytest.mark.parametrize("question", ["-what", "-how do I pay", "--what is this", "-key lost", "-5 degrees"])
def test_the_error_for_a_question_with_a_leading_dash_names_two_dashes(index, qpr, question):
    outcome = qpr("search", "--index", index, question)
    assert (outcome.code, outcome.out) == (2, "")
    assert f"If {question!r} is a question, write -- before it: … -- {shlex.quote(question)}" in outcome.err
    assert qpr("search", "--index", index, "--json", "--", question).code == 0


def test_other_wrong_usage_does_not_mention_dashes(index, qpr):
    assert "write -- before it" not in qpr("search", "--index", index, "--k", "0", "pay").err
    assert qpr("search", "--index", index, "-k5", "--json", "pay").code == 0


UNUSED = ["torch", "apache_beam", "pandas", "scipy", "sklearn", "matplotlib", "jinja2", "leather", "numba", "fsspec"]


def test_a_search_imports_no_library_that_it_does_not_use(index):
    code = (
        "import sys; from jobs.cli import main\n"
        f"try: main(['search', '--index', {str(index)!r}, 'pay'])\n"
        "except SystemExit: pass\n"
        f"print([name for name in {UNUSED} if name in sys.modules])"
    )
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert "pay my bill" in printed
    assert printed.splitlines()[-1] == "[]"


def test_the_help_imports_no_library_for_data():
    code = (
        "import sys; from jobs.cli import main\n"
        "try: main(['--help'])\n"
        "except SystemExit: pass\n"
        "print([name for name in ('numpy', 'pyarrow', 'pydantic', 'fsspec', 'faiss') if name in sys.modules])"
    )
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert printed.splitlines()[-1] == "[]"
