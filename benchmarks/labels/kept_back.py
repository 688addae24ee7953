"""Precision and recall of the shipped trees at each estimated precision, on the logs kept back from learning.

Run: python -m benchmarks.labels.kept_back --dataset quora --refine-with static

Quora's logs are those of `benchmarks.labels.answer_splits`, drawn from the third of the learning half that the trees
have not learned from, once for each number of unrelated answers, which ends their names; templates are drawn with
another seed. Cells show the threshold that is chosen for the log, pair precision / recall and the share of two-in-one
answers kept whole; the last columns are the share of the answers of skewed templates of which a wrong pair is kept, and
the figures of small logs.
"""

from __future__ import annotations

from typing import Annotated

import typer

from benchmarks.cli import AsJson, Report, Seed, run
from benchmarks.cli import Pairs as PairsUrl
from benchmarks.labels.learn_trees import CLUSTERS, SEED_OF_KEPT, UNRELATED_KEPT, parts_of, report_kept_back
from jobs.workflows.worker_encoder import refining_encoder
from pipelines.linkage.scoring.shipped_weights import load_model


def main(
    dataset: PairsUrl,
    refine_with: Annotated[str | None, typer.Option(help="Encoder that has not seen these clusters.")] = None,
    clusters: Annotated[int, typer.Option(help="Maximum number of clusters of each log of Quora's.")] = CLUSTERS,
    unrelated: Annotated[list[float], typer.Option(help="Unrelated answers a cluster; repeatable.")] = [
        *UNRELATED_KEPT
    ],
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Print a row for each estimated precision."""
    report = Report(as_json=as_json, refine_with=refine_with, clusters=clusters, seed=seed)
    encode, kind = refining_encoder(refine_with) if refine_with else (None, None)
    kept, model = parts_of(dataset, seed=seed)[1], load_model("boosted", kind)
    seed += SEED_OF_KEPT
    report_kept_back(kept, model, encode, report, clusters=clusters, seed=seed, unrelated=unrelated)


if __name__ == "__main__":
    run(main)
