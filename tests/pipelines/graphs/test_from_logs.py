import collections
import itertools
import json
import math
import random

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from pipelines.clusters.splits import split_of
from schemas.artifacts import storage
from schemas.artifacts.dataset import open_dataset
from schemas.artifacts.manifest import read_verified
from schemas.text import fold, hash64, key, tokens, words
from tests.support.commands import run

SALT = "another"  # puts some of the answers into each split
LEAST = 0.237  # no score of a small cluster is exactly this
MOST = 4
FORMS = ["pay my bill", "Pay my bill?", "how pay my bill", "pay bill how", "how do i pay", "who is it", "Who is it?!"]
FORMS += [
    "is it c#",
    "is it c",
    "東京は",
    "東京は？",
    "cancel my flight",
    "how do i pay my bill",
    "bill how do i pay",
    "cancel flight",
    "how cancel my bill",
    "",
    "?!",
]
ANSWERS = [f"answer {i}" for i in range(12)] + ["Answer  5", "ANSWER 0", ""]
LOGS = st.lists(st.tuples(st.sampled_from(FORMS), st.sampled_from(ANSWERS)), min_size=1, max_size=60)


class Oracle:
    """The whole job with dicts: rows -> questions, clusters, pairs and what is rejected."""

    def __init__(self, rows, score, *, share, least_events, near):
        self.score, self.share, self.least_events, self.near = score, share, least_events, near
        self.rejected = collections.Counter()
        self.questions, self.members, self.forms = {}, {}, {}
        for question, answer in rows:
            self.read(question, answer)
        in_questions = collections.Counter(t for q in self.questions.values() for t in tokens(q["key"]))
        total = max(len(self.questions), 1_000)
        self.idf = {token: math.log(1 + total / n) for token, n in in_questions.items()}
        self.named = sum(map(len, self.members.values()))
        for q in self.questions:
            self.settle(q)
        self.members = {c: events for c, events in self.members.items() if events}
        self.clusters = {c: kept for c, events in self.members.items() if len(kept := self.judge(events)) > 1}
        self.remove_leaks()

    def read(self, question, answer):
        fault = None if words(key(question)) else "no_word" if question else "empty_question"
        fault = fault or (None if fold(answer) else "empty_answer")
        if fault:
            self.rejected["validate", fault] += 1
            return
        q, c = hash64(key(question)), hash64("text:" + fold(answer))
        known = self.questions.setdefault(
            q, {"key": key(question), "texts": collections.Counter(), "answers": collections.Counter()}
        )
        known["texts"][question] += 1
        known["answers"][answer] += 1
        self.members.setdefault(c, collections.Counter())[q] += 1
        self.forms.setdefault(c, {}).setdefault(q, collections.Counter())[answer] += 1

    def settle(self, q):
        """Leave a question with the answer that dominates, or with none."""
        answers = {c: events[q] for c, events in self.members.items() if q in events}
        if len(answers) == 1 or not self.share:
            return
        best = min(answers, key=lambda c: (-answers[c], c))
        clear = answers[best] >= max(self.share * sum(answers.values()), self.least_events)
        for c in answers:
            if not clear or c != best:
                self.rejected["ambiguity", "minority_answer" if clear else "ambiguous"] += 1
                del self.members[c][q], self.forms[c][q]

    def judge(self, events):
        kept = sorted(events)[:MOST]
        if len(events) == 1:
            self.rejected["size", "single_question"] += 1
            return {}
        self.rejected["size", "over_max_cluster_size"] += len(events) - len(kept)
        if self.scores(kept)[self.score] < LEAST:
            self.rejected["coherence", "incoherent"] += len(kept)
            return {}
        return {q: events[q] for q in kept}

    def scores(self, ids):
        sets = [set(tokens(self.questions[q]["key"])) for q in ids]

        def ratio(weigh):
            return sum(sum(map(weigh, s)) for s in sets) / sum(map(weigh, set().union(*sets)))

        plain, rest = ratio(lambda _: 1), len(sets) - 1
        return {"paper": plain / len(sets), "adjusted": (plain - 1) / rest, "idf": (ratio(self.idf.get) - 1) / rest}

    def remove_leaks(self):
        self.split = {c: split_of(np.array([c]), SALT)[0].as_py() for c in self.clusters}
        asked = {s: set() for s in ("train", "test", "validation")}
        for c, kept in self.clusters.items():
            asked[self.split[c]] |= kept.keys()
        for c in [c for c in self.clusters if self.split[c] != "train"]:
            reasons = {q: self.leak(q, self.split[c], asked) for q in self.clusters[c]}
            clean = {q: n for q, n in self.clusters[c].items() if reasons[q] is None}
            self.rejected.update(("leakage", reason) for reason in reasons.values() if reason)
            self.rejected["leakage", "left_alone"] += len(clean) == 1
            self.clusters[c] = clean if len(clean) > 1 else {}
        self.clusters = {c: kept for c, kept in self.clusters.items() if kept}

    def leak(self, q, split, asked):
        """Return why a question of a split has to leave it, or None."""
        earlier = ["train", "test"] if split == "validation" and self.near else ["train"]
        own = words(self.questions[q]["key"])
        for other in earlier:
            if q in asked[other]:
                return f"in_{other}"
            theirs = [words(self.questions[p]["key"]) for p in asked[other]]
            if self.near and any(sorted(own) == sorted(w) for w in theirs):
                return f"same_words_in_{other}"
            if 0 < self.near < 1 and any(len({*own} & {*w}) / len({*own} | {*w}) >= self.near for w in theirs):
                return f"near_duplicate_in_{other}"
            spelled = [self.questions[p]["key"] for p in asked[other]]
            if 0 < self.near < 1 and any(same_grams(self.questions[q]["key"], k) >= self.near for k in spelled):
                return f"similar_spelling_in_{other}"
        return None

    def text(self, q):
        return heaviest(self.questions[q]["texts"])

    def tables(self):
        clusters = {
            (
                c,
                c,
                heaviest(sum(self.forms[c].values(), collections.Counter())),
                self.split[c],
                len(kept),
                sum(kept.values()),
                tuple(sorted(kept)),
                tuple(self.text(q) for q in sorted(kept)),
            )
            for c, kept in self.clusters.items()
        }
        pairs = {
            (one, self.text(one), two, self.text(two), c)
            for c, kept in self.clusters.items()
            for one, two in itertools.combinations(sorted(kept), 2)
        }
        questions = set()
        for q, known in self.questions.items():
            of = min(
                (c for c in self.clusters if q in self.clusters[c]),
                key=lambda c: (-self.clusters[c][q], c),
                default=None,
            )
            questions.add(
                (
                    q,
                    known["key"],
                    self.text(q),
                    known["texts"].total(),
                    heaviest(known["answers"]),
                    of,
                    self.split.get(of),
                )
            )
        return {"questions": questions, "clusters": clusters, "pairs": pairs}


