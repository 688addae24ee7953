"""Home answers of questions with several answers: by their events, and by the answers of their nearest questions.

Run: python -m benchmarks.labels.ambiguity --log helpdesk --log 150000 --dataset QUORA

In the help desk's log and in Quora's clusters, each with an answer of its own, a fifth of the questions get rows with
an answer of another question; "1:2" is one row with the right answer and two with the wrong one. Simulated logs, by
their number of events, have such questions as they are; an answer is right for a question if both have the same most
frequent gold cluster. The rule "events" is that of `pipelines.questions.ambiguity` with its default limits. The vote
of an answer is its share of the squared similarities of the ten nearest questions that have one answer. Kept is the
share of questions with several answers that keep one, right the share of these whose answer is right.
"""

from __future__ import annotations

import collections
import tempfile
from typing import Annotated, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import typer

from benchmarks.cli import AsJson, Report, Seed, run
from benchmarks.logs.known_logs import LOGS, known_log
from benchmarks.measure import simulate
from pipelines.neighbours.similarity import question_vectors
from pipelines.questions.aggregation import token_ids
from pipelines.questions.token_frequencies import TokenWeights, count_tokens, frequent
from schemas.artifacts.dataset import open_dataset
from schemas.text import fold, key
from schemas.text_arrays import key_all

CONTESTED = 0.2
"""Share of the questions that get a wrong answer too."""

NEAREST = 10
BLOCK = 256
"""Questions whose similarities are computed at a time; it bounds the memory."""

SHARES = (0.3, 0.5, 0.7, 0.9)
"""Minimum votes that are compared."""

ROWS = {"2:1": (2, 1), "1:1": (1, 1), "1:2": (1, 2)}
"""Numbers of rows with the right answer and with the wrong one."""
Log = dict[str, collections.Counter[str]]


class Contested(NamedTuple):
    """A question with several answers.

    Attributes:
        events: number of rows with each answer.
        votes: vote of each answer, 0 to 1.
        right: its right answers.
    """

    events: collections.Counter[str]
    votes: dict[str, float]
    right: set[str]


