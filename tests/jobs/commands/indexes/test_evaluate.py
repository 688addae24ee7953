import json
import shutil

import ir_measures
import numpy as np
import pytest
from ir_measures import RR, Success, nDCG

from model.evaluation import evaluator
from model.evaluation.evaluator import measure, query_times, ranked_ids
from model.evaluation.relevance import judgements
from model.search.searcher import open_searcher
from schemas.artifacts.dataset import open_dataset
from schemas.artifacts.manifest import read_manifest
from schemas.text import question_id
from schemas.versions import history
from tests.support.commands import run
from tests.support.small_versions import make_version

WORDS = ["pay", "cancel", "bill", "flight", "seat", "card", "loan", "rate", "bank", "fee"]
CLUSTERS = [[f"{a} {b}", f"{b} {a}", f"the {a} of {b}"] for a in WORDS[:5] for b in WORDS[5:]]
ALONE = [f"{a} number {n}" for a in WORDS for n in range(30)]


@pytest.fixture
def place(folder, make_model, make_dataset):
    if not (folder / "index").exists():
        make_model(folder / "model", words=tuple(WORDS))
        make_dataset(folder / "data", CLUSTERS, alone=ALONE)
        make_dataset(folder / "other", [["never indexed", "nor this"], ["quite", "another"]])
        make_dataset(folder / "half", [*CLUSTERS[:2], ["never", "indexed"], ["nor", "this"]])
        make_dataset(folder / "more", [*CLUSTERS, ["never", "indexed", "pay cancel fee"]])
        given = ("index", "--questions", folder / "data", "--model", folder / "model", "--shards", 3)
        assert run(*given, "--output", folder / "index") == 0
        assert run(*given, "--output", folder / "ivf", "--factory", "IVF5,Flat", "--probes", 1) == 0
    return folder


def naive(index, clusters, depth):
    """Rank by distance with one question at a time, in plain Python, per question and per pair."""
    table = index.questions(np.arange(len(index)))
    vectors = index.encoder.encode(table["text"]).astype(np.float64)
    ids = table["question_id"].to_pylist()
    question, pair = [], []
    for texts in clusters:
        for text in texts:
            own, relevant = question_id(text), {question_id(other) for other in texts} - {question_id(text)}
            distances = ((vectors - vectors[ids.index(own)]) ** 2).sum(axis=1)
            order = [i for _, i in sorted(zip(distances.tolist(), ids, strict=True)) if i != own]
            places = sorted(order.index(i) + 1 for i in relevant)
            question.append(1 / places[0] if places[0] <= depth else 0)
            pair += [1 / (rank - above) if rank <= depth else 0 for above, rank in enumerate(places)]
    return np.mean(question), np.mean(pair)


@pytest.mark.parametrize("depth", [10, 40])
def test_figures_are_those_of_a_loop_over_all_questions(place, depth):
    searcher = open_searcher(str(place / "index"))
    judged = judgements(open_dataset(str(place / "data")).table("clusters"))
    result = measure(searcher.index, judged, ranked_ids(searcher, judged, depth=depth))
    question, pair = naive(searcher.index, CLUSTERS, depth)
    assert result["per_question"]["mrr"] == pytest.approx(question)
    assert result["per_pair"]["mrr"] == pytest.approx(pair)
    assert (result["queries"], result["pairs"], result["relevant_missing"]) == (75, 150, 0)  # 25 clusters of 3


def test_json_goes_to_stdout_and_to_the_file(place, tmp_path, capsys):
    given = ("evaluate", "--dataset", place / "data", "--index", place / "index", "--split", "test")
    assert run(*given, "--json", "--output", tmp_path / "m.json") == 0
    result = json.loads(capsys.readouterr().out)
    assert result.pop("warnings") == []
    assert result == json.loads((tmp_path / "m.json").read_text())
    assert set(result["per_question"]) == set(result["per_pair"]) == {"hits_at_1", "hits_at_10", "mrr", "ndcg_at_10"}
    assert 0 < result["per_pair"]["mrr"] <= 1
    for name in ("per_question", "per_pair"):
        for metric, (low, high) in result[f"{name}_interval"].items():
            assert low <= result[name][metric] <= high
    assert result["index"]["factory"] == "Flat"
    assert result["split"] == "test"
    assert result["mean_ms"] > 0
    assert result["timed_queries"] == 75
    assert run(*given, "--output", tmp_path / "m.json", "--limit", 3) == 1
    assert "m.json: exists. Choose another --output or add --overwrite" in capsys.readouterr().err
    assert json.loads((tmp_path / "m.json").read_text()) == result
    assert run(*given, "--output", tmp_path / "m.json", "--limit", 3, "--overwrite") == 0
    assert json.loads((tmp_path / "m.json").read_text())["queries"] == 3