def same_grams(one, two):
    """Return the Jaccard index of the character 4-grams of two keys."""
    ours, theirs = ({k[i : i + 4] for i in range(max(len(k) - 3, 1))} for k in (one, two))
    return len(ours & theirs) / len(ours | theirs)


def heaviest(counter):
    return min(counter, key=lambda value: (-counter[value], value.encode()))


def content(url):
    without = {"first_seen", "last_seen", "coherence", "adjusted_coherence", "idf_coherence", "linkage_probability"}
    dataset, tables = open_dataset(url), {}
    for name in ("questions", "clusters", "pairs"):
        rows = dataset.table(name).to_pylist()
        found = [tuple(tuple(v) if isinstance(v, list) else v for k, v in r.items() if k not in without) for r in rows]
        tables[name] = set(found)
        assert len(tables[name]) == len(found)
    return tables


def everything(url):
    dataset = open_dataset(url)
    return {
        name: sorted(json.dumps(row, default=str) for row in dataset.table(name).to_pylist())
        for name in ("questions", "clusters", "pairs", "rejected")
    }


def write(path, rows):
    path.write_text("".join(json.dumps({"question": q, "answer": a}) + "\n" for q, a in rows))
    return path


def arguments(logs, output, *, shards=3, options=()):
    flags = ["--split-salt", SALT, "--max-reject-ratio", 1, "--overwrite", "--shards", shards]
    flags += [*([] if "--linkage" in options else ["--linkage", "none"]), *options]
    return "clusters", *logs, "--output", output, *flags


