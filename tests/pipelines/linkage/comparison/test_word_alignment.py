import itertools
import zlib

import numpy as np
import pyarrow as pa
import pytest

from pipelines.linkage.comparison import word_alignment
from pipelines.linkage.comparison.tokenization import Wording, wording
from pipelines.linkage.comparison.word_alignment import ALIGNED, alignments
from pipelines.neighbours.embeddings import quantise
from pipelines.questions.token_frequencies import merge
from schemas.compiled import SWITCH
from schemas.stems import stem

NO_DIFFERENCE = [1, 1, 1, 1, 0, 0, 0]
VECTORS = {"founded": [9, 1, 0], "started": [8, 2, 0], "sold": [0, 0, 7], "lost": [0, 0, 0]}
ASKED = ("who founded acme", "who started acme", "who sold acme", "when was acme founded", "acme", "", "acme acme who")


def encode(texts: pa.ChunkedArray) -> np.ndarray:
    """Return the vectors of words, random ones of those that `VECTORS` does not have."""
    random = (np.random.default_rng(zlib.crc32(text.encode())).normal(size=3) for text in texts.to_pylist())
    found = [VECTORS.get(text, drawn) for text, drawn in zip(texts.to_pylist(), random, strict=True)]
    return np.array(found, np.float32).reshape(-1, 3)


def words_of(texts: list[str], answers: np.ndarray) -> Wording:
    return wording(pa.array(texts, pa.string()), answers, merge([]))


def aligned(one: str, other: str) -> dict[str, float]:
    """Return the features of two questions."""
    answers = np.zeros(2, np.int64)
    [found] = alignments(words_of([one, other], answers), encode, np.array([0]), np.array([1]))
    return dict(zip(ALIGNED, found.tolist(), strict=True))


def expected(words: Wording, left: int, right: int) -> list[float]:
    """Return the features of two rows, word by word."""
    forms = words.forms.to_pylist()
    vector = {part: quantise(encode(pa.chunked_array([[forms[form]]])))[0] for part, form in enumerate(words.form)}
    lengths = {part: max(float(np.linalg.norm(found.astype(float))), 1) for part, found in vector.items()}

    def cosine(one: int, other: int) -> float:
        return float(vector[one].astype(float) @ vector[other].astype(float)) / (lengths[one] * lengths[other])

    rows = [set(words.stems.rows[[row]].indices.tolist()) for row in (left, right)]
    different = [rows[0] - rows[1], rows[1] - rows[0]]
    weight = words.stems.weight
    near, near_different, left_over = {}, {}, [0.0, 0.0]
    for side, (own, other, every) in enumerate(zip(different, different[::-1], rows[::-1], strict=True)):
        for part in own:
            near[part] = max((cosine(part, found) for found in every), default=0.0)
            near_different[part] = max((cosine(part, found) for found in other), default=-1.0)
            left_over[side] += weight[part] * (1 - near[part])
    if not near:
        return NO_DIFFERENCE
    sums = [np.sum([vector[part].astype(float) for part in side], axis=0) for side in different]
    of_sum = of_mean = 1.0
    if all(different):
        of_sum = float(sums[0] @ sums[1]) / max(float(np.linalg.norm(sums[0]) * np.linalg.norm(sums[1])), 1)
        of_mean = sum(weight[part] * found for part, found in near_different.items()) / sum(
            weight[part] for part in near
        )
    rarest = min(near, key=lambda part: (-weight[part], near[part]))
    most = max(weight[part] * (1 - found) for part, found in near.items())
    return [of_sum, of_mean, near[rarest], min(near.values()), min(left_over), max(left_over), most]