def test_a_person_gets_a_table_of_both_views(place, capsys):
    assert run("evaluate", "--dataset", place / "data", "--index", place / "ivf", "--limit", 10) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "test: 10 queries, 20 pairs, 375 indexed IVF5,Flat, 1 probe, mode dense," in shown
    assert "per question" in shown
    assert "per pair" in shown


def test_the_table_names_the_mode_and_no_index_of_vectors_where_none_are_compared(place, qpr):
    shown = qpr("evaluate", "--dataset", place / "data", "--index", place / "ivf", "--mode", "bm25").out
    assert "375 indexed mode bm25, " in " ".join(shown.split())


@pytest.mark.parametrize("option", [("--exact",), ("--probes", 3)])
def test_a_search_of_all_vectors_by_a_mode_that_compares_none_is_refused(place, qpr, option):
    given = ("evaluate", "--dataset", place / "data", "--index", place / "ivf", *option)
    refused = qpr(*given, "--mode", "bm25")
    assert (refused.code, refused.out) == (2, "")
    assert f"{option[0]}: has no use with mode bm25, which compares no vectors. Give --mode dense" in refused.err
    assert qpr(*given, "--mode", "fusion").code == 0


def test_a_search_of_all_vectors_is_refused_where_the_default_mode_of_the_index_compares_none(place, qpr, monkeypatch):
    def by_words(url, *, mode, **options):
        return open_searcher(url, mode=mode or "bm25", **options)

    monkeypatch.setattr("model.search.searcher.open_searcher", by_words)
    given = ("evaluate", "--dataset", place / "data", "--index", place / "ivf")
    refused = qpr(*given, "--exact")
    assert (refused.code, refused.out) == (2, "")
    assert "--exact: has no use with mode bm25, the default of the index, which compares no vectors" in refused.err
    assert json.loads(qpr(*given, "--exact", "--mode", "dense", "--json").out)["mode"] == "dense"


def test_exact_search_of_lists_equals_the_flat_index_and_few_probes_do_not(place, capsys):
    def figures(index, *flags):
        assert run("evaluate", "--dataset", place / "data", "--index", place / index, "--json", *flags) == 0
        result = json.loads(capsys.readouterr().out)
        return result["per_question"], result["per_pair"], result["index"]["probes"]

    flat, exact, probing = figures("index"), figures("ivf", "--exact"), figures("ivf")
    assert flat[:2] == exact[:2] == figures("ivf", "--probes", 5)[:2]
    assert probing[0]["mrr"] < flat[0]["mrr"]
    assert (flat[2], exact[2], probing[2]) == (0, 5, 1)


def test_paraphrases_that_are_not_indexed_are_counted_and_reported(place, capsys):
    assert run("evaluate", "--dataset", place / "more", "--index", place / "index", "--json") == 0
    printed = capsys.readouterr()
    assert json.loads(printed.out)["relevant_missing"] == 3
    assert "3 of 78 paraphrases of split test are not in the index; they count as not found" in printed.err


def test_many_missing_paraphrases_are_a_warning_that_names_what_the_index_was_built_from(place, capsys):
    assert run("evaluate", "--dataset", place / "half", "--index", place / "index", "--json") == 0
    printed = capsys.readouterr()
    result = json.loads(printed.out)
    assert (result["relevant_missing"], result["relevant"]) == (4, 10)
    digests = [open_dataset(str(place / name)).manifest.digest[:12] for name in ("data", "half")]
    said = " ".join(printed.err.split())
    assert f"warning: 4 of 10 paraphrases of split test (40 %) are not in {place / 'index'}; they count as not" in said
    built = f"It was built from {place / 'data'} (digest {digests[0]}), and {place / 'half'} (digest {digests[1]}) is"
    assert built in said


def test_the_index_of_another_dataset_is_an_error_that_names_both(place, tmp_path, capsys):
    given = ("evaluate", "--dataset", place / "other", "--index", place / "index", "--output", tmp_path / "m.json")
    assert run(*given) == 1
    out, err = capsys.readouterr()
    said = " ".join(err.split())
    assert f"error: {place / 'index'}: holds none of the questions of split test of {place / 'other'}. It was" in said
    assert f"built from {place / 'data'} (digest " in said
    assert out == ""
    assert not (tmp_path / "m.json").exists()


