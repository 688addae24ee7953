import numpy as np
import pyarrow as pa
import pytest

from pipelines.linkage.comparison import compare as comparison
from pipelines.linkage.comparison.compare import Questions, compare
from pipelines.linkage.comparison.cosine_features import COSINES
from pipelines.linkage.comparison.pair_features import NAMES
from pipelines.linkage.comparison.tokenization import wording
from pipelines.linkage.comparison.word_differences import DifferenceWeights, differences_of
from pipelines.linkage.intents import STRAY, Intents
from pipelines.linkage.scoring.learned_scorers import sigmoid
from pipelines.linkage.scoring.pair_model import LinkModel
from pipelines.linkage.scoring.shipped_weights import load_model
from pipelines.linkage.split_answers import link
from pipelines.questions.token_frequencies import TokenWeights, count_tokens, merge

CAPITAL = [
    "What is the capital of France?",
    "what's the capital city of France",
    "what is the capital of france called",
]
LOUVRE = ["Where is the Louvre museum?", "In which city is the Louvre museum located?", "Where is the Louvre located"]
STRAYS = ["Who sang Ne me quitte pas", "How do I renew my passport at home", "cheapest flights tomorrow"]


class Alike:
    """A model that believes in shared stems."""

    def probability(self, features: np.ndarray, answers: np.ndarray) -> np.ndarray:
        return features[:, NAMES.index("stems")].astype(float)


class Scored:
    """A model that believes in the last feature."""

    def probability(self, features: np.ndarray, answers: np.ndarray) -> np.ndarray:
        return sigmoid(features[:, -1])


def groups(members: pa.Table, model: LinkModel, weights: TokenWeights | None = None) -> set[frozenset[str]]:
    found = link(Questions(members, weights or merge([])), model)
    return {
        frozenset(members["text"].filter(pa.array(found.group == name)).to_pylist()) for name in np.unique(found.group)
    }


@pytest.mark.parametrize("kind", ["boosted", "logistic"])
def test_the_shipped_weights_separate_two_facts_and_strays(members_of, kind: str) -> None:
    everyday = [
        [f"{words} {i}" for i in range(50)] for words in ("what is the", "where is the", "how do i", "who called")
    ]
    log = count_tokens(members_of(*everyday)["token_ids"])
    found = groups(members_of([*CAPITAL, *LOUVRE, *STRAYS]), load_model(kind), log)
    assert frozenset(CAPITAL) in found
    assert all(not (set(group) & set(CAPITAL) and set(group) & set(LOUVRE)) for group in found)
    assert all(frozenset([stray]) in found for stray in STRAYS)


def test_a_group_is_named_by_its_first_row_and_answers_never_mix(members_of) -> None:
    members = members_of(CAPITAL, CAPITAL, ["Why?"])
    found = link(Questions(members, merge([])), LinkModel(Alike(), 0.2))
    assert found.group.tolist() == [0, 0, 0, 3, 3, 3, 6]
    assert found.confidence[6] == 0
    assert (found.confidence[:6] >= 0.2).all()


def test_words_in_which_questions_differ_join_or_part_them(members_of) -> None:
    asked = ["who founded acme", "who started acme", "who sold acme"]
    words = wording(pa.array(asked), np.zeros(3, np.int64), merge([]))
    pairs = [(0, 1), (0, 2), (1, 2)]
    found = [set(differences_of(words, np.array([one]), np.array([other])).key.tolist()) for one, other in pairs]
    of_sold = np.array(sorted(found[1] & found[2] - found[0]), np.uint64)
    weights = DifferenceWeights(of_sold, np.full(len(of_sold), -1, np.float32), 1.0)
    model = LinkModel(Scored(), 0.5, differences=weights)
    assert groups(members_of(asked, ["why"]), model) == {frozenset(asked[:2]), frozenset(asked[2:]), frozenset(["why"])}
    assert len(groups(members_of(asked), LinkModel(Alike(), 0.9))) == 3


def test_an_answer_is_split_the_same_whatever_else_is_in_the_shard(members_of, monkeypatch) -> None:
    model = load_model("logistic")  # no neighbours of other answers decide
    alone = groups(members_of([*CAPITAL, *LOUVRE]), model)
    others = [[f"{word} number {i}" for word in ("first", "second", "third")] for i in range(40)]
    assert alone <= groups(members_of(*others[:20], [*CAPITAL, *LOUVRE], *others[20:]), model)
    monkeypatch.setattr(comparison, "PAIRS_AT_ONCE", 7)
    assert alone <= groups(members_of(*others[:20], [*CAPITAL, *LOUVRE], *others[20:]), model)


def test_figures_of_an_encoder_s_cosine_are_the_last_features(members_of) -> None:
    members = members_of(["one", "two", "three"])
    vectors = np.array([[1, 0], [2, 0], [0, 3]], np.float32)
    (compared,) = compare(Questions(members, merge([]), vectors))
    assert compared.features[:, len(NAMES)].tolist() == [1, 0, 0]
    assert compared.features.shape[1] == len(NAMES) + len(COSINES)


def test_nothing_is_linked_to_nothing(members_of) -> None:
    empty = members_of(["one"]).slice(0, 0)
    assert link(Questions(empty, merge([])), LinkModel(Alike(), 0.5)).group.tolist() == []
    assert link(Questions(members_of(["one"], ["two"]), merge([])), LinkModel(Alike(), 0.5)).group.tolist() == [0, 1]


def test_what_is_expected_of_an_answer_is_the_sum_over_all_of_its_pairs(members_of) -> None:
    members = members_of(CAPITAL, LOUVRE, STRAYS)
    weights = merge([])
    found = link(Questions(members, weights), LinkModel(Alike(), 0.5))
    assert found.expected is not None
    for answer in range(3):
        rows = members["answer_id"].to_numpy() == answer
        pairs = [
            features[:, NAMES.index("stems")]
            for *_, features in compare(Questions(members.filter(pa.array(rows)), weights))
        ]
        assert found.expected[rows].sum() / 1e6 == pytest.approx(np.concatenate(pairs).sum(), abs=1e-4)


def test_a_pair_with_a_stray_of_an_intent_is_undecided(members_of) -> None:
    members = members_of(CAPITAL, LOUVRE)
    of_intent = members["answer_id"].to_numpy() == 0
    belongs = of_intent & (np.arange(len(members)) > 0)
    found = link(Questions(members, merge([])), LinkModel(Alike(), 0.5), intents=Intents(of_intent, belongs, 0.9))
    assert found.expected is not None
    assert found.expected[of_intent].sum() == 900_000 + 2 * round(1e6 * STRAY)
