"""Pair precision and recall of every way to split an answer, against clusters that are known.

Run: python -m benchmarks.silver --dataset D [--logs SIMULATED] [--model MODEL]

D is what `qpr quora` wrote. The weights come from one half of its clusters (`benchmarks.silver_learning`); 20,000
clusters of the other half are scored. In log (b) what shares an answer has nothing in common on purpose; in (c) it
shares the rarest word that all questions of a cluster have; in (d) that word is the rarest of those that at least 50
clusters have, so that the groups of (d) are as large as those of (b) and the words less telling; (a) is simulated.
"""

from __future__ import annotations

import argparse
import dataclasses
import functools
import time
from collections.abc import Callable

import numpy as np

from benchmarks.machine import describe_machine
from benchmarks.silver_learning import KINDS, LOGS, Pairs, gather, grouping
from benchmarks.silver_logs import SilverLog, halves, merged_log, simulated_log
from benchmarks.silver_scores import MIN_COHERENCE, answers, gated, score
from model.encoders.registry import load_encoder
from pipelines.linkage.scoring import fellegi_sunter
from pipelines.linkage.scoring.pair_model import LinkModel
from pipelines.linkage.scoring.shipped_weights import load_model
from schemas.artifacts.dataset import open_dataset

CLUSTERS = 20_000
HALVES = ("learning", "scored")
STRICT = 0.1
"""The gate of whole answers, to show what it would do to groups."""

HEAD = f"{'':34} precision  recall  unrelated kept  two-in-one whole   with the gate        CPU s   gate at {STRICT}"


def main() -> None:
    """Score the weights that ship and everything else, and print a table a log."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dataset", required=True, help="what qpr quora wrote")
    parser.add_argument("--logs", help="a simulated Parquet log with gold clusters")
    parser.add_argument("--model", help="an encoder that has seen no cluster of the scored half, for its cosine")
    parser.add_argument("--half", choices=HALVES, default=HALVES[1])
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    scored = halves(open_dataset(options.dataset), seed=options.seed)[HALVES.index(options.half)]
    scored = dataclasses.replace(scored, clusters=scored.clusters[:CLUSTERS])
    print(f"{describe_machine()}; seed {options.seed}; gate: idf coherence of each group >= {MIN_COHERENCE}")
    for name, alike in LOGS.items():
        report(name, merged_log(scored, seed=options.seed + 2, alike=alike), model=options.model)
    if options.logs:
        report("a", simulated_log(options.logs), model=options.model)


def report(name: str, log: SilverLog, *, model: str | None = None) -> None:
    """Print the figures of every method on one log."""
    print(f"\n({name}) {len(log.gold):,} questions under {answers(log).max() + 1:,} answers\n{HEAD}")
    whole = answers(log)
    _print("no filter", log, lambda: whole)
    for coherence_name in ("paper", "idf"):
        kept = functools.partial(gated, log, whole, coherence_name, STRICT)
        _print(f"{coherence_name} coherence >= .1", log, kept)
    pairs = _compared(log)
    _print_model("fellegi-sunter", pairs, lambda: _unsupervised(pairs))
    for kind in KINDS:
        _print_model(kind, pairs, functools.partial(load_model, kind))
    if model:
        pairs = _compared(log, model)
        _print_model("boosted with cosine", pairs, lambda: load_model("boosted", cosine=True))


def _compared(log: SilverLog, model: str | None = None) -> Pairs:
    started = time.process_time()
    pairs = gather(log, load_encoder(model).encode if model else None)
    spent = time.process_time() - started
    print(f"{len(pairs.compared.left):,} pairs compared{' with cosine' if model else ''} in {spent:.1f} CPU s")
    return pairs


def _unsupervised(pairs: Pairs) -> LinkModel:
    fitted = fellegi_sunter.fit(pairs.compared.features, pairs.compared.answers)
    return LinkModel(fitted, fellegi_sunter.THRESHOLD)


def _print_model(title: str, pairs: Pairs, make: Callable[[], LinkModel]) -> None:
    def group() -> np.ndarray:
        model = make()
        found = pairs.compared
        return grouping(pairs, model.pairs.probability(found.features, found.answers), model)

    _print(title, pairs.log, group)


def _print(title: str, log: SilverLog, make: Callable[[], np.ndarray]) -> None:
    started = time.process_time()
    group = make()
    spent = time.process_time() - started
    found, after, strict = (score(log, g) for g in (group, gated(log, group), gated(log, group, least=STRICT)))
    print(
        f"{title:34} {found.precision:9.4f} {found.recall:7.4f} {found.unrelated:15.2%} {found.whole:17.1%}"
        f"   {after.precision:.4f} {after.recall:.4f} {after.unrelated:6.2%} {spent:6.1f}"
        f"   {strict.precision:.4f} {strict.recall:.4f}",
        flush=True,
    )


if __name__ == "__main__":
    main()
