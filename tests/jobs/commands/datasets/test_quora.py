import json

import pytest

from jobs.cli import main

HEADER = "id,qid1,qid2,question1,question2,is_duplicate\n"
ROWS = "0,1,2,How far is it?,How far?,1\n1,3,4,Who am I?,What is it?,0\n2,1,5,How far is it?,What distance is it?,1\n"


@pytest.fixture
def qpr(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)

    def run(content, *options, name="pairs.csv"):
        (tmp_path / name).write_bytes(content if isinstance(content, bytes) else content.encode())
        with pytest.raises(SystemExit) as left:
            main(["quora", name, "--output", "dataset", *options])
        captured = capsys.readouterr()
        return left.value.code, captured.out, " ".join(captured.err.split())

    return run


def test_json_prints_the_counters_on_stdout_alone(qpr):
    code, out, _ = qpr(HEADER + ROWS, "--json")
    counters = json.loads(out)["counters"]
    assert code == 0
    assert (counters["rows_kept"], counters["rows_positive"], counters["pairs_train"]) == (3, 2, 3)


def test_columns_in_another_order_and_no_ids_are_fine(qpr):
    code, out, _ = qpr('is_duplicate\tquestion2\tquestion1\r\n1\t"Why\nnot?"\tHow?\r\n', "--json", name="pairs.tsv")
    assert (code, json.loads(out)["counters"]["pairs_train"]) == (0, 1)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (HEADER + "0,1,2,a,b,0\n", "error: no positive pair: none of 1 usable row marks two different questions"),
        (HEADER, "pairs.csv: there is no row"),
        (HEADER + "0,1,2,a,b,yes\n", "1 of 1 row rejected, more than --max-reject-ratio 0.1 allows"),
        (
            "q1,q2,label\na,b,1\n",
            "no column question1, question2, is_duplicate; there are q1, q2, label. Add, with one of them for NAME: --",
        ),
        (HEADER + "0,1,2,a,b,yes\n" + ROWS, "1 of 4 rows rejected, more than --max-reject-ratio 0.1 allows"),
        (HEADER + "0,1,1,a,b,1\n" + ROWS, "Most were validate_self_pair (1)"),
        ("", "pairs.csv: the file is empty (0 bytes)"),
    ],
)
def test_unusable_input_is_one_readable_line_and_exit_code_one(qpr, content, message):
    code, out, err = qpr(content)
    assert (code, out) == (1, "")
    assert message in err
    assert "Traceback" not in err


def test_columns_of_other_names_are_mapped_by_the_options_that_the_error_names(qpr):
    names = {"qid1": "id_a", "qid2": "id_b", "question1": "title", "question2": "other title", "is_duplicate": "dup"}
    given = [word for ours, theirs in names.items() for word in ("--column", f"{ours}={theirs}")]
    code, out, _ = qpr("id,id_a,id_b,title,other title,dup\n" + ROWS, "--json", *given)
    assert (code, json.loads(out)["counters"]["qids"]) == (0, 5)
    _, plain, _ = qpr(HEADER + ROWS, "--json", "--overwrite")
    assert json.loads(out)["counters"] == json.loads(plain)["counters"]


def test_few_bad_rows_are_allowed_by_the_ratio(qpr):
    code, out, _ = qpr(HEADER + "0,1,1,a,b,1\n" + ROWS, "--json", "--max-reject-ratio", "0.25")
    assert (code, json.loads(out)["counters"]["rows_rejected"]) == (0, 1)


def test_an_output_that_exists_is_refused_unless_overwritten(qpr):
    assert qpr(HEADER + ROWS)[0] == 0
    code, _, err = qpr(HEADER + ROWS)
    assert code == 1
    assert "--overwrite" in err
    assert qpr(HEADER + ROWS, "--overwrite")[0] == 0


@pytest.mark.parametrize("flag", ["--no_such_option=1", "--direct_running_mode=multi_threading"])
def test_wrong_beam_options_are_wrong_usage(qpr, flag):
    code, _, err = qpr(HEADER + ROWS, "--", flag)
    assert code == 2
    assert flag.split("=")[0].lstrip("-") in err


def test_pairs_may_be_an_option_for_now_and_missing_ones_are_wrong_usage(tmp_path, capsys):
    (tmp_path / "pairs.csv").write_text((HEADER + ROWS).replace(",", ";"))
    given = ["--output", str(tmp_path / "dataset"), "--dry-run", "--json"]
    for pairs, code in ([["--pairs", str(tmp_path / "pairs.csv")], None], [[], 2]):
        with pytest.raises(SystemExit) as left:
            main(["quora", *pairs, *given])
        out, err = capsys.readouterr()
        assert (left.value.code or None) == code
        if code:
            assert "such as: qpr quora quora_duplicate_questions.tsv --output dataset" in " ".join(err.split())
        else:
            assert json.loads(out)["rows"] == 3
            assert err.startswith("--pairs will go: give the files as arguments\n")


def test_options_of_linkage_are_no_options_here(qpr):
    for option in ("--answers", "--linkage", "--min-probability", "--coherence", "--min-coherence"):
        code, _, err = qpr(HEADER + ROWS, option, "auto")
        assert (code, f"No such option: {option}" in err) == (2, True)