@pytest.fixture
def make(qpr, memory):
    def made(*logs, output=f"{memory}/dataset", code=0, **given):
        outcome = qpr(*arguments(logs, output, **given))
        assert outcome.code == code, outcome.err
        return output

    return made


@settings(max_examples=4)  # beside the examples below; each runs a pipeline
@given(
    LOGS,
    st.sampled_from(["paper", "adjusted", "idf"]),
    st.integers(1, 4),
    st.sampled_from([0, 0.5]),
    st.sampled_from([0, 0.8, 0.9, 1]),
)
@example([(q, a) for q in FORMS for a in ANSWERS], "idf", 2, 0, 0)  # all splits, every leak
@example([(q, a) for q in FORMS for a in ANSWERS], "idf", 2, 0, 0.8)
@example([(q, a) for i, q in enumerate(FORMS) for a in [*ANSWERS[:2], *ANSWERS[: i % 4]]], "idf", 3, 0.4, 0.9)  # 2 of 5
def test_a_dataset_is_what_plain_dicts_make_of_the_log(make, memory, tmp_path, rows, score, shards, share, near):
    oracle = Oracle(rows, score, share=share, least_events=1 + shards % 2, near=near)
    gate = ["--coherence", score, "--min-coherence", LEAST, "--max-cluster-size", MOST]
    gate += ["--min-answer-share", share, "--near-duplicate", near]
    gate += ["--min-answer-events", oracle.least_events] if share else []
    path = write(tmp_path / "log.jsonl", rows)
    if not oracle.clusters:
        storage.delete(f"{memory}/dataset")
        make(path, code=1, shards=shards, options=gate)
        return
    url = make(path, shards=shards, options=gate)
    assert content(url) == oracle.tables()
    for row in open_dataset(url).table("clusters").to_pylist():
        expected = oracle.scores(row["question_ids"])
        assert row["coherence"] == pytest.approx(expected["paper"])
        assert row["adjusted_coherence"] == pytest.approx(expected["adjusted"])
        assert row["idf_coherence"] == pytest.approx(expected["idf"])
    rejected = open_dataset(url).table("rejected")
    told = collections.Counter(zip(rejected["stage"].to_pylist(), rejected["reason"].to_pylist(), strict=True))
    assert told == +oracle.rejected
    counters = open_dataset(url).manifest.counters
    assert counters["rows_read"] == len(rows) == counters["rows_kept"] + counters["rows_rejected"]
    assert counters["members"] == oracle.named


@pytest.fixture(scope="module")
def log():
    chosen = random.Random(3)
    words_of = ["pay", "bill", "my", "how", "cancel", "flight", "who", "is", "the", "king"]
    rows = [
        (" ".join(chosen.sample(words_of, chosen.randint(2, 6))), f"answer {chosen.randint(0, 60)}") for _ in range(600)
    ]
    rows += rows[:100]  # some of the questions with several answers got one of them twice
    rows += [("where is rome", "alone"), ("open at nine", "unrelated"), ("far too dear", "unrelated")]
    return [*rows, ("", "answer 1"), ("?!", "answer 2"), ('say "hi"\\', "answer 3")]


@pytest.fixture(scope="module")
def dataset(log, folder):
    """Return the URL of the dataset of `log` in three shards, without options."""
    url = str(folder / "dataset")
    assert run(*arguments([write(folder / "log.jsonl", log)], url)) == 0
    return url


@pytest.mark.parametrize(
    ("options", "reasons"),
    [
        (["--min-answer-share", 0, "--near-duplicate", 0], {"leakage_in_train"}),
        (["--min-answer-share", 0], {"leakage_in_train", "leakage_same_words_in_train"}),
        ([], {"ambiguity_ambiguous", "ambiguity_minority_answer", "leakage_same_words_in_train"}),
    ],
)
def test_the_log_of_these_tests_reaches_every_split_and_every_reason(make, dataset, folder, options, reasons):
    url = make(folder / "log.jsonl", options=options) if options else dataset
    counters = open_dataset(url).manifest.counters
    assert all(counters[f"clusters_{split}"] > 1 for split in ("train", "validation", "test"))
    reasons |= {"validate_no_word", "validate_empty_question", "size_single_question", "coherence_incoherent"}
    assert {f"rejected_{reason}" for reason in reasons} <= set(counters)


