"""Leaks between the splits of a dataset by the character 4-grams of keys, counted by comparing all questions.

Run: python -m benchmarks.pipelines.leakage --dataset DATASET [--dataset DATASET ...]

A leak is a question of validation or test with a question of an earlier split (train, test, validation) whose set of
character 4-grams has at least a given Jaccard index. The grams are the substrings of four characters of the key: the
folded text without its outer punctuation, with its spaces; a shorter key is one gram. All pairs are compared by a
sparse matrix product. The searches of `pipelines.decontamination` are run on the questions of the dataset too: the
number of leaks found by grams, and the CPU seconds by words and by grams.
"""

from __future__ import annotations

from typing import Annotated

import numpy as np
import pyarrow as pa
import typer
from scipy import sparse

from benchmarks.cli import AsJson, Report, run
from benchmarks.measure import cpu_ms
from pipelines.decontamination import near_duplicates, similar_spellings
from pipelines.decontamination.near_duplicates import PRECEDENCE, Found
from pipelines.decontamination.verification import questions_of
from pipelines.intermediate import MEMBERS, SPELLINGS
from pipelines.questions.aggregation import token_ids, word_ids
from schemas.artifacts.dataset import open_dataset
from schemas.hashing import bag_ids
from schemas.tables import with_nulls
from schemas.text_arrays import key_all

BLOCK = 50
"""Held-out questions compared at a time: with Quora's 143,000 earlier questions almost all share a gram, 100 MB."""

GRAM = 4


def main(
    dataset: Annotated[list[str], typer.Option(help="Dataset; repeatable.")],
    least: Annotated[list[float], typer.Option(help="Minimum Jaccard index of a leak; repeatable.")] = [0.9, 0.95],
    near_duplicate: Annotated[float, typer.Option(help="Jaccard index of the timed search.")] = 0.9,
    as_json: AsJson = False,
) -> None:
    """Count the leaks of each dataset."""
    report = Report(as_json=as_json)
    for url in dataset:
        asked = questions_of(open_dataset(url).table("clusters", columns=["split", "question_ids", "texts"]))
        ranks = asked["rank"].to_numpy()
        similarity = greatest_index(key_all(asked["text"].combine_chunks()).to_pylist(), ranks)
        leaks = {f"leaks_from_{limit}": int((similarity[ranks > 0] >= limit).sum()) for limit in least}
        report.row(
            dataset=url, questions=len(ranks), held_out=int((ranks > 0).sum()), **leaks, **_cost(asked, near_duplicate)
        )


def greatest_index(keys: list[str], ranks: np.ndarray) -> np.ndarray:
    """Return the greatest Jaccard index of each key with one of a smaller rank, (R,); 0 without one."""
    vectors = _gram_vectors(keys)
    sizes = np.diff(vectors.indptr)
    greatest = np.zeros(len(keys))
    for rank in range(1, len(PRECEDENCE)):
        earlier, later = np.flatnonzero(ranks < rank), np.flatnonzero(ranks == rank)
        transposed = vectors[earlier].T.tocsr()
        for start in range(0, len(later), BLOCK):
            rows = later[start : start + BLOCK]
            shared = (vectors[rows] @ transposed).tocoo()
            union = sizes[rows][shared.row] + sizes[earlier][shared.col] - shared.data
            np.maximum.at(greatest, rows[shared.row], shared.data / union)
    return greatest


def _gram_vectors(keys: list[str]) -> sparse.csr_array:
    numbers: dict[str, int] = {}
    sets = [{key[i : i + GRAM] for i in range(max(len(key) - GRAM + 1, 1))} for key in keys]
    columns = [numbers.setdefault(gram, len(numbers)) for grams in sets for gram in sorted(grams)]
    ends = np.concatenate([[0], np.cumsum([len(grams) for grams in sets])])
    return sparse.csr_array((np.ones(len(columns), np.float32), columns, ends), shape=(len(keys), len(numbers)))


def _cost(asked: pa.Table, least: float) -> dict[str, float]:
    """Return the number of leaks that the search by grams finds, its CPU seconds and those of the search by words."""
    keys = key_all(asked["text"].combine_chunks())
    columns = {"question_id": asked["question_id"], "text": asked["text"], "token_ids": token_ids(keys)}
    columns |= {"bag_id": bag_ids(word_ids(keys)), "split": pa.array(PRECEDENCE).take(asked["rank"])}
    members = with_nulls(MEMBERS, columns)

    def by_words() -> Found:
        return near_duplicates.find_leaks(pa.concat_tables(near_duplicates.sets_to_compare(members, least)), least)

    def by_grams() -> Found:
        spelled = similar_spellings.spellings(members)
        counts = similar_spellings.count_held_out(spelled)
        placed = similar_spellings.place_spellings(spelled, least, counts)
        return similar_spellings.find_similar_spellings(pa.concat_tables([SPELLINGS.empty_table(), *placed]), least)

    leaks = by_grams().leaks.group_by(["question_id", "rank"]).aggregate([])
    return {"found": len(leaks), "words_cpu_s": cpu_ms(by_words) / 1_000, "grams_cpu_s": cpu_ms(by_grams) / 1_000}


if __name__ == "__main__":
    run(main)