@pytest.fixture(params=[False, True])
def compiled(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> bool:
    """Features are computed without compiled loops, or with them."""
    if not request.param:
        monkeypatch.setenv(SWITCH, "0")
    else:
        pytest.importorskip("pipelines.linkage.comparison.numba_kernels", reason="numba is not installed")
    return bool(request.param)


@pytest.mark.usefixtures("compiled")
@pytest.mark.parametrize("chunk", [20, 1 << 20])
def test_features_are_those_of_a_plain_loop(monkeypatch: pytest.MonkeyPatch, chunk: int) -> None:
    monkeypatch.setattr(word_alignment, "CHUNK", chunk)
    monkeypatch.setattr(word_alignment, "BLOCK", chunk)
    draw = np.random.default_rng(1)
    random = [" ".join(draw.choice(["a", "b", "cs", "c", "ran", "runs", "run"], 4)) for _ in range(8)]
    texts, answers = [*ASKED, *random, "alone"], np.repeat([0, 1, 2], [len(ASKED), len(random), 1])
    words = words_of(texts, answers)
    pairs = [pair for pair in itertools.combinations(range(len(texts)), 2) if answers[pair[0]] == answers[pair[1]]]
    left, right = np.array(pairs).T
    found = alignments(words, encode, left, right)
    assert found.shape == (len(pairs), len(ALIGNED))
    assert found == pytest.approx(np.array([expected(words, *pair) for pair in pairs]), abs=1e-5)


def test_compiled_loops_give_the_same_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pipelines.linkage.comparison.numba_kernels", reason="numba is not installed")
    draw = np.random.default_rng(2)
    texts = [" ".join(draw.choice(list("abcdefghijkl"), draw.integers(0, 9))) for _ in range(60)]
    left, right = np.array(list(itertools.combinations(range(60), 2))).T
    words = words_of(texts, np.zeros(60, np.int64))
    compiled = alignments(words, encode, left, right)
    monkeypatch.setenv(SWITCH, "0")
    assert alignments(words, encode, left, right).tobytes() == compiled.tobytes()


def test_the_first_word_with_a_stem_stands_for_it() -> None:
    texts, answers = ["b ran", "runs a runs", "running b", "runs"], np.array([0, 0, 0, 1])
    words = words_of(texts, answers)
    forms, first = words.forms.to_pylist(), {}
    for text, answer in zip(texts, answers.tolist(), strict=True):
        for word in text.split():
            first.setdefault((answer, stem(word)), word)
    assert [forms[form] for form in words.form] == list(first.values())


def test_features_of_an_answer_do_not_depend_on_other_answers() -> None:
    texts, answers = [*ASKED, *ASKED[::-1]], np.repeat([0, 1], len(ASKED))
    left, right = np.array(list(itertools.combinations(range(len(ASKED)), 2))).T
    alone = alignments(words_of([*ASKED], answers[: len(ASKED)]), encode, left, right)
    both = alignments(words_of(texts, answers), encode, left, right)
    assert alone.tobytes() == both.tobytes()


def test_features_do_not_depend_on_the_order_of_the_questions() -> None:
    for one, other in itertools.combinations(ASKED, 2):
        assert aligned(one, other) == pytest.approx(aligned(other, one), abs=1e-6)


def test_questions_with_the_same_stems_have_no_different_word() -> None:
    assert list(aligned("who founded acme", "acme, who founded").values()) == NO_DIFFERENCE
    assert list(aligned("", "").values()) == NO_DIFFERENCE


def test_a_near_word_leaves_less_over_than_another_one() -> None:
    near, far = (aligned("who founded acme", text) for text in ("who started acme", "who sold acme"))
    assert (near["aligned_sum"], near["aligned_mean"]) == pytest.approx((0.99, 0.99), abs=0.01)
    assert far["aligned_sum"] == far["aligned_mean"] == 0
    for name in ("left_over_min", "left_over_max", "left_over_most"):
        assert near[name] < far[name]


def test_a_word_that_is_added_is_compared_with_the_words_of_both() -> None:
    found = aligned("acme", "acme founded")
    assert found["aligned_sum"] == found["aligned_mean"] == 1
    assert found["aligned_rarest"] == found["aligned_worst"] < 1
    assert found["left_over_min"] == 0 < found["left_over_max"] == found["left_over_most"]


def test_a_word_without_a_vector_is_near_to_none() -> None:
    found = aligned("who founded acme", "who lost acme")
    assert (found["aligned_sum"], found["aligned_mean"]) == (0, 0)


def test_no_pairs_have_no_rows() -> None:
    none, answers = np.zeros(0, np.int64), np.zeros(1, np.int64)
    assert alignments(words_of(["acme"], answers), encode, none, none).shape == (0, len(ALIGNED))
