import pytest

from jobs.options.columns import column_names
from schemas.errors import UsageError

KNOWN = ("question", "answer_id")


def test_each_column_is_named_once_in_any_order():
    assert column_names(["answer_id=ref", "question=a=b c"], known=KNOWN) == {"answer_id": "ref", "question": "a=b c"}
    assert column_names(None, known=KNOWN) == {}


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (["question"], "--column question: must be a name and a column of the files, such as question=query"),
        (["question="], "--column question=: must be a name"),
        (["=q"], "--column =q: must be a name"),
        (["questions=q"], "--column questions=q: there is no questions. Name one of question, answer_id"),
        (["question=q", "question=r"], "--column question=r: question is q already. Leave one out"),
    ],
)
def test_a_value_that_names_no_column_is_wrong_usage(given, message):
    with pytest.raises(UsageError) as caught:
        column_names(given, known=KNOWN)
    assert str(caught.value).startswith(message)


def test_an_older_option_prints_what_to_give_and_does_not_go_with_the_new_one(capsys):
    assert column_names([], known=KNOWN, answer_id="ref", question=None) == {"answer_id": "ref"}
    assert capsys.readouterr().err == "--answer-id-column will go: give --column answer_id=ref\n"
    with pytest.raises(UsageError, match="answer_id is ref already"):
        column_names(["answer_id=x"], known=KNOWN, answer_id="ref")


@pytest.mark.parametrize("command", ["clusters", "index"])
def test_older_options_are_read_and_hidden(qpr, tmp_path, command):
    path = tmp_path / "f.csv"
    path.write_text("q,a\nhow,so\n")
    files = [path] if command == "clusters" else ["--questions", path, "--model", "nowhere"]
    outcome = qpr(command, *files, "--output", tmp_path / "o", "--question-column", "wrong")
    assert outcome.code == 1
    assert outcome.err.startswith("--question-column will go: give --column question=wrong\n")
    assert "no column wrong" in outcome.err
    assert "--question-column" not in qpr(command, "--help").out
