import collections
import itertools
import random
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipelines.decontamination.settings import Leakage
from pipelines.duplicates.settings import HeldOut
from pipelines.engine.runner import parse_options
from pipelines.graphs.from_pairs import build
from pipelines.graphs.publish import run_and_publish
from pipelines.graphs.settings import LabelledAssembly, QuoraConfig
from pipelines.reading.sources import expand
from schemas import text
from schemas.artifacts.dataset import open_dataset
from schemas.artifacts.writer import Output

QUORA = Path(__file__).parents[4] / "shared" / "data" / "quora_duplicate_questions.tsv.gz"
HEADER = "id\tqid1\tqid2\tquestion1\tquestion2\tis_duplicate\n"


@pytest.fixture(scope="module")
def dataset_of(tmp_path_factory):
    return lambda files, **options: run_on(tmp_path_factory.mktemp("quora"), files, **options)


def run_on(folder, files, *, held_out_pairs=3, shards=2, max_reject_ratio=1.0, near=0.9):
    """Run the pipeline on the rows of each file: (question1, question2, label)."""
    for number, rows in enumerate(files):
        lines = [
            f"{i}\t{number}-{2 * i}\t{number}-{2 * i + 1}\t{q1}\t{q2}\t{y}\n" for i, (q1, q2, y) in enumerate(rows)
        ]
        (folder / f"{number}.tsv").write_text(HEADER + "".join(lines))
    sources = expand([str(folder / "*.tsv")])
    assembly = LabelledAssembly(leakage=Leakage(near_duplicate=near))
    config = QuoraConfig(held_out=HeldOut(pairs=held_out_pairs), assembly=assembly, shards=shards)
    run_and_publish(
        lambda pipeline, run_url: build(pipeline, sources=sources, config=config, run_url=run_url),
        output=Output(str(folder / "dataset"), "dataset"),
        sources=sources,
        configuration=config,
        options=parse_options([]),
        max_reject_ratio=max_reject_ratio,
        page=lambda findings: b"",
    )
    return open_dataset(str(folder / "dataset"))


@pytest.fixture(scope="module")
def dataset(dataset_of, rows):
    """Return the dataset of `rows` in one file."""
    return dataset_of([rows])


def contents(dataset):
    return {name: sorted(map(str, dataset.table(name).to_pylist())) for name in ("questions", "clusters", "pairs")}


def naive(rows):
    """Return the clusters as sets of keys, and how often each surface form stands, by key."""
    forms = collections.defaultdict(collections.Counter)
    clusters = {}
    for *questions, label in rows:
        keys = [text.key(q) for q in questions]
        if not all(map(text.words, keys)):
            continue
        for key, question in zip(keys, questions, strict=True):
            forms[key][question] += 1
            clusters.setdefault(key, {key})
        if label == 1:
            joined = clusters[keys[0]] | clusters[keys[1]]
            clusters.update(dict.fromkeys(joined, joined))
    return {frozenset(c) for c in clusters.values() if len(c) > 1}, forms


WORDS = [f"What is {thing}?" for thing in "abcdefgh"] + ["what is a", "WHAT IS B?", "??", " "]
ROWS = st.lists(st.tuples(st.sampled_from(WORDS), st.sampled_from(WORDS), st.integers(0, 1)), max_size=14)


@settings(max_examples=6, deadline=None)
@given(rows=ROWS)
def test_the_dataset_is_that_of_a_plain_loop(dataset_of, rows):
    rows = [*rows, ("How far?", "How far is it?", 1)]
    dataset = dataset_of([rows])
    clusters, forms = naive(rows)
    questions = {row["key"]: row for row in dataset.table("questions").to_pylist()}
    key_of = {row["question_id"]: key for key, row in questions.items()}
    assert set(questions) == set(forms)
    for key, row in questions.items():
        assert row["text"] == min(forms[key], key=lambda form: (-forms[key][form], form))
        assert row["events"] == sum(forms[key].values())
        assert row["answer"] is None
    found = dataset.table("clusters").to_pylist()
    assert {frozenset(key_of[i] for i in row["question_ids"]) for row in found} == clusters
    assert {row["cluster_id"] for row in found} == {text.hash64(f"pairs:{min(r['question_ids'])}") for r in found}
    ids = dataset.table("pairs", columns=["question_id_1", "question_id_2"]).to_pylist()
    pairs = {frozenset(key_of[i] for i in row.values()) for row in ids}
    assert pairs == {frozenset(pair) for cluster in clusters for pair in itertools.combinations(cluster, 2)}
    counters = dataset.manifest.counters
    assert counters["rows_read"] == len(rows) == counters["rows_kept"] + counters.get("rows_rejected", 0)
    assert counters["texts"] == sum(map(len, forms.values()))
    assert counters["questions"] == len(forms) == counters["texts"] - counters["texts_merged_by_key"]


