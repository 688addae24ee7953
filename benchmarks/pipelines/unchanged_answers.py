"""Share of the answers whose linkage has the same input on one night as on the night before.

Run: python -m benchmarks.pipelines.unchanged_answers --nights 30 --events 10000

The input of an answer is its questions and their nearest neighbours in the window, with their similarities. So the
share bounds the work that a night could take over from the night before. "own" weights of words are those of the window
of each night, as in `qpr nightly`. "kept" ones are those of the later night for both: an upper bound for any rule that
changes the weights less often.
"""

from __future__ import annotations

import collections
import datetime
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated

import numpy as np
import pyarrow as pa
import typer

from benchmarks.cli import AsJson, Report, Seed, run
from benchmarks.measure import simulate
from benchmarks.pipelines.nights import divide
from jobs.nightly.ingestion import ingest_day
from jobs.nightly.warehouse import open_warehouse
from pipelines.engine.runner import parse_options
from pipelines.graphs.settings import ClustersConfig
from pipelines.ingestion.days import Day, read_day_counts
from pipelines.intermediate import ASKED, NEIGHBOURS
from pipelines.linkage.standings import NEAREST
from pipelines.neighbours.described import describe
from pipelines.neighbours.join import compare_placed, nearest_of_answers, place_in_shards
from pipelines.neighbours.pairs import merge_nearest
from pipelines.questions.aggregation import name_questions
from pipelines.questions.ambiguity import settle_answers
from pipelines.questions.token_frequencies import TokenWeights, frequent

Inputs = Mapping[int, tuple[set[int], list[tuple[object, ...]]]]


def members_of(days: Sequence[Day], config: ClustersConfig) -> tuple[pa.Table, TokenWeights]:
    """Return the MEMBERS of a window ordered by answer and question, and the weights of its words."""
    named = name_questions(pa.concat_tables([rows for day in days for rows in read_day_counts(day, ASKED.names)]))
    members = settle_answers(named.members, config.ambiguity).members
    return members.sort_by([("answer_id", "ascending"), ("question_id", "ascending")]), frequent(named.token_counts)


def inputs_of(members: pa.Table, weights: TokenWeights) -> Inputs:
    """Return the questions and the neighbours of each answer."""
    described = describe(members, weights)
    placed = place_in_shards(described.keyed, weights, shards=1)
    same = nearest_of_answers(described, weights, k=NEAREST)
    others = compare_placed(pa.concat_tables(placed), weights, k=NEAREST, shards=1)
    nearest = merge_nearest(pa.concat_tables([*same, *others]), NEAREST)
    inputs: dict[int, tuple[set[int], list[tuple[object, ...]]]] = collections.defaultdict(lambda: (set(), []))
    for answer, question in zip(members["answer_id"].to_pylist(), members["question_id"].to_pylist(), strict=True):
        inputs[answer][0].add(question)
    for row in zip(*(nearest[name].to_pylist() for name in NEIGHBOURS.names), strict=True):
        inputs[row[NEIGHBOURS.names.index("answer_id")]][1].append(row)
    return inputs


def main(
    nights: Annotated[int, typer.Option(help="Number of nights.", min=2)] = 30,
    events: Annotated[int, typer.Option(help="Rows of a day.")] = 10_000,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Compare the last two nights."""
    report = Report(as_json=as_json, nights=nights, events=events, seed=seed)
    config = ClustersConfig()
    with tempfile.TemporaryDirectory() as folder:
        warehouse = Path(folder) / "warehouse"
        dates = divide(simulate(folder, events=nights * events, seed=seed, options=("--days", nights)), warehouse)
        open_warehouse(str(warehouse))
        terms = {"options": parse_options([]), "max_reject_ratio": 0.1}
        days = [
            ingest_day(str(warehouse), datetime.date.fromisoformat(date), config.ingestion, **terms).day
            for date in dates
        ]
        (before, weights_before), (after, weights_after) = members_of(days[:-1], config), members_of(days, config)
    last = {answer: inputs for answer, inputs in inputs_of(after, weights_after).items() if len(inputs[0]) > 1}
    sizes = np.array([len(questions) for questions, _ in last.values()])
    for name, weights in (("own", weights_before), ("kept", weights_after)):
        earlier = inputs_of(before, weights)
        same_questions = np.array([answer in earlier and earlier[answer][0] == last[answer][0] for answer in last])
        same = np.array([answer in earlier and earlier[answer] == last[answer] for answer in last])
        report.row(
            weights=name,
            answers=len(sizes),
            questions=int(sizes.sum()),
            answers_with_the_same_questions=same_questions.mean(),
            answers_unchanged=same.mean(),
            questions_of_unchanged=float((sizes * same).sum() / sizes.sum()),
        )


if __name__ == "__main__":
    run(main)
