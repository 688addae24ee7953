import json

import pytest

from jobs.options.text_lists import read_texts
from schemas.artifacts import storage
from schemas.artifacts.dataset import open_dataset
from schemas.artifacts.manifest import read_manifest
from schemas.errors import QprError, UsageError

ASKED = ["how do I pay my bill", "how pay my bill", "pay my bill"]


@pytest.fixture
def log(write_jsonl):
    good = [{"question": text, "answer": "In the app"} for text in ASKED]
    bad = [{"question": f"{text} now", "answer": "  SORRY, what?"} for text in ASKED]
    by_id = [{"question": "who am I", "answer": "Who knows", "answer_id": "fallback-7"}]
    return write_jsonl("log.jsonl", good + bad + by_id)


def rejects(url):
    table = open_dataset(url).table("rejected").to_pylist()
    return sorted((row["stage"], row["reason"], json.loads(row["payload"])["question"]) for row in table)


@pytest.mark.parametrize("given", [["Sorry, what?", "fallback-7"], ["@FILE"]])
def test_rows_with_an_ignored_answer_or_id_are_rejects(qpr, log, memory, given):
    storage.write_bytes(f"{memory}/ignored.txt", "\ufeffsorry, WHAT?\n\nfallback-7\n".encode())
    values = [value.replace("@FILE", f"@{memory}/ignored.txt") for value in given]
    options = [part for value in values for part in ("--ignore-answer", value)]
    outcome = qpr("clusters", log, "--output", f"{memory}/d", *options)
    assert outcome.code == 0, outcome.err  # 4 of 7 rows, but --max-reject-ratio is about rows nobody asked to reject
    ignored = ["how do I pay my bill now", "how pay my bill now", "pay my bill now", "who am I"]
    assert rejects(f"{memory}/d") == [("validate", "ignored_answer", text) for text in ignored]
    counters = read_manifest(f"{memory}/d").counters
    assert counters["rejected_validate_ignored_answer"] == 4
    assert counters["rows_read"] == counters["rows_kept"] + counters["rows_rejected"] == 7


def test_a_file_name_without_its_mark_is_an_answer(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "README").write_text("other\n")
    assert read_texts(["README"], option="--o") == ("README",)
    assert read_texts(["b", "@README", "b"], option="--o") == ("b", "other")


def test_a_line_ends_with_a_line_feed_only(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    texts = ("a\u2028b", "c\x85d", "e\x0bf\x0cg", "h\x1ci")
    (tmp_path / "a.txt").write_bytes("\r\n".join(texts).encode())
    assert read_texts(["@a.txt"], option="--o") == texts


@pytest.mark.parametrize(
    ("value", "content", "error", "message"),
    [
        ("a \udcff", None, UsageError, r"--ignore-answer b'a \\xff': is not UTF-8"),
        ("  ", None, UsageError, "--ignore-answer is blank"),
        ("@none.txt", None, QprError, "none.txt"),
        ("@a.txt", b"\n \n", QprError, "a.txt: contains no text for --ignore-answer"),
        ("@a.txt", b"\xff\xfe", QprError, "a.txt: --ignore-answer reads UTF-8"),
    ],
)
def test_what_is_no_answer_is_refused(tmp_path, monkeypatch, value, content, error, message):
    monkeypatch.chdir(tmp_path)
    if content is not None:
        (tmp_path / "a.txt").write_bytes(content)
    with pytest.raises(error, match=message):
        read_texts([value], option="--ignore-answer")


def test_a_text_that_the_locale_has_decoded_stays(monkeypatch):
    monkeypatch.setattr("os.fsencode", lambda text: text.encode("latin-1", "surrogateescape"))
    assert read_texts(["où"], option="--o") == ("où",)
    assert read_texts(["o\udcc3\udcb9"], option="--o") == ("où",)
