"""Intents of large logs decided answer by answer, beside the rule that asks the whole log first.

Run: python -m benchmarks.labels.intents.intents_by_answer helpdesk facts 60000 wrong-0.2

An answer is an intent by itself if its text and words are those of one (`resemble_intents`) and the agreement
of its questions with their neighbours has an interval of 95 % above a limit; the prior is the agreement of the log, as
two questions. "Words, answer" keeps the limit for the words of the log, "answer" drops it too. Pairs are those of the
judged answers. `wrong-0.2` is the help desk's log with a fifth of wrong answers.
"""

from __future__ import annotations

from typing import Annotated

import numpy as np
import pyarrow as pa
import typer
from scipy.special import betaincinv

from benchmarks.cli import AsJson, Report, Seed, run
from benchmarks.labels.intents.worth import true_shares
from benchmarks.logs.gold_logs import gold_logs, linked_alone
from pipelines.calibration.gold_labels import Gold
from pipelines.linkage.intent_answers import resemble_intents
from pipelines.linkage.intents import intents
from pipelines.linkage.witnesses import find_witnesses
from schemas.ragged import pairs_in_runs, runs_of, sums_of_runs
from schemas.text import fold

LIMITS = (0.3, 0.4, 0.5, 0.6)
PRIOR = 2.0
DEFAULT = (
    "helpdesk",
    "helpdesk-wrong",
    "value-templates",
    "skewed-templates",
    "facts",
    "60000",
    "wrong-0.1",
    "wrong-0.2",
    "wrong-0.3",
)


def compare(report: Report, name: str, gold: Gold, judged: frozenset[str] | None) -> None:
    """Print a row for the rule in use and one for each limit."""
    members, cluster, weights, evidence = linked_alone(gold)
    witnesses = find_witnesses(members, weights, evidence)
    starts, sizes = runs_of(members["answer_id"].to_numpy())
    pairs = pairs_in_runs(sizes)
    truth = true_shares(cluster, starts, sizes)
    texts = members["answer"].take(pa.array(starts)).to_pylist()
    is_judged = np.array([judged is None or fold(text) in judged for text in texts])
    agreeing = sums_of_runs(witnesses.agreeing.astype(float), starts)
    share = evidence.log.share
    low = betaincinv(PRIOR * share + agreeing, PRIOR * (1 - share) + sizes - agreeing, 0.025)
    alike = {"words, answer": resemble_intents(members, weights)}
    alike["answer"] = resemble_intents(members, weights, max_rare=np.inf)
    rules = {"log": intents(members, weights, witnesses, "auto").of_intent[starts]}
    rules |= {f"{name} {limit}": may & (low >= limit) for name, may in alike.items() for limit in LIMITS}
    for rule, chosen in rules.items():
        counted = chosen & is_judged
        right = float((truth * pairs)[counted].sum() / max(pairs[counted].sum(), 1))
        counts = {"intents": int(chosen.sum()), "judged": int(counted.sum()), "pairs": int(pairs[chosen].sum())}
        report.row(log=name, rule=rule, **counts, pairs_right=right)


def main(
    logs: Annotated[list[str] | None, typer.Argument(help="Logs by name, or a number of events.")] = None,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Compare the rules on each log."""
    report = Report(as_json=as_json, seed=seed)
    for log in gold_logs(logs or DEFAULT, report, seed=seed):
        compare(report, *log)


if __name__ == "__main__":
    run(main)
