"""Logs whose paraphrases are known, to score labels on: facts, a help desk, small FAQs, templates, nine scripts.

name, seed -> known_log -> KnownLog
"""

from __future__ import annotations

import collections
import dataclasses
import gzip
import json
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from benchmarks.logs import template_logs
from schemas.errors import UsageError
from schemas.text import fold, hash64, question_id
from schemas.text_arrays import hash64_all, key_all

HERE = Path(__file__).parent / "data"
DATA = Path(__file__).parents[2].parent / "shared" / "data"
"""Real logs beside the checkout; see their README for where they come from."""

WRONG_SHARE = 0.05
"""Share of rows that get another row's answer in `helpdesk-wrong`."""

WHOLE_LOG = ""
"""Answer of all questions of a log whose paraphrases are known whatever their answers."""


@dataclasses.dataclass(frozen=True)
class Judged:
    """One question of an answer whose paraphrases are known.

    Attributes:
        answer: text of the answer, folded.
        question: id of the question.
        group: questions of one answer with the same group are paraphrases.
        planted: whether the row has another answer than it should.
    """

    answer: str
    question: int
    group: int
    planted: bool = False


@dataclasses.dataclass(frozen=True)
class KnownLog:
    """A log and what is known of it.

    Attributes:
        name: of the log.
        rows: questions with their answers, as they are logged.
        judged: the questions of all answers that are scored.
    """

    name: str
    rows: list[tuple[str, str]]
    judged: list[Judged]

    def write(self, path: Path) -> None:
        """Write the rows as JSON Lines with the fields question and answer."""
        with path.open("w", encoding="utf-8") as file:
            file.writelines(json.dumps({"question": q, "answer": a}) + "\n" for q, a in self.rows)


class MissingDataError(Exception):
    """A real log is not at hand."""


def known_log(name: str, *, seed: int = 0) -> KnownLog:
    """Return a log by its name in `LOGS`.

    Raises:
        MissingDataError: the log is made of data that is not beside the checkout.
        UsageError: there is no log of this name.
    """
    if name not in LOGS:
        raise UsageError(f"{name}: no such log. There are {', '.join(LOGS)}")
    return LOGS[name](seed)


def read_log(name: str) -> Iterator[dict[str, str]]:
    """Yield the rows of a real log.

    Raises:
        MissingDataError: the log is not at hand.
    """
    path = DATA / name
    if not path.exists():
        raise MissingDataError(f"{path} is missing")
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def facts(name: str = "facts") -> KnownLog:
    """Return open-domain facts; of some answers of several questions all paraphrases were marked by reading.

    Args:
        name: ``facts`` for 800 answers that are scored, ``learning_facts`` for 6,953 others, of 2 to 30, to learn from.
    """
    rows = [(row["question"], row["answer"]) for row in read_log("qa_logs.jsonl.gz")]
    marked = {int(answer): groups for answer, groups in json.loads((HERE / f"{name}.json").read_text()).items()}
    judged = []
    for text, questions in _questions_of_answers(rows).items():
        groups = marked.get(hash64(text))
        if groups is not None:
            group_of = {int(question): number for number, group in enumerate(groups) for question in group}
            judged += [Judged(text, question, group_of.get(question, -question)) for question in questions]
    return KnownLog(name, rows, judged)


def helpdesk(seed: int, *, wrong: float = 0.0) -> KnownLog:
    """Return a bank's requests: an answer is an intent, so all of its questions belong together."""
    rows = [(row["question"], row["answer"]) for row in read_log("faq_logs.jsonl.gz")]
    return of_intents("helpdesk-wrong" if wrong else "helpdesk", rows, wrong, np.random.default_rng(seed))


def of_intents(name: str, rows: list[tuple[str, str]], wrong: float, generator: np.random.Generator) -> KnownLog:
    """Return the log of rows whose answers are intents, `with_wrong_answers` for a share of them."""
    place = {answer: number for number, answer in enumerate(sorted({answer for _, answer in rows}))}
    return with_wrong_answers(name, rows, [place[answer] for _, answer in rows], wrong, generator)


def with_wrong_answers(
    name: str, rows: list[tuple[str, str]], groups: list[int], share: float, generator: np.random.Generator
) -> KnownLog:
    """Return the log of these rows after a random ``share`` of them has got another answer of the log.

    Args:
        name: of the log.
        rows: questions with their right answers.
        groups: group of each row; rows of one answer and group are paraphrases.
        share: of the rows that get a wrong answer, 0 to 1.
        generator: draws the rows and their answers.
    """
    answers = sorted({answer for _, answer in rows})
    place = {answer: number for number, answer in enumerate(answers)}
    planted = generator.random(len(rows)) < share
    shifted = generator.integers(1, len(answers), len(rows))
    logged = [
        (question, answers[(place[answer] + shift) % len(answers)] if is_wrong else answer)
        for (question, answer), is_wrong, shift in zip(rows, planted, shifted, strict=True)
    ]
    judged = [
        Judged(fold(given), question_id(question), group, bool(is_wrong))
        for (question, given), group, is_wrong in zip(logged, groups, planted, strict=True)
    ]
    return KnownLog(name, logged, judged)