@pytest.mark.parametrize(
    ("change", "code", "message"),
    [
        ({"--split": "validation"}, 1, "no cluster in split validation, so no query. Use another --split"),
        ({"--split": "tst"}, 2, "error: --split: 'tst' is not one of 'validation', 'test'. See `qpr evaluate --help`"),
        ({"--dataset": "nowhere"}, 1, "nowhere: not a dataset: it does not exist"),
        ({"--index": "nowhere"}, 1, "nowhere: not an index: it does not exist"),
        ({"--depth": "9"}, 2, "--depth"),
        ({"--depth": "1000000000"}, 2, "--depth"),
    ],
)
def test_mistakes_are_named(place, capsys, change, code, message):
    given = {"--dataset": place / "data", "--index": place / "index", **change}
    assert run("evaluate", *(part for pair in given.items() for part in pair)) == code
    assert message in " ".join(capsys.readouterr().err.split())


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (("--index", "i"), "--dataset is missing: give the dataset whose split is searched, or --warehouse"),
        (("--dataset", "d"), "--index is missing: give the index to search, or --warehouse"),
        ((), "give --dataset and --index, or --warehouse, or --beir and --model"),
        (("--beir", "b"), "--model is missing: give the model that encodes the texts of --beir"),
        (
            ("--dataset", "d", "--model", "m"),
            "--model: has no use without --beir; an index holds its model",
        ),
        (("--beir", "b", "--limit", "3"), "--limit: has no use with --beir, which has a collection of its own"),
        (("--beir", "b", "--model", "m", "--verify"), "--verify: has no use with --beir"),
    ],
)
def test_a_missing_place_is_named(qpr, given, message):
    outcome = qpr("evaluate", *given)
    assert (outcome.code, message in outcome.err) == (2, True), outcome.err


def test_probes_of_an_exact_search_are_refused(place, qpr):
    given = ("--dataset", place / "data", "--index", place / "index", "--exact", "--probes", 3)
    refused = qpr("evaluate", *given)
    assert (refused.code, "--probes has no use with --exact" in refused.err) == (2, True), refused.err


@pytest.fixture
def probable(place, qpr, make_training_data):
    """Return a folder with an index that has a confidence model, its dataset, and another one."""
    if not (place / "probable").exists():
        clusters = [("validation", texts) for texts in CLUSTERS]
        clusters += [("test", ["pay a fee", "fee to pay"]), ("test", ["cancel a fee", "fee to cancel"])]
        make_training_data(place / "copy", clusters)
        # 75 queries are not enough for a confidence model
        more = [("validation", [f"{a} fee {n}", f"fee {n} {a}"]) for a in WORDS for n in range(3)]
        make_training_data(place / "learned", clusters + more)
        given = ("--questions", place / "learned", "--model", place / "model", "--output", place / "probable")
        assert qpr("index", *given).code == 0
    return place


@pytest.mark.parametrize(
    ("data", "split", "mode", "seen"),
    [
        ("learned", "validation", "probability", True),
        ("learned", "validation", "dense", False),
        ("learned", "test", "probability", False),
        ("copy", "validation", "probability", False),
    ],
)
def test_queries_that_the_confidence_model_learned_from_are_reported(probable, qpr, data, split, mode, seen):
    place = probable
    given = ("--dataset", place / data, "--index", place / "probable", "--split", split, "--mode", mode, "--json")
    outcome = qpr("evaluate", *given)
    assert outcome.code == 0, outcome.err
    assert json.loads(outcome.out)["queries_seen_in_training"] is seen
    digest = read_manifest(str(place / "learned"), "dataset").digest[:12]
    warning = (
        f"warning: the figures are too good: the confidence model of {place / 'probable'} learned from the validation "
        f"queries of {place / 'learned'} (digest {digest}). Use --split test for figures of new queries"
    )
    assert (warning in outcome.err) == seen


