import collections
import datetime
import itertools

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from pipelines.intermediate import ASKED, MEMBERS, MEMBERSHIPS, NAMED_QUESTIONS
from pipelines.questions.aggregation import (
    as_memberships,
    assign_clusters,
    name_questions,
    places,
    token_ids,
)
from schemas.tables import QUESTIONS, conform, with_nulls
from schemas.text import hash64, key, question_id, tokens, words
from tests.support.encoded_texts import decoded

FORMS = [
    "My bill? Pay!",
    "pay my my bill",
    "Pay my bill?",
    "pay my BILL",
    "pay my bill",
    "Who?",
    "who",
    "東京は？",
    "東京は",
    "What is C#",
]
DAYS = [None, *(datetime.datetime(2024, 1, day, tzinfo=datetime.UTC) for day in (1, 2, 3))]

asked_rows = st.lists(
    st.tuples(
        st.sampled_from(FORMS),
        st.integers(-2, 2),
        st.sampled_from("xyz"),
        st.integers(1, 3),
        *[st.sampled_from(DAYS)] * 2,
    ),
    min_size=1,
    max_size=25,
)


def asked(rows):
    columns = {
        "question_id": [question_id(text) for text, *_ in rows],
        "key": [key(text) for text, *_ in rows],
        "text": [text for text, *_ in rows],
        "answer_id": [c for _, c, *_ in rows],
        "answer": [a for _, _, a, *_ in rows],
        "log_answer_id": [f"id {c}" if c > 0 else None for _, c, *_ in rows],
        "events": [n for *_, n, _, _ in rows],
        "first_seen": [first for *_, first, _ in rows],
        "last_seen": [last for *_, last in rows],
    }
    return pa.table({name: pa.array(columns[name], ASKED.field(name).type) for name in ASKED.names})


def heaviest(weights):
    return min(weights, key=lambda value: (-weights[value], value.encode()))


def naive(rows):
    known = {}
    for text, cluster, answer, events, first, last in rows:
        q = known.setdefault(question_id(text), {n: collections.Counter() for n in ("text", "answer", "members")})
        q["key"] = key(text)
        q["text"][text] += events
        q["answer"][answer] += events
        q["members"][cluster, answer] += events
        q.setdefault("first", []).append(first)
        q.setdefault("last", []).append(last)
    return dict(sorted(known.items()))


@given(asked_rows)
def test_a_question_gets_its_most_frequent_text_and_answer_all_its_events_and_its_first_and_last_time(rows):
    expected = [
        {
            "question_id": i,
            "key": q["key"],
            "text": heaviest(q["text"]),
            "events": q["text"].total(),
            "first_seen": min(filter(None, q["first"]), default=None),
            "last_seen": max(filter(None, q["last"]), default=None),
            "answer": heaviest(q["answer"]),
            "answer_id": None,
            "cluster_id": None,
            "split": None,
        }
        for i, q in naive(rows).items()
    ]
    questions = name_questions(asked(rows)).questions
    assert questions.schema.equals(NAMED_QUESTIONS)
    assert questions.to_pylist() == expected


@given(asked_rows)
def test_a_member_is_a_question_an_answer_and_an_answer_form_with_its_events_and_tokens(rows):
    members = name_questions(asked(rows)).members
    assert members.schema.equals(MEMBERS)
    expected = collections.Counter()
    for i, q in naive(rows).items():
        for (cluster, answer), events in q["members"].items():
            hashes = frozenset(map(hash64, tokens(q["key"])))
            expected[cluster, i, heaviest(q["text"]), answer, events, hashes] += 1
    assert all(
        row["log_answer_id"] == (f"id {row['answer_id']}" if row["answer_id"] > 0 else None)
        for row in members.to_pylist()
    )
    names = ("answer_id", "question_id", "text", "answer", "events")
    found = [(*(row[name] for name in names), frozenset(row["token_ids"])) for row in members.to_pylist()]
    assert collections.Counter(found) == expected
    assert members["cluster_id"].null_count == members["split"].null_count == len(members)
    bags = {i: frozenset(collections.Counter(words(q["key"])).items()) for i, q in naive(rows).items()}
    found = {row["question_id"]: row["bag_id"] for row in members.to_pylist()}
    assert all((found[i] == found[j]) == (bags[i] == bags[j]) for i, j in itertools.combinations(bags, 2))


@given(asked_rows)
def test_tokens_are_counted_once_a_question(rows):
    counts = name_questions(asked(rows)).token_counts
    keys = {key(text) for text, *_ in rows}
    expected = collections.Counter(hash64(token) for k in keys for token in tokens(k))
    assert dict(zip(counts.tokens.tolist(), counts.frequencies.tolist(), strict=True)) == expected
    assert counts.questions == len(keys)


@given(asked_rows, st.randoms())
def test_the_order_of_rows_does_not_matter(rows, random):
    one, other = name_questions(asked(rows)), name_questions(asked(random.sample(rows, len(rows))))
    assert decoded(one.questions).equals(decoded(other.questions))
    by = [("answer_id", "ascending"), ("question_id", "ascending"), ("answer", "ascending")]
    members, others = (decoded(named.members).sort_by(by).drop("token_ids") for named in (one, other))
    assert members.equals(others)


@given(st.lists(st.sampled_from(FORMS)))
def test_token_ids_are_the_hashes_of_the_tokens(forms):
    keys = [key(form) for form in forms]
    assert token_ids(pa.array(keys, pa.string())).to_pylist() == [[hash64(t) for t in tokens(k)] for k in keys]


def questions(ids):
    columns = {"question_id": ids, "key": [f"k{i}" for i in ids], "text": ["t"] * len(ids), "events": [9] * len(ids)}
    nulls = {f.name: pa.nulls(len(ids), f.type) for f in QUESTIONS if f.name not in columns}
    return conform(pa.table(columns | nulls), QUESTIONS)


def members(rows):
    known = {
        "cluster_id": [c for _, c, _ in rows],
        "question_id": [q for q, _, _ in rows],
        "events": [n for _, _, n in rows],
        "split": [f"split of {c}" for _, c, _ in rows],
    }
    return with_nulls(MEMBERS, known)


@given(
    st.sets(st.integers(-5, 5)),
    st.dictionaries(st.tuples(st.integers(-5, 5), st.integers(-3, 3)), st.integers(1, 3)),
    st.randoms(),
)
def test_a_question_belongs_to_the_cluster_with_most_of_its_events_of_equal_ones_to_the_smallest(more, placed, random):
    rows = [(q, c, n) for (q, c), n in placed.items()]
    ids = random.sample(sorted(more | {q for q, _ in placed}), len(more | {q for q, _ in placed}))
    cut = len(rows) // 2
    met = pa.concat_tables([places(members(rows[:cut])), as_memberships(questions(ids)), places(members(rows[cut:]))])
    assert met.schema.equals(MEMBERSHIPS)
    assigned = assign_clusters(met)
    assert assigned.schema.equals(NAMED_QUESTIONS)
    assert assigned["question_id"].to_pylist() == sorted(ids)
    for row in assigned.to_pylist():
        own = {c: n for (q, c), n in placed.items() if q == row["question_id"]}
        best = min(own, key=lambda c: (-own[c], c), default=None)
        assert (row["cluster_id"], row["split"]) == (best, None if best is None else f"split of {best}")
        assert row["events"] == 9
