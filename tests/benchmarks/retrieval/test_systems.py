from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from benchmarks.retrieval import exact_search
from benchmarks.retrieval.exact_search import exact
from benchmarks.retrieval.figures import half_width
from benchmarks.retrieval.systems import Remembering, cells, picture
from model.encoders.interface import Encoder
from model.evaluation.relevance import Judgements
from schemas.arrays import Float32s, Matrix


class Coordinates:
    """An encoder of texts that are numbers."""

    def encode(self, texts: pa.Array) -> Float32s:
        """Return the numbers of each text."""
        return np.array([[float(number) for number in text.split()] for text in texts.to_pylist()], np.float32)


@pytest.mark.parametrize(("block", "values"), [(7, 4), (7, 100), (3, 2), (1000, 100)])  # few values: many ties
def test_exact_search_is_a_loop_over_all_questions(monkeypatch: pytest.MonkeyPatch, block: int, values: int) -> None:
    monkeypatch.setattr(exact_search, "_BLOCK", block)
    random = np.random.default_rng(0)
    points = random.integers(values, size=(50, 2))
    ids = random.permutation(1000)[:50]
    questions = pa.table({"question_id": ids, "text": [f"{x} {y}" for x, y in points]})
    asked = np.array([3, 17, 40])
    judged = Judgements(ids[asked], questions["text"].take(pa.array(asked)).combine_chunks(), asked, asked)
    found = exact(Coordinates(), questions, judged, depth=5)
    for query, ranked in zip(asked, found, strict=True):
        distance = {int(i): int(d) for i, d in zip(ids, np.square(points - points[query]).sum(axis=1), strict=True)}
        nearest = sorted((d, i) for i, d in distance.items() if i != ids[query])[:5]
        assert [distance[i] for i in ranked] == [d for d, _ in nearest]
        assert len({*ranked, ids[query]}) == 6
        last = nearest[-1][0]  # of those as far as the last one, the first block may have left smaller ids out
        assert [i for i in ranked if distance[i] < last] == [i for d, i in nearest if d < last]


def test_an_interval_is_as_wide_as_the_clusters_are_few() -> None:
    clusters, size = 50, 8
    ids = np.arange(clusters * size)
    mates = [[other for other in range(i - i % size, i - i % size + size) if other != i] for i in ids.tolist()]
    judged = Judgements(ids, pa.array(map(str, ids)), np.repeat(ids, size - 1), np.concatenate(mates))
    found = np.array([[first[0] if i // size % 2 else -1] for i, first in enumerate(mates)])  # half of the clusters
    expected = 1.96 * np.sqrt(0.5 * 0.5 / clusters)
    assert half_width(found, judged) == pytest.approx([expected] * 3, rel=0.15)


def test_no_text_is_encoded_twice() -> None:
    asked: list[str] = []

    @dataclasses.dataclass(frozen=True)
    class Lengths(Encoder):
        dimension = 1

        def encode_keys(self, keys: pa.Array) -> Matrix:
            asked.extend(keys.to_pylist())
            return np.array([[len(key)] for key in keys.to_pylist()], np.float32).reshape(-1, 1)

    encoder = Remembering("digest", Lengths("digest"))
    assert encoder.encode(pa.array(["a", "bb", "a"])).tolist() == [[1], [2], [1]]
    assert encoder.encode(["bb", "ccc"]).tolist() == [[2], [3]]
    assert asked == ["a", "bb", "ccc"]


def found(mrr: float, speed: float | None) -> dict[str, Any]:
    metrics = {"hits_at_1": 0.5, "hits_at_10": 1.0, "mrr": mrr}
    return {
        "per_question": metrics,
        "per_pair": metrics,
        "half_widths": [0.0161, 0.02, 0.003],
        "questions_per_cpu_s": speed,
    }


def test_a_row_has_intervals_and_round_speeds() -> None:
    row = cells("static, exact search", found(0.81549, 121_345.0))
    assert (row["MRR"], row["questions_a_cpu_s"]) == (".8155 (.003)", 121_000)
    assert cells("static, 10 probes", found(0.8, None))["questions_a_cpu_s"] is None


def test_the_picture_is_a_png_that_depends_on_the_figures_alone() -> None:
    one = picture({"a, exact search": found(0.8, 1e5), "b": found(0.7, None)})
    assert one.startswith(b"\x89PNG")
    assert one == picture({"a, exact search": found(0.8, 1e5)})
    assert one != picture({"a, exact search": found(0.7, 1e5)})