def test_queries_that_the_confidence_model_learned_from_are_reported_after_changes(probable, qpr, tmp_path):
    index, given = tmp_path / "index", ("--split", "validation", "--mode", "probability", "--json")
    shutil.copytree(probable / "probable", index)
    source = read_manifest(str(index), "index").inputs[0]
    (tmp_path / "new.csv").write_text("question\npay a new fee\n")
    for change in (("--add", tmp_path / "new.csv"), ("--delete", tmp_path / "new.csv"), ("--compact",)):
        assert qpr("index", "--output", index, *change).code == 0
        outcome = qpr("evaluate", "--dataset", probable / "learned", "--index", index, *given)
        assert json.loads(outcome.out)["queries_seen_in_training"] is True
        assert f"learned from the validation queries of {probable / 'learned'} (digest" in outcome.err
        manifest = read_manifest(str(index), "index")
        assert manifest.configuration["built_from"] == [source.model_dump(exclude_none=True)]
        assert len(manifest.inputs) <= 3  # file, index before, model
    outcome = qpr("evaluate", "--dataset", probable / "copy", "--index", index, *given)
    assert json.loads(outcome.out)["queries_seen_in_training"] is False
    outcome = qpr("evaluate", "--dataset", probable / "other", "--index", index)
    assert f"It was built from {probable / 'learned'} (digest" in outcome.err


def test_times_are_taken_of_the_first_queries_only(place, monkeypatch):
    monkeypatch.setattr(evaluator, "TIMED", 7)
    judged = judgements(open_dataset(str(place / "data")).table("clusters"))
    times = query_times(open_searcher(str(place / "index")), judged)
    assert times["timed_queries"] == 7
    assert times["mean_ms"] > 0


def test_a_version_of_a_warehouse_is_measured_on_its_own_dataset(place, qpr, tmp_path):
    w = tmp_path / "w"
    for source, target in (("data", "datasets/one"), ("index", "indexes/one")):
        shutil.copytree(place / source, w / target)
    history.publish(str(w), make_version(str(w), "one"))
    outcome = qpr("evaluate", "--warehouse", w, "--at", 1, "--split", "test", "--json")
    assert outcome.code == 0, outcome.err
    expected = qpr("evaluate", "--dataset", place / "data", "--index", place / "index", "--split", "test", "--json")
    found, expected = json.loads(outcome.out), json.loads(expected.out)
    assert {name for name in found if found[name] != expected[name]} <= {"dataset", "index", "mean_ms", "p95_ms"}
    assert found["queries"] > 0
    for wrong in (("--at", 1), ("--warehouse", w, "--index", place / "index"), ("--warehouse", w, "--beir", "b")):
        assert qpr("evaluate", "--dataset", place / "data", *wrong).code == 2


@pytest.mark.parametrize(("mode", "warned"), [("exact", True), ("bm25", False)])
def test_a_mode_that_finds_no_paraphrase_is_a_warning(place, qpr, mode, warned):
    outcome = qpr("evaluate", "--dataset", place / "data", "--index", place / "index", "--mode", mode, "--json")
    assert outcome.code == 0
    assert ("mode exact finds the question itself alone" in outcome.err) == warned
    assert (json.loads(outcome.out)["per_question"]["mrr"] == 0) == warned


@pytest.mark.parametrize("mode", ["dense", "bm25"])
def test_the_run_and_the_judgements_give_another_program_the_same_figures(place, qpr, tmp_path, mode):
    given = ("evaluate", "--dataset", place / "data", "--index", place / "index", "--mode", mode, "--limit", 50)
    outcome = qpr(*given, "--trec", tmp_path / "ours", "--json")
    assert outcome.code == 0, outcome.err
    measures = [Success @ 1, Success @ 10, RR, nDCG @ 10]
    qrels = list(ir_measures.read_trec_qrels(str(tmp_path / "ours.qrels")))
    run_file = list(ir_measures.read_trec_run(str(tmp_path / "ours.run")))
    theirs = ir_measures.calc_aggregate(measures, qrels, run_file)
    result = json.loads(outcome.out)
    assert [theirs[measure] for measure in measures] == pytest.approx([*result["per_question"].values()])
    assert (len({qrel.query_id for qrel in qrels}), len(qrels)) == (result["queries"], result["pairs"])


def test_files_of_trec_are_not_replaced_unasked_and_not_those_of_a_collection(place, qpr, tmp_path):
    given = ("evaluate", "--dataset", place / "data", "--index", place / "index", "--trec", tmp_path / "ours")
    (tmp_path / "ours.qrels").write_text("mine")
    refused = qpr(*given)
    assert (refused.code, "ours.qrels: exists. Choose another --trec or add --overwrite" in refused.err) == (1, True)
    assert [(tmp_path / "ours.qrels").read_text(), (tmp_path / "ours.run").exists()] == ["mine", False]
    assert qpr(*given, "--overwrite").code == 0
    beir = qpr("evaluate", "--beir", tmp_path, "--model", place / "model", "--trec", tmp_path / "other")
    assert (beir.code, "--trec: has no use with --beir" in beir.err) == (2, True)
