import shlex

import pytest

from jobs.workflows.next_steps import FEW_QUESTIONS, STATIC_WINS, next_steps

FULL = {f"clusters_{split}": 5 for split in ("train", "validation", "test")}


def lines(questions, **clusters):
    return next_steps("my data", {"members_train": questions} | FULL | clusters)


def test_a_large_dataset_is_trained_on():
    assert lines(STATIC_WINS) == [
        "Next: qpr sample --dataset 'my data'; qpr train --dataset 'my data' --output MODEL",
    ]


def test_a_smaller_one_is_trained_on_from_published_vectors(monkeypatch):
    for found in (object(), None):
        monkeypatch.setattr("importlib.util.find_spec", lambda name: found)  # noqa: B023
        first, hint = lines(STATIC_WINS - 1)
        assert first.endswith("qpr train --dataset 'my data' --preset static --output MODEL")
        few = lines(FEW_QUESTIONS - 1)[-1]
        assert [text.endswith("pip install '.[static]'") for text in (hint, few)] == [found is None] * 2


def test_vectors_of_english_words_are_not_advised_for_another_script():
    scripts = {"script_hangul_kept": 900, "script_latin_kept": 100}
    [line] = lines(1_000, **scripts)
    assert line.endswith("qpr train --dataset 'my data' --output MODEL")
    assert not any("static" in text for text in lines(FEW_QUESTIONS - 1, **scripts))
    assert len(lines(1_000, script_hangul_kept=100, script_latin_kept=900)) == 2


@pytest.mark.parametrize(
    ("questions", "missing", "said"),
    [
        (FEW_QUESTIONS - 1, (), "199 questions in clusters are too few"),
        (5_000, ("test",), "No cluster in split test"),
        (5_000, ("validation", "test"), "No cluster in split validation or test"),
    ],
)
def test_a_dataset_that_is_too_small_to_learn_from_or_to_measure_on(questions, missing, said):
    found = lines(questions, **{f"clusters_{split}": 0 for split in missing})
    text = "\n".join(found)
    assert found[0] == "Next: qpr sample --dataset 'my data'"
    assert said in text
    assert "qpr index --questions 'my data' --model st:FOLDER --output INDEX" in text
    assert "--preset static" in text


@pytest.mark.parametrize(
    ("salt", "advised"),
    [(None, "a split. More answers fill it"), ("7", "a split. More answers, or --split-salt 7, fill it")],
)
def test_an_empty_split_is_filled_by_a_salt_if_one_leaves_none_empty(salt, advised):
    text = "\n".join(next_steps("d", {"members_train": 5_000} | FULL | {"clusters_test": 0}, lambda: salt))
    assert advised in text


def test_nothing_is_trained_without_a_train_split():
    assert "qpr train" not in "\n".join(lines(5_000, clusters_train=0))


def test_an_empty_split_of_labelled_pairs_is_filled_by_pairs():
    counters = {"members_train": 5_000, "positive_edges": 9_000} | FULL | {"clusters_test": 0}
    text = "\n".join(next_steps("pairs", counters))
    assert "No cluster in split test: --held-out-pairs allows it a tenth of all pairs at most" in text
    assert "answer" not in text


@pytest.fixture
def build(qpr, tmp_path, make_model, monkeypatch):
    """Return a function that indexes the lines of a CSV file and returns the words of the command that is advised."""
    monkeypatch.chdir(tmp_path)
    make_model(tmp_path / "model")

    def build(*lines, options=()):
        (tmp_path / "faq.csv").write_text("\n".join(lines) + "\n")
        outcome = qpr("index", "--questions", "faq.csv", "--model", "model", "--output", "an index", *options)
        assert outcome.code == 0, outcome.err
        [advice] = [line for line in outcome.err.splitlines() if line.startswith("Next: ")]
        return shlex.split(advice.removeprefix("Next: "))[1:]

    return build


def test_the_search_that_is_advised_after_indexing_finds_its_question(qpr, build):
    rows = ("where is it's bill,a,9", f"{'pay ' * 30},a,9", "who pays my bill,a,3", "--which bill,a,1")
    advised = build("question,answer,events", *rows)
    assert advised == ["search", "--index", "an index", "who pays my bill"]  # asked most of those that are typed easily
    assert "the same question" in qpr(*advised).out


def test_a_question_that_begins_with_a_dash_follows_after_two(qpr, build):
    advised = build("question,answer", "--which bill,a")
    assert advised[-2:] == ["--", "--which bill"]
    assert "the same question" in qpr(*advised).out


def test_the_search_that_is_advised_has_values_that_find_a_valid_answer(qpr, build):
    lines = ("question,answer,locale,until", "old bill,a,de,2020-01-01", "new bill,a,fr CA,2999-01-01")
    advised = build(*lines, options=("--vary-by", "locale", "--valid-until", "until"))
    assert advised[3:] == ["--filter", "locale=fr CA", "new bill"]
    assert "the same question" in qpr(*advised).out


def test_the_search_that_is_advised_finds_an_answer_where_there_is_one(build):
    advised = build("question,answer,events", "what time is it,,9", "who pays my bill,a,3", "which bill,,5")
    assert advised[-1] == "who pays my bill"
    assert build("question", "what time is it", options=("--overwrite",))[-1] == "what time is it"
