import dataclasses
import itertools

import numpy as np
import pyarrow as pa
import pytest

from pipelines.linkage import popular_groups as popular
from pipelines.linkage import split_answers as linking
from pipelines.linkage.comparison import blocking as candidates
from pipelines.linkage.comparison import compare as comparison
from pipelines.linkage.comparison import pair_features as features
from pipelines.linkage.comparison.blocking import ALL_PAIRS
from pipelines.linkage.comparison.compare import Questions
from pipelines.linkage.comparison.pair_features import NAMES
from pipelines.linkage.large_answers import LEARNED_FROM, strict_for
from pipelines.linkage.linker import read_linker
from pipelines.linkage.scoring.pair_model import LinkModel
from pipelines.linkage.scoring.shipped_weights import load_model
from pipelines.linkage.settings import Linking
from pipelines.linkage.split_answers import link
from pipelines.linkage.witnesses import Witnesses
from pipelines.questions.token_frequencies import TokenWeights, count_tokens, merge

WORDINGS = [
    " ".join(words)
    for words in itertools.product(
        ("how do i", "how can i", "where do i", "help me", "i want to", "i have to", "please", "how to"),
        ("reset", "reset again", "quickly reset", "reset now", "really reset"),
        ("my", "the", "our", "this", "that"),
        ("password", "password today", "password online", "password please"),
    )
]
FACTS = [[f"city{i} age{i}", f"age{i} of{i} city{i}"] for i in range(40)]
STRAYS = [f"stray{i} word{i} thing{i}" for i in range(40)]
MIXED = [*WORDINGS[::8], *itertools.chain.from_iterable(FACTS), *STRAYS]
CERTAIN = 0.99


class Sharing:
    """A model that is sure of questions that share a tenth of their stems."""

    def probability(self, features: np.ndarray, answers: np.ndarray) -> np.ndarray:
        return np.where(features[:, NAMES.index("stems")] > 0.1, CERTAIN, 0.01)


@pytest.fixture
def large_is_100(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let an answer of more than a hundred questions be a large one."""
    for module in (candidates, comparison, features, linking, popular):
        monkeypatch.setattr(module, "ALL_PAIRS", 100)
    monkeypatch.setattr(popular, "BLOCK", 16)
    monkeypatch.setattr(popular, "SAMPLE", 100)
    monkeypatch.setattr(popular, "COMPLETED", 50)


def grouped(members: pa.Table, model: LinkModel, weights: TokenWeights | None = None) -> list[frozenset[str]]:
    group = link(Questions(members, weights or merge([])), model).group
    return [frozenset(members["text"].filter(pa.array(group == name)).to_pylist()) for name in np.unique(group)]


@pytest.mark.usefixtures("large_is_100")
def test_what_many_ask_comes_together_and_what_few_ask_does_too(members_of) -> None:
    found = grouped(members_of(MIXED), LinkModel(Sharing(), 0.5))
    assert set(found) == {frozenset(WORDINGS[::8]), *map(frozenset, FACTS), *(frozenset([stray]) for stray in STRAYS)}


@pytest.mark.usefixtures("large_is_100")
def test_neighbours_of_large_answers_are_not_kept_for_their_linkage(members_of, monkeypatch) -> None:
    members = members_of(MIXED, *FACTS)
    weights = count_tokens(members["token_ids"])
    linker = read_linker(Linking())
    linker = dataclasses.replace(linker, model=linker.model.with_threshold(0.5))
    linked = linker(members, weights)
    taken = []
    monkeypatch.setattr(Witnesses, "with_similarities_of", lambda own, rows: taken.append(rows) or own)
    every = linker(members, weights)
    assert all(np.array_equal(one, other) for one, other in zip(linked, every, strict=True))
    [rows] = taken
    assert np.count_nonzero(rows) == len(members) - len(MIXED)


def test_the_shipped_weights_find_one_question_in_many_words(members_of) -> None:
    members = members_of([*WORDINGS, *(f"other{i} name{i} of place{i}" for i in range(ALL_PAIRS - len(WORDINGS) + 1))])
    assert len(members) > ALL_PAIRS
    openings = (
        "how do i",
        "how can i",
        "where do i",
        "help me",
        "i want to",
        "i have to",
        "please",
        "how to",
        "my the",
    )
    log = members_of(*([f"{opening} {i}" for i in range(100)] for opening in openings))
    largest = max(grouped(members, load_model(), count_tokens(log["token_ids"])), key=len)
    assert largest <= set(WORDINGS)
    assert len(largest) > 0.6 * len(WORDINGS)


@pytest.mark.usefixtures("large_is_100")
def test_small_answers_are_split_the_same_beside_a_large_one(members_of) -> None:
    small = [*FACTS[:20], ["a b c", "a b c d", "x y z"]]
    model = LinkModel(Sharing(), 0.5)
    alone = set(grouped(members_of(*small), model))
    assert alone <= set(grouped(members_of(*small[:10], MIXED[:-1], *small[10:]), model))


@pytest.mark.usefixtures("large_is_100")
def test_rows_of_a_group_are_named_by_its_first_and_lone_rows_have_no_confidence(members_of) -> None:
    members = members_of(MIXED)
    found = link(Questions(members, merge([])), LinkModel(Sharing(), 0.5))
    for name in np.unique(found.group):
        rows = np.flatnonzero(found.group == name)
        assert rows[0] == name
        assert found.confidence[rows] == pytest.approx(CERTAIN if len(rows) > 1 else 0)


@pytest.mark.usefixtures("large_is_100")
def test_an_encoder_s_vectors_follow_their_questions(members_of) -> None:
    members = members_of(MIXED)
    number = {text: i for i, text in enumerate(MIXED)}
    angle = np.array([number[text] // 2 for text in members["text"].to_pylist()], float)
    vectors = np.column_stack([np.cos(angle), np.sin(angle)]).astype(np.float32)  # both texts of a fact have one

    class Cosine:
        def probability(self, features: np.ndarray, answers: np.ndarray) -> np.ndarray:
            return (features[:, len(NAMES)] > 1 - 1e-6).astype(float)

    found = link(Questions(members, merge([]), vectors), LinkModel(Cosine(), 0.5, cosine=True))
    group = dict(zip(members["text"].to_pylist(), found.group.tolist(), strict=True))
    assert len({group[fact[0]] for fact in FACTS}) == len(FACTS)
    assert all(group[one] == group[two] for one, two in FACTS)


@pytest.mark.parametrize(("questions", "least"), [(10, 0.5), (LEARNED_FROM, 0.5), (16 * LEARNED_FROM, 0.8)])
def test_the_threshold_rises_with_the_questions(questions: int, least: float) -> None:
    strict = strict_for(LinkModel(Sharing(), 0.5, least_of_two=0.6), questions)
    assert strict.threshold == pytest.approx(least)
    assert strict.least_of_two == max(strict.threshold, 0.6)


def test_a_threshold_of_one_stays() -> None:
    assert strict_for(LinkModel(Sharing(), 1.0), 10 * LEARNED_FROM).threshold == pytest.approx(1.0)