@pytest.fixture(scope="module")
def rows():
    chance = random.Random(11)
    topics = [f"{word} {7919 * number}" for word in ("north", "south", "east") for number in range(13, 73)]
    forms = [[f"How to reach {t}?", f"how to reach {t}", f"What is the way to {t}?", f"Way to {t}"] for t in topics]
    same = [(*chance.choices(chance.choice(forms), k=2), 1) for _ in range(500)]
    other = [(chance.choice(chance.choice(forms)), chance.choice(chance.choice(forms)), 0) for _ in range(300)]
    return [*same, *other, ("", "What?", 0), ("What?", "?!", 1), ("What?", "Who?", 3)]


def test_no_question_is_in_two_splits_and_coherence_is_computed(dataset_of, rows):
    dataset = dataset_of([rows], held_out_pairs=20)
    clusters = dataset.table("clusters").to_pylist()
    counts = collections.Counter(row["split"] for row in clusters)
    assert set(counts) == {"train", "validation", "test"}
    members = [(i, row["split"]) for row in clusters for i in row["question_ids"]]
    assert len({i for i, _ in members}) == len(members)
    assert all(0 < row["coherence"] <= 1 and 0 <= row["adjusted_coherence"] <= 1 for row in clusters)
    split_of = {row["question_id"]: row["split"] for row in dataset.table("questions").to_pylist()}
    assert dict(members) == {i: split for i, split in split_of.items() if split}
    for split in ("validation", "test"):
        assert 18 <= dataset.manifest.counters[f"pairs_{split}"] <= 20  # a cluster here has 1 or 3 pairs
    rejected = collections.Counter(dataset.table("rejected")["reason"].to_pylist())
    assert rejected == {"empty_question": 1, "no_word": 1, "bad_is_duplicate": 1}


def test_questions_of_the_same_words_leave_validation_and_test_whatever_their_component(dataset_of, rows):
    topics = [f"{word} {7919 * number}" for word in ("north", "south", "east") for number in range(13, 73)]
    rows = [*rows, *((f"{t}: how to reach?", f"{t} on foot", 1) for t in topics)]  # the words of the first form
    before = dataset_of([rows], held_out_pairs=60, near=0).table("clusters").to_pylist()
    dataset = dataset_of([rows], held_out_pairs=60)
    bags = {split: set() for split in ("train", "test", "validation")}
    for row in before:
        bags[row["split"]].update(bag(words) for words in row["texts"])
    earlier = {"train": set(), "test": bags["train"], "validation": bags["train"] | bags["test"]}
    clean = {r["cluster_id"]: [t for t in r["texts"] if bag(t) not in earlier[r["split"]]] for r in before}
    found = {row["cluster_id"]: row["texts"] for row in dataset.table("clusters").to_pylist()}
    assert found == {cluster: texts for cluster, texts in clean.items() if len(texts) > 1}
    assert len(found) < len(before)
    counters = dataset.manifest.counters
    assert counters["members"] == sum(len(row["texts"]) for row in before)
    assert counters["rejected_leakage_same_words_in_train"] > counters["rejected_leakage_same_words_in_test"] > 0


def bag(question):
    return tuple(sorted(text.words(text.key(question))))


def test_the_order_of_rows_and_files_does_not_matter(dataset_of, dataset, rows):
    shuffled = random.Random(2).sample(rows, len(rows))
    assert contents(dataset_of([shuffled[:99], shuffled[99:]], shards=5)) == contents(dataset)


def test_a_second_run_writes_the_same_bytes(dataset_of, dataset, rows):
    assert dataset_of([rows]).manifest.digest == dataset.manifest.digest


@pytest.mark.slow
@pytest.mark.skipif(not QUORA.exists(), reason="needs the Quora file, which is not part of the project")
def test_every_row_of_the_real_file_is_accounted_for(tmp_path):
    sources = expand([str(QUORA)])
    assembly = LabelledAssembly(leakage=Leakage(near_duplicate=0))
    config = QuoraConfig(assembly=assembly, shards=4)
    manifest = run_and_publish(
        lambda pipeline, run_url: build(pipeline, sources=sources, config=config, run_url=run_url),
        output=Output(str(tmp_path / "dataset"), "dataset"),
        sources=sources,
        configuration=config,
        options=parse_options([]),
        max_reject_ratio=0.1,
        page=lambda findings: b"",
    )
    counters = manifest.counters
    assert (counters["rows_read"], counters["rows_positive"], counters["qids"]) == (404_043, 149_182, 537_663)
    assert (counters["rows_rejected"], counters["texts_merged_by_key"]) == (19, 589)
    assert (counters["components"], counters["component_questions"]) == (60_103, 148_833)
    assert counters["closure_pairs"] == 228_624 == sum(counters[f"pairs_{s}"] for s in ("train", "validation", "test"))
    assert counters["pairs_validation"] == counters["pairs_test"] == 5_000