def main(
    log: Annotated[list[str], typer.Option(help="helpdesk, or a number of events; repeatable.")] = [
        "helpdesk",
        "150000",
    ],
    dataset: Annotated[str, typer.Option(help="Dataset written by qpr quora; without it, Quora is left out.")] = "",
    questions: Annotated[int, typer.Option(help="Maximum number of questions of Quora.")] = 30_000,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Measure each log."""
    report = Report(as_json=as_json, seed=seed, nearest=NEAREST)
    homes = {}
    for name in log:
        if name in LOGS:
            homes[name] = {key(question): fold(answer) for question, answer in known_log(name, seed=seed).rows}
        else:
            _report(report, name, *_simulated(int(name), seed))
    if dataset:
        clusters = open_dataset(dataset).table("clusters", columns=["cluster_id", "texts"]).to_pylist()
        rows = [(key(text), str(row["cluster_id"])) for row in clusters for text in row["texts"]]
        homes["quora"] = dict(rows[:questions])
    for name, home in homes.items():
        for shape, (right, wrong) in ROWS.items():
            logged = _with_wrong_answers(home, right, wrong, seed)
            _report(report, f"{name} {shape}", logged, {question: {answer} for question, answer in home.items()})


def _with_wrong_answers(home: dict[str, str], right: int, wrong: int, seed: int) -> Log:
    """Return the log of questions of which some also have the answer of another question."""
    generator = np.random.default_rng(seed)
    answers = sorted(home.values())
    contested = generator.random(len(home)) < CONTESTED
    others = [answers[n] for n in generator.integers(0, len(answers), len(home)).tolist()]
    log = {}
    for (question, answer), is_contested, other in zip(home.items(), contested.tolist(), others, strict=True):
        log[question] = collections.Counter({answer: right})
        if is_contested and other != answer:
            log[question][other] = wrong
    return log


def _simulated(events: int, seed: int) -> tuple[Log, dict[str, set[str]]]:
    """Return a simulated log and the right answers of each question."""
    with tempfile.TemporaryDirectory() as folder:
        path = simulate(folder, events=events, seed=seed)
        table = pq.read_table(path, columns=["question", "answer", "gold_cluster"])
    log: Log = collections.defaultdict(collections.Counter)
    gold_of_question: dict[str, collections.Counter[int]] = collections.defaultdict(collections.Counter)
    gold_of_answer: dict[str, collections.Counter[int]] = collections.defaultdict(collections.Counter)
    keys = key_all(table["question"].combine_chunks()).to_pylist()
    for question, row in zip(keys, table.to_pylist(), strict=True):
        answer, gold = fold(row["answer"] or ""), row["gold_cluster"]
        if question and answer and gold is not None:
            log[question][answer] += 1
            gold_of_question[question][gold] += 1
            gold_of_answer[answer][gold] += 1
    best = {answer: counts.most_common(1)[0][0] for answer, counts in gold_of_answer.items()}
    right = {
        question: {answer for answer in answers if best[answer] == gold_of_question[question].most_common(1)[0][0]}
        for question, answers in log.items()
    }
    return dict(log), right


def _report(report: Report, name: str, log: Log, right: dict[str, set[str]]) -> None:
    contested = _contested(log, right)
    chosen = {"events": [_by_events(question) for question in contested]}
    for share in SHARES:
        votes = [_by_votes(question, share) for question in contested]
        chosen[f"events, then votes ≥ {share}"] = [
            event if event is not None else vote for event, vote in zip(chosen["events"], votes, strict=True)
        ]
        chosen[f"votes ≥ {share}, then events"] = [
            vote if vote is not None else event for event, vote in zip(chosen["events"], votes, strict=True)
        ]
    for rule, answers in chosen.items():
        kept = [
            answer in question.right for question, answer in zip(contested, answers, strict=True) if answer is not None
        ]
        shares = {"kept": len(kept) / max(len(contested), 1), "right": float(np.mean(kept)) if kept else 0.0}
        report.row(log=name, contested=len(contested), rule=rule, **shares)


def _contested(log: Log, right: dict[str, set[str]]) -> list[Contested]:
    """Return the questions with several answers and the votes of their nearest certain questions."""
    certain = [question for question, events in log.items() if len(events) == 1]
    several = [question for question, events in log.items() if len(events) > 1]
    weights = _weights(certain + several)
    voters = question_vectors(pa.array(certain), weights)
    asked = question_vectors(pa.array(several), weights)
    transposed = voters.T.tocsc()
    answers = [next(iter(log[question])) for question in certain]
    contested = []
    for start in range(0, len(several), BLOCK):
        scores = (asked[start : start + BLOCK] @ transposed).tocsr()
        for number, question in enumerate(several[start : start + BLOCK]):
            part = slice(scores.indptr[number], scores.indptr[number + 1])
            similarity, voter = scores.data[part], scores.indices[part]
            nearest = np.lexsort((voter, -similarity))[:NEAREST]
            votes: dict[str, float] = dict.fromkeys(log[question], 0.0)
            for place in nearest.tolist():
                answer = answers[voter[place]]
                votes[answer] = votes.get(answer, 0.0) + float(similarity[place]) ** 2
            total = max(sum(votes.values()), 1e-9)
            shares = {answer: votes[answer] / total for answer in log[question]}
            contested.append(Contested(log[question], shares, right[question]))
    return contested


def _weights(keys: list[str]) -> TokenWeights:
    return frequent(count_tokens(token_ids(pa.array(keys))))


def _by_events(question: Contested) -> str | None:
    """Return the answer that `pipelines.questions.ambiguity` keeps with its default limits, or None."""
    answer, events = min(question.events.items(), key=lambda item: (-item[1], item[0]))
    return answer if events >= 2 and 2 * events >= sum(question.events.values()) else None


def _by_votes(question: Contested, share: float) -> str | None:
    """Return the answer with most votes if it has at least a share of them, or None."""
    answer, vote = min(question.votes.items(), key=lambda item: (-item[1], item[0]))
    return answer if vote >= share else None


if __name__ == "__main__":
    run(main)
