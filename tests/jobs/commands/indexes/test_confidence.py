import json
import shutil

import pytest

from model.confidence.features import NAMES, NEIGHBOURS
from model.confidence.saved_confidence import FILE
from model.search.searcher import open_searcher
from schemas.artifacts.manifest import read_manifest
from schemas.errors import QprError

THINGS = ["bill", "flight", "card", "hotel", "phone", "parcel", "ticket", "loan", "visa", "parking", "refund", "router"]
CLUSTERS = [
    [f"how do i {verb} my {thing}", f"i want to {verb} my {thing}", f"my {thing} how can i {verb} it"]
    for verb in ("pay", "cancel", "find")
    for thing in THINGS
]


@pytest.fixture
def paths(tmp_path, make_model, make_dataset):
    make_model(tmp_path / "model", words=("pay", "cancel", "find", *THINGS), encoder="subword", dimension=16)
    make_dataset(tmp_path / "data", CLUSTERS, split="validation", alone=["who are you", "pay by card online"])
    return {"--questions": tmp_path / "data", "--model": tmp_path / "model", "--output": tmp_path / "i"}


def options(paths):
    return [str(part) for pair in paths.items() for part in pair]


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """Return a folder for an index with a confidence model, built by the first test."""
    return tmp_path_factory.mktemp("built") / "i"


@pytest.fixture
def index(built, qpr, paths, tmp_path):
    """Return a copy of the index of `CLUSTERS`."""
    if not built.exists():
        assert qpr("index", *options({**paths, "--output": built})).code == 0
    return shutil.copytree(built, tmp_path / "copied")


def test_an_index_of_validation_clusters_gives_its_hits_probabilities_and_reasons(qpr, paths):
    result = qpr("index", *options(paths), "--json")
    assert result.code == 0, result.err
    printed = json.loads(result.out)
    assert printed["counters"]["confidence_queries"] == len(CLUSTERS) * 3
    assert printed["confidence"]["auc"] > 0.6
    assert "learning confidence, queries: 108" in result.err
    found = qpr("search", "--index", paths["--output"], "um how do i pay my bill", "--json", "--k", 3)
    hits = json.loads(found.out)["hits"]
    assert all(0 <= hit["probability"] <= 1 for hit in hits)
    assert list(hits[0]["why"]["contributions"]) == list(NAMES)
    assert "no confidence model" not in found.err
    assert "probability" in qpr("search", "--index", paths["--output"], "find my parking spot").out


def test_probabilities_are_those_of_the_share_of_requests_with_an_answer(index, qpr, paths):
    assert qpr("index", *options(paths), "--answerable-share", 0.95).code == 0
    asked = [question for cluster in CLUSTERS for question in (f"um {cluster[0]} please", f"well {cluster[1]}")]
    half, most = (
        [hits[0].probability for hits in open_searcher(str(url)).search_many(asked, 1)]
        for url in (index, paths["--output"])
    )
    assert all(one > other for one, other in zip(most, half, strict=True))
    configurations = [read_manifest(str(url), "index").configuration for url in (index, paths["--output"])]
    assert [found.get("answerable_share") for found in configurations] == [None, 0.95]
    assert qpr("index", *options(paths), "--answerable-share", 1, "--overwrite").code == 2


def test_one_hit_is_judged_as_among_many_and_the_same_question_is_certain(index):
    searcher = open_searcher(str(index))
    many, one = searcher.search("could i cancel a loan", 25), searcher.search("could i cancel a loan", 1)
    assert one == many[:1]
    assert searcher.search("Pay by card online?", 1)[0].probability == 1
    assert searcher.search_many(["could i cancel a loan", "pay my card"], 4)[0] == many[:4]


@pytest.mark.parametrize("mode", ["bm25", "fusion"])
def test_a_hit_has_one_probability_however_it_was_found(index, mode):
    dense = {hit.question_id: hit for hit in open_searcher(str(index)).search("could i pay a visa fee", 110)}
    hits = open_searcher(str(index), mode=mode).search("could i pay a visa fee", 8)
    assert len(hits) == 8
    near = [hit for hit in hits if hit.why.dense_rank and hit.why.dense_rank <= NEIGHBOURS]
    assert [hit.probability for hit in near] == [dense[hit.question_id].probability for hit in near]
    for hit in hits:
        assert 0 <= hit.probability <= 1
        assert hit.why.contributions["distance"] == pytest.approx(
            dense[hit.question_id].why.contributions["distance"], abs=1e-4
        )


def test_the_same_questions_give_the_same_confidence(qpr, paths):
    assert qpr("index", *options(paths)).code == 0
    first = read_manifest(str(paths["--output"])).digest
    assert qpr("index", *options(paths), "--overwrite").code == 0
    assert read_manifest(str(paths["--output"])).digest == first


def test_a_damaged_confidence_model_is_refused(index):
    [file] = read_manifest(str(index)).of("confidence")
    path = index / file.path
    assert path.name == FILE
    path.write_bytes(path.read_bytes().replace(b"1", b"2", 1))
    with pytest.raises(QprError, match="does not match the manifest's sha256"):
        open_searcher(str(index))


def test_without_enough_validation_clusters_there_is_no_confidence_model(qpr, paths, make_dataset):
    make_dataset(paths["--questions"], CLUSTERS[:5], split="validation")
    result = qpr("index", *options(paths), "--quiet")
    assert result.code == 0
    assert (
        "warning: no confidence model, so hits have no probability: 15 queries in split validation, 100 are needed; "
        "an index of the table that `qpr export` writes learns from the wordings of its answers instead\n" in result.err
    )
    answered = qpr("answer", "--index", paths["--output"], "pay my bill", "um how do i pay my bill")
    assert answered.err.count("no confidence model, so answers have no probability and cannot be certified\n") == 1
    found = qpr("search", "--index", paths["--output"], "um how do i pay my bill", "--json")
    assert found.err.count("the index has no confidence model, so hits have no probability") == 1
    assert json.loads(found.out)["hits"][0]["probability"] is None
