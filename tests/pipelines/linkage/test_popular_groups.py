import numpy as np
import pyarrow as pa
import pytest

from pipelines.linkage import popular_groups as popular
from pipelines.linkage.comparison.compare import Questions
from pipelines.linkage.comparison.pair_features import NAMES
from pipelines.linkage.popular_groups import POPULAR, popular_groups
from pipelines.linkage.scoring.pair_model import LinkModel
from pipelines.questions.token_frequencies import merge


class Alike:
    """A model that believes in shared stems."""

    def probability(self, features: np.ndarray, answers: np.ndarray) -> np.ndarray:
        return features[:, NAMES.index("stems")].astype(float)


def asked(name: str, count: int) -> list[str]:
    return [f"{name} {name}a {name}b {name}{i}" for i in range(count)]


@pytest.fixture
def of_a_sample(monkeypatch: pytest.MonkeyPatch) -> int:
    """Only the first 60 questions are sampled, and others compared 7 at a time."""
    monkeypatch.setattr(popular, "SAMPLE", 60)
    monkeypatch.setattr(popular, "COMPLETED", 30)
    monkeypatch.setattr(popular, "ALL_PAIRS", 60)
    monkeypatch.setattr(popular, "BLOCK", 7)
    return 60


def names_of(members: pa.Table, number: np.ndarray) -> dict[str, set[int]]:
    words = [text.split()[0] for text in members["text"].to_pylist()]
    return {word: {int(n) for w, n in zip(words, number, strict=True) if w == word} for word in set(words)}


def test_popular_groups_are_those_of_the_sample_and_others_join_theirs(members_of, of_a_sample: int) -> None:
    members = members_of([*asked("door", 80), *asked("lamp", 60), *asked("rare", 4), "alone in this"])
    found = popular_groups(Questions(members, merge([])), LinkModel(Alike(), 0.5))
    named = names_of(members, found.number)
    assert named["rare"] == named["alone"] == {-1}
    assert [len(named[word]) for word in ("door", "lamp")] == [1, 1]
    assert named["door"] | named["lamp"] == {0, 1}
    assert len(found.confidence) == 2
    assert (found.confidence >= 0.5).all()


def test_without_a_popular_group_nothing_is_compared_with_one(members_of, of_a_sample: int) -> None:
    members = members_of([f"{i} x{i} y{i}" for i in range(2 * of_a_sample)])
    found = popular_groups(Questions(members, merge([])), LinkModel(Alike(), 0.5))
    assert (found.number == -1).all()
    assert len(found.confidence) == 0


def test_a_group_that_is_found_without_a_sample_is_not_popular(members_of, monkeypatch: pytest.MonkeyPatch) -> None:
    members = members_of([*asked("door", 20), *(f"{i} x{i} y{i}" for i in range(20))])
    for completed, popular_rows in ((19, 20), (21, 0)):
        monkeypatch.setattr(popular, "COMPLETED", completed)
        found = popular_groups(Questions(members, merge([])), LinkModel(Alike(), 0.5))
        assert (found.number >= 0).sum() == popular_rows


def test_a_group_of_too_few_is_not_popular(members_of, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(popular, "COMPLETED", 1)
    for count in (POPULAR - 1, POPULAR):
        members = members_of([*asked("door", count), *(f"{i} x{i} y{i}" for i in range(20))])
        found = popular_groups(Questions(members, merge([])), LinkModel(Alike(), 0.5))
        assert (found.number >= 0).sum() == (count if count >= POPULAR else 0)


def test_no_question_joins_below_the_threshold(members_of, of_a_sample: int) -> None:
    members = members_of([*asked("door", 100), *(f"door other{i} than{i} that{i} one{i}" for i in range(50))])
    found = popular_groups(Questions(members, merge([])), LinkModel(Alike(), 0.5))
    joined = [t for t, n in zip(members["text"].to_pylist(), found.number.tolist(), strict=True) if n >= 0]
    assert joined
    assert not [text for text in joined if "other" in text]


def test_examples_are_the_most_frequent_and_leave_room_for_a_block(of_a_sample: int) -> None:
    number = np.repeat(np.arange(10), 20)
    events = np.tile(np.arange(20), 10)
    chosen = popular._examples(number, events)
    assert len(chosen) == 10 * ((of_a_sample - popular.BLOCK) // 10)
    assert set(events[chosen].tolist()) == {15, 16, 17, 18, 19}
    few = popular._examples(np.array([-1, 0, 0, -1]), np.array([9, 1, 2, 9]))
    assert few.tolist() == [1, 2]