def _faq(name: str) -> KnownLog:
    """Return 60 questions of 12 answers; the wordings of an answer have hardly a word in common."""
    answers: dict[str, list[str]] = json.loads((HERE / "faqs.json").read_text())[name]
    clusters = [(answer, number, texts) for number, (answer, texts) in enumerate(answers.items())]
    return of_clusters(f"faq-{name}", clusters)


def _script(language: str) -> KnownLog:
    """Return 200 questions in 50 clusters of four; two clusters of other words and entities share an answer."""
    of_language = json.loads((HERE / "scripts.json").read_text())[language]
    entities, intents = of_language["entities"], of_language["intents"]
    clusters = [
        [wording.format(x=entity) for wording in wordings] for wordings in intents for entity in entities
    ]  # the entity changes first, so a shift by 27 is another intent and another entity
    answer_of: dict[int, int] = {}
    for number in range(len(clusters)):
        answer_of.setdefault(number, number)
        answer_of.setdefault((number + 27) % len(clusters), number)
    named = [(f"{language} answer {answer_of[number]}", number, texts) for number, texts in enumerate(clusters)]
    return of_clusters(f"script-{language}", named)


def of_clusters(name: str, clusters: Iterable[tuple[str, int, list[str]]]) -> KnownLog:
    """Return the log of these clusters: answer, number of the cluster and its wordings."""
    rows, judged = [], []
    for answer, number, texts in clusters:
        rows += [(text, answer) for text in texts]
        judged += [Judged(fold(answer), question_id(text), number) for text in texts]
    return KnownLog(name, rows, judged)


def known_of_simulated(path: Path) -> KnownLog:
    """Return each question of a simulated log under one answer, with the gold cluster of most of its rows."""
    rows = pq.read_table(path, columns=["question", "gold_cluster"]).drop_null()
    keys = key_all(rows["question"].combine_chunks())
    named = pa.table({"question": hash64_all(keys), "gold": rows["gold_cluster"]}).filter(pc.not_equal(keys, ""))
    counted = named.group_by(["question", "gold"]).aggregate([([], "count_all")])
    order = [("question", "ascending"), ("count_all", "descending"), ("gold", "ascending")]
    ordered = counted.sort_by(order)
    first = np.unique(ordered["question"].to_numpy(), return_index=True)[1]
    questions = zip(*(ordered[name].take(pa.array(first)).to_pylist() for name in ("question", "gold")), strict=True)
    return KnownLog(path.stem, [], [Judged(WHOLE_LOG, question, cluster) for question, cluster in questions])


def _questions_of_answers(rows: list[tuple[str, str]]) -> dict[str, list[int]]:
    """Return the distinct questions of each folded answer, in order of their ids."""
    of_answer: dict[str, set[int]] = collections.defaultdict(set)
    for question, answer in rows:
        of_answer[fold(answer)].add(question_id(question))
    return {answer: sorted(questions) for answer, questions in of_answer.items()}


FAQS = ("shop", "it", "clinic")
SCRIPTS = ("Thai", "Korean", "Arabic", "Persian", "Japanese", "Chinese", "Hindi", "Turkish", "Russian")

LOGS: dict[str, Callable[[int], KnownLog]] = {
    "facts": lambda _: facts(),
    "helpdesk": helpdesk,
    "helpdesk-wrong": lambda seed: helpdesk(seed, wrong=WRONG_SHARE),
    **{f"faq-{name}": lambda _, name=name: _faq(name) for name in FAQS},  # type: ignore[misc]
    "skewed-templates": lambda seed: of_clusters("skewed-templates", template_logs.skewed(seed)),
    "value-templates": lambda seed: of_clusters("value-templates", template_logs.values(seed)),
    "shared-answers": lambda seed: of_clusters("shared-answers", template_logs.shared(seed, 1_500)),
    "shared-answers-large": lambda seed: of_clusters("shared-answers-large", template_logs.shared(seed, 5_000)),
    **{f"script-{name}": lambda _, name=name: _script(name) for name in SCRIPTS},  # type: ignore[misc]
}
"""How each log is made of a seed."""
