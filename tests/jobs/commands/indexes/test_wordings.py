"""Confidence models of indexes without validation clusters: learned from the wordings that share an answer."""

import json
from types import SimpleNamespace

import pyarrow as pa
import pytest

from jobs.workflows.confidence import counts_of
from model.confidence.confidence import Confidence
from model.confidence.features import NAMES
from model.confidence.saved_confidence import FILE
from model.confidence.wordings import examples_of_answers, topics, wordings_of
from model.evaluation.relevance import judgements
from model.search.searcher import open_searcher
from schemas.artifacts.manifest import read_manifest
from schemas.text import answer_key
from tests.jobs.commands.indexes.test_confidence import CLUSTERS, THINGS
from tests.support.csv_files import write_csv

ROWS = [
    {"question": text, "answer": f"Answer {number}.", "tenant": "acme"}
    for number, texts in enumerate(CLUSTERS)
    for text in texts
]
OTHERS = [row | {"answer": f"Globex: {row['answer']}", "tenant": "globex"} for row in ROWS[:60]]
SINGLE = [{"question": "who are you", "answer": "A bot.", "tenant": "acme"}]


@pytest.fixture
def build(folder, make_model, qpr):
    """Return a function that builds an index of rows, once for each name, and returns its folder."""
    if not (folder / "model").exists():
        make_model(folder / "model", words=("pay", "cancel", "find", *THINGS), encoder="subword", dimension=16)

    def indexed(name, rows, *options):
        if not (folder / name).exists():
            file = write_csv(folder / f"{name}.csv", rows)
            given = ("--questions", file, "--model", folder / "model", "--output", folder / name, "--json")
            done = qpr("index", *given, *options)
            assert done.code == 0, done.err
            (folder / f"{name}.err").write_text(done.err)
        return folder / name

    return indexed


@pytest.fixture
def faq(build):
    return build("faq", ROWS + SINGLE)


@pytest.fixture
def tenants(build):
    return build("tenants", ROWS + SINGLE + OTHERS, "--vary-by", "tenant")


def confidence_digest(url):
    [file] = read_manifest(str(url)).of("confidence")
    return file.path.rpartition("/")[2], file.sha256


def examples_at(url):
    index = open_searcher(str(url)).index
    wordings = wordings_of(index)
    judged = judgements(wordings)
    done = []
    found = examples_of_answers(index, wordings, judged, counts_of(index), on_queries=done.append)
    assert done[-1] == len(judged)
    return index, judged, found


def test_a_table_with_several_wordings_of_its_answers_gives_hits_probabilities(qpr, faq):
    manifest = read_manifest(str(faq))
    assert (manifest.counters["confidence_queries"], manifest.counters["confidence_answers"]) == (108, 36)
    assert manifest.distributions["confidence"]["auc"] > 0.6
    assert confidence_digest(faq)[0] == FILE
    found = json.loads(qpr("search", "--index", faq, "um how do i pay my bill", "--json", "--k", 3).out)["hits"]
    assert all(0 <= hit["probability"] <= 1 for hit in found)
    assert "modes" in manifest.configuration


def test_hits_with_one_answer_are_judged_as_one_cluster(faq, monkeypatch):
    searcher, seen = open_searcher(str(faq), mode="dense"), []
    judge = Confidence.judge
    monkeypatch.setattr(Confidence, "judge", lambda self, *given: seen.append(given[3]) or judge(self, *given))
    one, few, many = (searcher.search("um how do i pay my bill", k) for k in (1, 20, 80))
    assert seen[0] == seen[1] == [answer_key(None, hit.answer) for hit in few]
    probabilities = [hit.probability for hit in many[:20]]  # over 64 hits other code computes the features
    assert [hit.probability for hit in few] == pytest.approx(probabilities, abs=1e-12)
    assert one == few[:1]


def test_the_order_of_rows_and_the_number_of_shards_do_not_matter(build, faq):
    turned = build("turned", [*reversed(ROWS + SINGLE)], "--shards", 3)
    assert confidence_digest(turned) == confidence_digest(faq)


