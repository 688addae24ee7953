"""Intents that are found in the log of a help desk while it grows, and fallbacks that are found to be one.

Run: python -m benchmarks.labels.intents.growing_help_desks 4500 5500 9000

A number is that of a log's rows. `bank` are random requests to a bank. Of `bank and facts` a quarter of the rows are
facts, of `bank and others` a fifth are requests to other help desks, in several wordings each, under one answer that is
no apology. `shop` are generated requests in four languages with typing errors; they repeat, so it has six times the
rows. A question of facts or others has no paraphrase. "Right" is the share of the pairs under the intents that are
paraphrases.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

import numpy as np
import typer

from benchmarks.cli import AsJson, Report, Seed, run
from benchmarks.labels.intents.small_help_desks import NO_APOLOGY, wordings
from benchmarks.labels.intents.worth import true_shares
from benchmarks.logs.gold_logs import gold_of_known, linked_alone
from benchmarks.logs.known_logs import KnownLog, MissingDataError, of_clusters, read_log
from benchmarks.logs.learning_logs import DOMAINS
from benchmarks.logs.shop_logs import shop_log
from pipelines.linkage.intents import intents
from pipelines.linkage.witnesses import find_witnesses
from schemas.ragged import pairs_in_runs, runs_of

SIZES = (4_500, 5_500, 7_000, 9_000, 13_000)
REPEATED = 6

Row = tuple[str, str]


def bank(rows: int, generator: np.random.Generator) -> KnownLog:
    """Return random requests to a bank."""
    return _log(_drawn("faq_logs.jsonl.gz", rows, generator), [])


def bank_and_facts(rows: int, generator: np.random.Generator) -> KnownLog:
    """Return random requests to a bank, and facts."""
    facts = _drawn("qa_logs.jsonl.gz", rows // 4, generator)
    return _log(_drawn("faq_logs.jsonl.gz", rows - len(facts), generator), facts)


def bank_and_others(rows: int, generator: np.random.Generator) -> KnownLog:
    """Return random requests to a bank, and requests to other help desks with one answer."""
    texts = [text for domain in DOMAINS for of_intent in wordings(domain).values() for text in of_intent]
    others = [(text, NO_APOLOGY) for text in texts[: rows // 5]]
    return _log(_drawn("faq_logs.jsonl.gz", rows - len(others), generator), others)


def shop(rows: int, generator: np.random.Generator) -> KnownLog:
    """Return requests to a shop in four languages."""
    return _log(shop_log(REPEATED * rows, seed=int(generator.integers(1 << 31))), [])


LOGS: dict[str, Callable[[int, np.random.Generator], KnownLog]] = {
    "bank": bank,
    "bank and facts": bank_and_facts,
    "bank and others": bank_and_others,
    "shop": shop,
}


def compare(report: Report, name: str, log: KnownLog) -> None:
    """Print the intents of a log."""
    gold, _ = gold_of_known(log)
    members, cluster, weights, evidence = linked_alone(gold)
    starts, sizes = runs_of(members["answer_id"].to_numpy())
    chosen = intents(members, weights, find_witnesses(members, weights, evidence), "auto").of_intent[starts]
    truth, pairs = true_shares(cluster, starts, sizes), pairs_in_runs(sizes)
    true = truth == 1
    counts = {"rows": len(log.rows), "questions": weights.questions, "intents": int(true.sum())}
    counts |= {"found": int((chosen & true).sum()), "others found": int((chosen & ~true).sum())}
    right = float((truth * pairs)[chosen].sum() / max(pairs[chosen].sum(), 1))
    report.row(log=name, **counts, pairs_found=float(pairs[chosen & true].sum() / pairs[true].sum()), right=right)


def main(
    sizes: Annotated[list[int] | None, typer.Argument(help="Numbers of rows.")] = None,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Print the intents of each log at each size."""
    report = Report(as_json=as_json, seed=seed)
    for name, make in LOGS.items():
        for size in sizes or SIZES:
            try:
                compare(report, name, make(size, np.random.default_rng(seed)))
            except MissingDataError as error:
                report.row(log=name, result=f"skipped: {error}")


def _drawn(file: str, count: int, generator: np.random.Generator) -> list[Row]:
    rows = [(row["question"], row["answer"]) for row in read_log(file)]
    return [rows[place] for place in generator.permutation(len(rows))[:count]]


def _log(requests: list[Row], others: list[Row]) -> KnownLog:
    """Return the log of requests, whose answers are intents, and of other rows, whose questions have no paraphrase."""
    number_of: dict[str, int] = {}
    clusters = [(answer, number_of.setdefault(answer, len(number_of)), [question]) for question, answer in requests]
    clusters += [(answer, -1 - place, [question]) for place, (question, answer) in enumerate(others)]
    return of_clusters("help desk", clusters)


if __name__ == "__main__":
    run(main)
