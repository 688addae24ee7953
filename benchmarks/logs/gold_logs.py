"""Logs with gold clusters and their neighbours, as the pipeline arranges them, without Beam.

names -> gold_logs -> GoldLog -> linked_alone -> questions, gold clusters, weights, evidence
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from benchmarks.cli import Report
from benchmarks.logs.known_logs import LOGS, KnownLog, MissingDataError, helpdesk, known_log
from benchmarks.logs.neighbour_join import nearest_by_join
from benchmarks.measure import simulate
from pipelines.calibration.gold_labels import Gold, gold_of
from pipelines.linkage.witnesses import Evidence, evidence_among
from pipelines.neighbours.embeddings import Encode
from pipelines.questions.token_frequencies import TokenWeights, frequent
from schemas.tables import QA_LOG
from schemas.text import fold, question_id

WRONG = "wrong-"
"""Prefix of the help desk's log with a share of wrong answers, as in `wrong-0.2`."""


class GoldLog(NamedTuple):
    """A log with its gold clusters.

    Attributes:
        name: as it was asked for.
        gold: questions and clusters.
        judged: folded texts of the answers whose paraphrases are known; None: of all.
    """

    name: str
    gold: Gold
    judged: frozenset[str] | None


def gold_logs(names: Iterable[str], report: Report, *, seed: int) -> Iterator[GoldLog]:
    """Yield the logs of these names, and report those that are not at hand.

    Args:
        names: of `known_logs.LOGS`, the number of events of a simulated log, or `WRONG` with a share of wrong answers.
        report: where a missing log is printed.
        seed: of the logs that are drawn.

    Raises:
        SystemExit: a name is none of these.
    """
    with tempfile.TemporaryDirectory() as folder:
        for name in names:
            try:
                if name in LOGS:
                    log = GoldLog(name, *gold_of_known(known_log(name, seed=seed)))
                elif name.startswith(WRONG):
                    log = GoldLog(name, *gold_of_known(helpdesk(seed, wrong=float(name.removeprefix(WRONG)))))
                elif not name.isdigit():
                    raise SystemExit(
                        f"{name}: no log. Name one of {', '.join(LOGS)}, {WRONG}0.2, or a number of events"
                    )
                else:
                    log = GoldLog(name, gold_of_simulated(simulate(folder, events=int(name), seed=seed)), None)
            except MissingDataError as error:
                report.row(log=name, result=f"skipped: {error}")
                continue
            yield log


def gold_of_known(log: KnownLog) -> tuple[Gold, frozenset[str]]:
    """Return a known log with its judged answers; a question that was not judged is alone."""
    group_of: Mapping[tuple[str, int], int] = {(j.answer, j.question): j.group for j in log.judged}
    columns = {column: pa.nulls(len(log.rows), QA_LOG.field(column).type) for column in QA_LOG.names}
    columns |= {"question": pa.array([q for q, _ in log.rows]), "answer": pa.array([a for _, a in log.rows])}
    places = [(fold(answer), question_id(question)) for question, answer in log.rows]
    columns["gold"] = pa.array([str(group_of.get(place, f"alone {place[1]}")) for place in places])
    return gold_of([pa.table(columns)]), frozenset(judged.answer for judged in log.judged)


def gold_of_simulated(url: str) -> Gold:
    """Return a simulated log."""
    table = pq.read_table(url)
    columns = {name: table[name].cast(QA_LOG.field(name).type) for name in QA_LOG.names}
    return gold_of([pa.table(columns | {"gold": table["gold_cluster"]})])


def linked_alone(
    gold: Gold, encode: Encode | None = None, *, words_too: bool = False
) -> tuple[pa.Table, np.ndarray, TokenWeights, Evidence]:
    """Return the questions of the answers with several, their gold clusters, weights, and neighbours by the join.

    Args:
        gold: the log.
        encode: encoder by whose vectors questions are compared; None: by their words.
        words_too: compare them by their words beside the vectors.
    """
    counted = pc.value_counts(gold.members["answer_id"])
    several = counted.field("values").filter(pc.greater(counted.field("counts"), 1))
    kept = pc.is_in(gold.members["answer_id"], value_set=several)
    weights = frequent(gold.weights)
    evidence = evidence_among(gold.members, weights, encode, words_too=words_too, nearest=nearest_by_join)
    return gold.members.filter(kept), gold.cluster[kept.to_numpy()], weights, evidence