@pytest.mark.parametrize(
    ("name", "rows", "there"),
    [
        ("few", ROWS[:9], "3 answers with two wordings or more, 9 wordings in all"),
        ("short", ROWS[:30], "10 answers with two wordings or more, 30 wordings in all"),
        ("single", ROWS[::3], "0 answers with two wordings or more, 0 wordings in all"),
        ("unanswered", [{"question": row["question"]} for row in ROWS], "0 answers with two wordings or more"),
    ],
)
def test_too_few_wordings_are_reported_and_give_no_model(build, folder, name, rows, there):
    index = build(name, rows)
    error = (folder / f"{name}.err").read_text()
    assert f"no confidence model, so hits have no probability: {there}" in error
    assert "; 5 answers and 100 wordings are needed" in error
    assert not read_manifest(str(index)).of("confidence")


def test_answers_that_equal_questions_of_other_tenants_join_are_too_few(build, folder):
    general = [row | {"answer": "Ask us.", "tenant": "globex"} for row in ROWS[::3]]
    index = build("joined", ROWS + general, "--vary-by", "tenant")
    error = (folder / "joined.err").read_text()
    assert "answers with a common wording, as of several tenants, count once, 1 in all; 5 are needed" in error
    assert "split validation" not in error
    assert not read_manifest(str(index)).of("confidence")


def test_each_wording_is_searched_with_its_values_and_without_itself(tenants):
    index, judged, found = examples_at(tenants)
    assert (len(judged), len(found.right)) == (168, 336)
    assert not found.right[168:].any()
    # Each question of globex is in acme too: a distance of 0 would be the query itself, or a row of the other tenant.
    assert (found.table[:, 0, NAMES.index("distance")][found.there[:, 0]] > 0).all()
    assert (found.table[:, :, NAMES.index("alone")][found.there] == 0).all()  # every row has an answer
    assert found.right[:168].sum(axis=1).max() == 2
    values = index.questions(index.rows_of(judged.ids))["tenant"].to_pylist()
    assert (values.count("acme"), values.count("globex")) == (108, 60)


def test_equal_questions_of_two_tenants_are_in_one_fold(tenants):
    _, judged, found = examples_at(tenants)
    groups = {}
    for text, group in zip(judged.texts.to_pylist(), found.groups.tolist(), strict=False):
        groups.setdefault(text, set()).add(group)
    assert {len(of_text) for of_text in groups.values()} == {1}
    assert len(set(found.groups.tolist())) == len(CLUSTERS)


def test_wordings_are_the_questions_of_an_answer_within_equal_values():
    rows = pa.table(
        {"question_id": range(6), "text": [*"abcdef"], "answer": ["Yes.", None, "yes.", "Yes.", "No.", "Yes."]}
    )
    rows = rows.append_column("answer_id", pa.nulls(6, pa.string()))
    rows = rows.append_column("tenant", pa.array(["acme", "acme", "acme", "globex", "globex", "initech"]))
    index = SimpleNamespace(tables=lambda: [rows[:2], rows[2:]], settings=SimpleNamespace(vary_by=("tenant",)))
    assert wordings_of(index)["texts"].to_pylist() == [["a", "c"]]
    index.settings.vary_by = None
    assert wordings_of(index)["texts"].to_pylist() == [["a", "c", "d", "f"]]


def test_topics_join_wordings_by_answer_and_by_question():
    wordings = pa.table({"answer": ["a", "b", "c"], "question_ids": [[1, 2], [3, 4], [5, 6]]})
    table = wordings.append_column("texts", pa.array([["pay", "bill"], ["Pay?", "rent"], ["car", "bus"]]))
    number = dict(zip(judgements(table).texts.to_pylist(), topics(table, judgements(table)).tolist(), strict=True))
    assert number["pay"] == number["bill"] == number["Pay?"] == number["rent"] != number["car"] == number["bus"]


def test_hits_of_an_index_that_varies_have_probabilities(qpr, tenants):
    options = ("--index", tenants, "--filter", "tenant=globex", "--json", "um how do i pay my bill")
    hits = json.loads(qpr("search", *options).out)["hits"]
    assert all(0 <= hit["probability"] <= 1 for hit in hits)
    answer = json.loads(qpr("answer", *options).out)
    assert (answer["reason"], answer["probability"]) == ("no_certificate", hits[0]["probability"])


def test_an_answer_with_more_wordings_than_can_be_left_out_is_not_learned_from(faq, monkeypatch):
    index = open_searcher(str(faq)).index
    for removed, answers in ((2, 36), (1, 0)):  # three wordings each
        monkeypatch.setattr("model.confidence.wordings.REMOVED", removed)
        assert len(wordings_of(index)) == answers
