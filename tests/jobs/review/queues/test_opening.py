import json
import typing

import pytest

from jobs.options.sample import Sample
from jobs.review.queues.clusters import size_class
from jobs.review.queues.interface import ITEM_COLUMNS, QUESTIONS, VERDICTS
from jobs.review.queues.opening import open_queue
from jobs.review.queues.rules import RULES
from jobs.review.settings import Kind, ReviewSettings
from jobs.workflows.cluster_sample import sample_clusters
from pipelines.calibration.verdicts.verdict_file import cluster_name
from schemas.errors import QprError, UsageError


@pytest.fixture
def dataset(make_dataset, tmp_path):
    make_dataset(tmp_path / "data", [[f"how do I pay {n} {word}" for word in "abc"[: 2 + n % 2]] for n in range(30)])
    return str(tmp_path / "data")


@pytest.mark.parametrize("seed", [0, 5])
def test_each_sample_of_qpr_sample_is_a_prefix_of_the_clusters(dataset, seed):
    queue = open_queue(dataset, ReviewSettings(seed=seed))
    names = [queue.item(place).name for place in range(30)]
    for count in (1, 7, 30):
        sample = sample_clusters(dataset, Sample(clusters=count, seed=seed))
        assert [cluster_name(cluster["cluster_id"]) for cluster in sample] == names[:count]
        shown = [(line.text, line.events) for line in queue.item(count - 1).lines]
        assert shown == [(q["text"], q["events"]) for q in sample[-1]["questions"]]
    assert [queue.places[name] for name in names] == list(range(30))
    assert "c0" not in queue.places
    assert (queue.source.items, queue.source.questions, queue.source.largest) == (30, 75, 3)


def test_clusters_in_chunks_are_the_same(dataset, monkeypatch):
    whole = [open_queue(dataset, ReviewSettings()).item(place) for place in range(30)]
    monkeypatch.setattr("jobs.review.queues.clusters._AT_A_TIME", 7)
    queue = open_queue(dataset, ReviewSettings())
    assert [queue.item(place) for place in reversed(range(30))] == whole[::-1]


def test_classes_of_size():
    assert [size_class(size) for size in (2, 3, 5, 6, 20, 21)] == [
        "2 questions", "3 to 5", "3 to 5", "6 to 20", "6 to 20", "over 20",
    ]  # fmt: skip


def answer(question, reason="below_confidence", **more):
    hit = {"text": "pay my bill", "answer": "in the app", "question_id": "1"}
    return {"question": question, "answered": False, "reason": reason, "answer_id": "7", "hit": hit, **more}


@pytest.fixture
def requests(write_jsonl):
    rows = [answer(f"request {n}") for n in range(20)]
    rows += [answer("exact", "exact"), answer("nothing", "no_hit", hit=None), answer("the time", "no_answer")]
    rows += [answer("request 3")]
    return str(write_jsonl("requests.jsonl", rows))


def test_requests_without_an_answer_to_judge_are_left_out(requests):
    queue = open_queue(None, ReviewSettings(queue="requests", requests=requests))
    items = [queue.item(place) for place in range(queue.source.items)]
    asked = sorted(item.lines[0].text for item in items)
    assert asked == sorted([*(f"request {n}" for n in range(20)), "request 3"])
    assert len({item.name for item in items}) == 21
    assert {item.answer for item in items} == {"in the app"}
    other = open_queue(None, ReviewSettings(queue="requests", requests=requests, seed=1))
    assert [other.item(place).name for place in range(21)] != [item.name for item in items]
    assert all(item.name in other.places for item in items)


def test_requests_have_the_values_they_were_asked_with(write_jsonl):
    values = {"locale": "de", "tenant": "acme"}
    rows = [answer("with", filters=values, **values), answer("without"), answer("of a column", filters="de")]
    queue = open_queue(None, ReviewSettings(queue="requests", requests=str(write_jsonl("requests.jsonl", rows))))
    items = {item.lines[0].text: item for item in map(queue.item, range(3))}
    assert (items["with"].filters, items["with"].asked_for) == (values, "locale: de, tenant: acme")
    assert items["without"].filters == items["of a column"].filters == {}
    assert items["without"].asked_for == ""


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("no json\n", "line 1 is no JSON"),
        (json.dumps(["a"]) + "\n", "line 1 is no answer"),
        (json.dumps({"question": "q", "hit": 7}) + "\n", "line 1 is no answer"),
        (json.dumps(answer("q", "exact")) + "\n", "has no answer to judge"),
    ],
    ids=["text", "list", "number", "exact"],
)
def test_a_file_without_answers_is_refused(tmp_path, content, words):
    (tmp_path / "requests.jsonl").write_text(content)
    with pytest.raises(QprError, match=words):
        open_queue(None, ReviewSettings(queue="requests", requests=str(tmp_path / "requests.jsonl")))


@pytest.mark.parametrize("table", [VERDICTS, QUESTIONS, RULES, ITEM_COLUMNS])
def test_every_kind_of_queue_has_verdicts_a_question_rules_and_a_column_of_items(table):
    assert table.keys() == set(typing.get_args(Kind))


@pytest.mark.parametrize(
    ("dataset_given", "settings", "words"),
    [
        (None, {}, "--queue clusters: give --dataset, whose clusters are judged; only --report needs none"),
        ("data", {"requests": "r.jsonl"}, "--requests with --queue requests only. Add --queue requests"),
        ("data", {"queue": "requests", "requests": "r.jsonl"}, "without --dataset"),
        (None, {"queue": "requests"}, "--requests FILE"),
        (None, {"queue": "requests", "requests": "r.csv"}, r"must end in \.jsonl"),
    ],
    ids=["nothing", "both", "dataset", "no-file", "csv"],
)
def test_each_queue_needs_its_source(dataset_given, settings, words):
    with pytest.raises(UsageError, match=words):
        open_queue(dataset_given, ReviewSettings(**settings))


def test_a_dataset_without_clusters_is_refused(make_dataset, tmp_path):
    make_dataset(tmp_path / "data", [], alone=["alone"])
    with pytest.raises(QprError, match=r"has no cluster.*lists the reasons"):
        open_queue(str(tmp_path / "data"), ReviewSettings())
