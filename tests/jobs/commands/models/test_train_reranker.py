import json
import shutil

import pytest

from schemas.artifacts import storage
from schemas.artifacts.manifest import read_manifest
from schemas.artifacts.writer import CHECKPOINTS

VERBS = ["pay", "cancel", "find", "change", "print", "send"]
THINGS = ["bill", "flight", "card", "ticket"]


def clusters(split):
    about = [(verb, thing) for verb in VERBS for thing in THINGS]
    return [(split, [f"how do i {v} my {t}", f"{v} {t} please", f"i want to {v} the {t}"]) for v, t in about]


@pytest.fixture
def place(folder, tmp_path, qpr, make_model, make_training_data):
    if not (folder / "index").exists():
        make_model(folder / "model", encoder="subword", words=(*VERBS, *THINGS), dimension=4)
        make_training_data(folder / "data", clusters("validation"))
        given = ("--questions", folder / "data", "--model", folder / "model", "--output", folder / "index")
        assert qpr("index", *given).code == 0
    return shutil.copytree(folder, tmp_path, dirs_exist_ok=True)


@pytest.fixture
def five_epochs(monkeypatch):
    """Shorten the training where the reranker need not be good."""
    monkeypatch.setattr("model.reranking.fitting.EPOCHS", 5)


def learned(qpr, place, *more):
    given = ("--dataset", place / "data", "--index", place / "index", "--output", place / "reranker")
    return qpr("train-reranker", *given, "--json", *more)


def test_a_reranker_improves_the_order_of_hits_and_reports_it(place, qpr):
    told = json.loads(learned(qpr, place).out)
    assert told["queries"] == 72
    assert told["mrr_reranked"] > max(told["mrr_as_found"], 0.6)
    asked = ("evaluate", "--dataset", place / "data", "--index", place / "index", "--split", "validation", "--json")
    plain = json.loads(qpr(*asked).out)
    reranked = qpr(*asked, "--rerank", place / "reranker")
    better = json.loads(reranked.out)
    assert plain["per_question"]["mrr"] == pytest.approx(told["mrr_as_found"], abs=1e-3)
    assert better["per_question"]["mrr"] >= told["mrr_reranked"] - 0.02
    assert better["reranker"] == str(place / "reranker")
    warning = (
        f"warning: the figures are too good: the reranker {place / 'reranker'} learned from the validation queries"
    )
    assert warning in reranked.err
    assert (plain["queries_seen_in_training"], better["queries_seen_in_training"]) == (False, True)


@pytest.mark.usefixtures("five_epochs")
@pytest.mark.parametrize("reranked", [0.8, 0.7])
def test_a_reranker_that_orders_worse_than_the_index_is_a_warning(place, qpr, monkeypatch, reranked):
    measured = {"mrr_as_found": 0.75, "mrr_reranked": reranked}
    monkeypatch.setattr("jobs.workflows.training.reranking._measured", lambda *_: measured)
    assert ("warning: MRR with this reranker is 0.7, without it 0.75" in learned(qpr, place).err) == (reranked < 0.75)


@pytest.mark.usefixtures("five_epochs")
def test_all_parts_are_shown(place, qpr):
    shown = learned(qpr, place).err.splitlines()
    assert shown[0] == "gathering examples, queries: 72"
    parts = [*(f"fold {number} of 5" for number in range(1, 6)), "all queries"]
    assert [line.partition(":")[0] for line in shown[1:7]] == parts
    assert all(line.endswith("after 5 epochs") for line in shown[1:7])


@pytest.mark.usefixtures("five_epochs")
@pytest.mark.parametrize("after", [2, 27])  # of 5 steps of each of six parts
def test_stopped_and_resumed_it_gives_the_bytes_of_one_never_stopped(place, qpr, stopped, after):
    whole = learned(qpr, place, "--output", place / "whole")
    with stopped(after=after):
        outcome = learned(qpr, place, "--checkpoint-every", 1e-9)
    assert outcome.code == 143
    assert f"the checkpoint of epoch {after % 5 + 1}, step 0 stays; --resume continues from it" in outcome.err
    assert storage.children(str(place / "reranker")) == [CHECKPOINTS]
    refused = learned(qpr, place, "--resume", "--depth", 20)
    assert (refused.code, "--depth is 50 there and 20 here" in refused.err) == (1, True)
    resumed = learned(qpr, place, "--resume")
    assert resumed.code == 0, resumed.err
    assert resumed.err.count("continuing from the checkpoint") == after // 5 + 1
    one, other = json.loads(resumed.out), json.loads(whole.out)
    assert one | {"reranker": ""} == other | {"reranker": ""}
    digests = {read_manifest(str(place / name), "reranker").digest for name in ("reranker", "whole")}
    assert (len(digests), CHECKPOINTS in storage.children(str(place / "reranker"))) == (1, False)


def test_a_time_limit_writes_the_reranker_as_it_is(place, qpr):
    outcome = learned(qpr, place, "--max-minutes", 1e-9)
    assert outcome.code == 0, outcome.err
    assert outcome.err.count("at epoch 1 of 40, step 1 of 1; the learning rate fell to 0 by then") == 6
    assert json.loads(outcome.out)["ending"] == "time over"
    assert qpr("search", "--index", place / "index", "--rerank", place / "reranker", "pay a bill").code == 0


@pytest.mark.usefixtures("five_epochs")
def test_search_shows_its_order_and_the_ranks_before_it(place, qpr, monkeypatch):
    monkeypatch.chdir(place)
    assert learned(qpr, place, "--with", "model").code == 0
    monkeypatch.chdir("/")  # its encoder is found from any working folder
    found = qpr("search", "--index", place / "index", "--rerank", place / "reranker", "--json", "-k", 3, "pay a bill")
    [line] = map(json.loads, found.out.splitlines())
    assert "bill" in line["hits"][0]["text"]
    ranks = [hit["why"]["dense_rank"] for hit in line["hits"]]
    assert len(set(ranks)) == 3
    assert all(rank >= 1 for rank in ranks)


@pytest.mark.usefixtures("five_epochs")
def test_the_same_seed_writes_the_same_bytes(place, qpr):
    digests = set()
    for _ in range(2):
        assert learned(qpr, place, "--overwrite").code == 0
        digests.add(read_manifest(str(place / "reranker"), "reranker").digest)
    assert len(digests) == 1


@pytest.mark.usefixtures("five_epochs")
def test_one_that_is_there_is_not_replaced(place, qpr):
    assert learned(qpr, place).code == 0
    refused = learned(qpr, place)
    assert (refused.code, "--overwrite" in refused.err) == (1, True)


def test_no_validation_cluster_is_reported(place, qpr, make_training_data):
    make_training_data(place / "data", clusters("train"))
    refused = learned(qpr, place)
    assert refused.code == 1
    assert "no cluster in split validation" in refused.err
    assert not (place / "reranker").exists()


def test_too_few_queries_are_reported(place, qpr, make_training_data):
    make_training_data(place / "data", clusters("validation")[:3])
    refused = learned(qpr, place)
    assert refused.code == 1
    assert "to learn an order from" in refused.err
    assert not (place / "reranker").exists()


def test_an_encoder_that_is_not_there_is_reported(place, qpr):
    refused = learned(qpr, place, "--with", place / "nothing")
    assert refused.code == 1
    assert "does not exist" in refused.err


def test_probes_of_an_exact_search_are_refused(place, qpr):
    refused = learned(qpr, place, "--exact", "--probes", "3")
    assert (refused.code, "--probes has no use with --exact" in refused.err) == (2, True), refused.err