def test_leaked_questions_are_reported_and_none_is_left(make, log, tmp_path):
    url = make(write(tmp_path / "log.jsonl", log), options=["--near-duplicate", 0.8])
    manifest = open_dataset(url).manifest
    [file] = manifest.of("leakage")
    told = json.loads(read_verified(url, file))
    assert told["check"]["found"] == 0
    assert told["compared"]["pairs_of_sets"] > 0
    for split in ("train", "validation", "test"):
        assert told["check"]["compared"].get(split, 0) == manifest.counters[f"members_{split}"]
        removed = sum(told["removed"].get(split, {}).values())
        assert told["compared"][split] == manifest.counters[f"members_{split}"] + removed
    rejected = sum(n for name, n in manifest.counters.items() if name.startswith("rejected_leakage_"))
    assert sum(n for reasons in told["removed"].values() for n in reasons.values()) == rejected > 0


def test_a_rerun_and_shuffled_rows_in_other_files_give_the_same_bytes(make, dataset, folder, log, tmp_path):
    shuffled = random.Random(4).sample(log, len(log))
    first = open_dataset(dataset).manifest
    again = open_dataset(make(folder / "log.jsonl")).manifest
    assert first.run_id != again.run_id
    assert first.digest == again.digest
    cut = [write(tmp_path / f"cut{i}.jsonl", shuffled[i::3]) for i in range(3)]
    parts = open_dataset(make(*cut)).manifest
    assert parts.digest == first.digest
    assert parts.counters == first.counters
    assert len(parts.inputs) == 3


FACTS = {
    "dial 1": ["how do i pay my bill", "how can i pay my bill", "pay my bill how", "where do i pay a bill"],
    "at nine": ["when do you open", "when do you open today", "at what time do you open", "what time do you open"],
    "gate 7": ["cancel my flight", "how do i cancel my flight", "how can i cancel a flight", "flight cancel"],
    "lara": ["who is the queen", "who is the queen here", "what is the name of the queen", "name of the queen"],
}


@pytest.mark.parametrize("linkage", ["boosted", "logistic", "fellegi-sunter"])
def test_split_answers_are_the_same_whatever_the_order_the_files_and_the_shards(make, memory, tmp_path, linkage):
    rows = [
        (f"{q} in {place}", f"{a} {n % 3}") for a, qs in FACTS.items() for q in qs for n, place in enumerate("abcd")
    ]
    rows += [(q, "ask us") for qs in FACTS.values() for q in qs]
    shuffled = random.Random(5).sample(rows, len(rows))
    options = ["--linkage", linkage, "--min-probability", 0.3]
    one = make(write(tmp_path / "a.jsonl", rows), options=options, output=f"{memory}/one")
    cut = [write(tmp_path / f"cut{i}.jsonl", shuffled[i::3]) for i in range(3)]
    many = make(*cut, options=options, output=f"{memory}/many", shards=7)
    assert everything(one) == everything(many)
    answers = open_dataset(one).table("clusters")["answer_hash"].to_pylist()
    assert max(collections.Counter(answers).values()) > 1 or linkage == "logistic"  # an answer holds several clusters


def test_another_number_of_shards_gives_other_files_and_the_same_rows(make, dataset, folder):
    many = make(folder / "log.jsonl", shards=7)
    assert everything(dataset) == everything(many)
    assert len(open_dataset(dataset).manifest.files) < len(open_dataset(many).manifest.files)


def test_a_bound_on_pairs_keeps_the_clusters(make, dataset, folder):
    every = content(dataset)
    some = content(make(folder / "log.jsonl", options=["--max-pairs-per-cluster", 3]))
    assert some["clusters"] == every["clusters"]
    assert some["pairs"] < every["pairs"]
    assert max(collections.Counter(pair[-1] for pair in some["pairs"]).values()) == 3


def test_another_salt_moves_clusters_to_other_splits(make, dataset, folder):
    other = make(folder / "log.jsonl", options=["--split-salt", "a"])
    splits = [{row[0]: row[4] for row in content(url)["clusters"]} for url in (dataset, other)]
    both = splits[0].keys() & splits[1].keys()
    assert 0 < sum(splits[0][c] != splits[1][c] for c in both) < len(both)
