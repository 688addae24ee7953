import json

import pyarrow.parquet as pq
import pytest

from schemas.artifacts.dataset import open_dataset

SECRET = "jo.secret@example.org"
ROWS = [
    {"question": f"please send my bill to {SECRET}", "answer": "In the app"},
    {"question": "please send my bill to al@example.org", "answer": "In the app"},
    {"question": "please send my bill to my address", "answer": "In the app"},
    {"question": f"what is {SECRET}", "answer": "An address"},
    {"question": f"{SECRET} is not answered", "answer": None},
    {"question": "how do I reach you", "answer": "Write to help@example.org"},
    {"question": "how can I reach you", "answer": "Write to help@example.org"},
]


def everything(folder):
    """Return all texts of an artefact: those of its tables, which are compressed, and its other files."""
    files = [path for path in folder.rglob("*") if path.is_file()]
    return " ".join(
        str(pq.read_table(path).to_pylist()) if path.suffix == ".parquet" else path.read_bytes().decode()
        for path in files
    )


@pytest.fixture
def made(qpr, tmp_path):
    def make(*options):
        lines = [json.dumps(row) for row in ROWS]
        (tmp_path / "log.jsonl").write_text("\n".join([*lines, f'{{"question": "{SECRET}", broken']) + "\n")
        outcome = qpr(
            "clusters", tmp_path / "log.jsonl", "--output", tmp_path / "d", "--max-reject-ratio", "1", *options
        )
        assert outcome.code == 0, outcome.err
        return everything(tmp_path / "d"), outcome

    return make


def test_an_address_that_was_asked_is_in_no_file_of_the_dataset_and_is_counted(made):
    texts, outcome = made()
    assert "secret" not in texts
    assert "al@example.org" not in texts
    assert "please send my bill to [email]" in texts
    assert "help@example.org" in texts
    assert "replaced email" in outcome.out


def test_all_texts_or_none_can_be_replaced(made):
    assert "help@example.org" not in made("--scrub", "all")[0]
    texts, outcome = made("--scrub", "off", "--overwrite")
    assert SECRET in texts
    assert "replaced" not in outcome.out


@pytest.mark.parametrize("options", [(), ("--min-users", 2)])
def test_the_column_of_the_answers_as_their_ids_compares_the_texts_and_is_written_nowhere_else(
    qpr, write_jsonl, tmp_path, options
):
    reply = "Write to help@example.org"
    texts = [("how do i pay", reply), ("how can i pay", f"{reply.upper()} "), ("?!", reply), ("", f"{reply} and wait")]
    rows = [
        {"question": text, "reply": answer, "answer_id": "1", "user_id": user}
        for text, answer in texts
        for user in "ab"
    ]
    names = ("--column", "answer=reply", "--column", "answer_id=reply")
    given = (*names, "--scrub", "all", "--max-reject-ratio", 1, *options)
    outcome = qpr("clusters", write_jsonl("log.jsonl", rows), "--output", tmp_path / "d", *given)
    assert outcome.code == 0, outcome.err
    [cluster] = open_dataset(str(tmp_path / "d")).table("clusters").to_pylist()
    assert (cluster["size"], cluster["answer_id"]) == (2, None)
    written = everything(tmp_path / "d")
    assert "help@example.org" not in written.lower()
    assert options == () or "and wait" not in written
