"""Guards: false answers still given and right answers lost, on contrast sets, natural questions and pairs of a dataset.

Run: python -m benchmarks.certificates.guards --dataset quora --labelled quora_duplicate_questions.tsv.gz
"""

from __future__ import annotations

import collections
import itertools
import json
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Annotated, Any, Final, NamedTuple

import pyarrow.csv
import typer

from benchmarks.cli import AsJson, Report, run
from model.guards.languages.glossing.lists import NAMES
from model.guards.languages.language import languages
from model.guards.reading import Reading
from model.guards.registry import GUARDS, fires
from schemas.artifacts.dataset import open_dataset
from schemas.statistics.binomial import upper_bound
from schemas.text import hash64

CONTRAST: Final = Path(__file__).parent / "contrast"
LANGUAGES: Final = CONTRAST / "languages"
HALVES: Final = ("held out", "learning")
WITH_FIRST_SETS: Final = ("symbols", "numbers", "negation", "order", "entity", "action")
"""Guards with a set by the author of their first rules; answer types have pairs by other writers alone."""
Texts = tuple[str, str]


class Pair(NamedTuple):
    """A pair of a contrast set.

    Attributes:
        guard: that the difference is made for.
        query: text of one question.
        question: text of the other.
        paraphrase: whether an answer to one is right for the other.
        held_out: whether no rule was made on it.
    """

    guard: str
    query: str
    question: str
    paraphrase: bool
    held_out: bool


def read_pairs(guard: str) -> list[Pair]:
    """Return the English contrast set of a guard by the author of its first rules."""
    return [
        Pair(guard, query, question, row["paraphrase"], hash64(f"{query}\n{question}") % 2 == 1)
        for row in _rows(CONTRAST / f"{guard}.jsonl")
        for query, question in [(row["query"], row["question"])]
    ]


def read_language(language: str) -> list[Pair]:
    """Return the contrast sets of a language by writers who had seen no rule; without a file, a half has none."""
    return [
        Pair(row["guard"], row["query"], row["question"], row["paraphrase"], half == "held out")
        for half in HALVES
        for path in [LANGUAGES / half.replace(" ", "_") / f"{language}.jsonl"]
        if path.exists()
        for row in _rows(path)
    ]


def read_wordings(language: str) -> list[Texts]:
    """Return the pairs of natural questions in another language that have the same answer."""
    intents: dict[str, list[str]] = collections.defaultdict(list)
    for row in _rows(LANGUAGES / "natural" / f"{language}.jsonl"):
        intents[row["intent"]].append(row["question"])
    return [pair for wordings in intents.values() for pair in itertools.combinations(wordings, 2)]


def _rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def main(
    dataset: Annotated[
        str | None, typer.Option(help="Dataset written by qpr quora: pairs that are paraphrases.")
    ] = None,
    split: Annotated[str, typer.Option(help="Split whose pairs count; rules were made on train.")] = "validation",
    labelled: Annotated[
        str | None, typer.Option(help="Labelled pairs (TSV): what the guards see among non-duplicates.")
    ] = None,
    most: Annotated[int, typer.Option(min=1, help="Maximum number of labelled pairs.")] = 100_000,
    as_json: AsJson = False,
) -> None:
    """Print the tables."""
    report = Report(as_json=as_json, guards=", ".join(GUARDS))
    report.heading("Contrast sets in English by the authors of the rules")
    _report_pairs(report, [pair for guard in WITH_FIRST_SETS for pair in read_pairs(guard)])
    names = [language.name for language in languages()]
    for group in (["english"], names, list(NAMES)):
        report.heading(f"Contrast sets in {_titles(group)} by other writers")
        pairs = {name: read_language(name) for name in group}
        _report_pairs(report, [pair for name in group for pair in pairs[name]])
        for half in HALVES:
            of_half = {name: [pair for pair in pairs[name] if pair.held_out == (half == "held out")] for name in group}
            if len(group) > 1 and any(of_half.values()):
                report.heading(f"The same by language, {half}")
                for name in group:
                    report.row(language=name, **_cells(_count(of_half[name])))
    for group in (names, list(NAMES)):
        report.heading(f"Natural questions with the same answer in {_titles(group)}: right answers lost")
        wordings = {name: read_wordings(name) for name in group}
        for name in group:
            report.row(language=name, **_shares(wordings[name]))
        report.row(language="all", **_shares([pair for name in group for pair in wordings[name]]))
    _report_faqs(report)
    if dataset is not None:
        report.heading("Pairs of a dataset")
        clusters = open_dataset(dataset).table("clusters", split=split, columns=["texts"])["texts"].to_pylist()
        texts = [pair for members in clusters for pair in itertools.combinations(members, 2)]
        report.row(pairs=f"paraphrases of {split}", **_shares(texts))
    if labelled is not None:
        report.row(pairs="labelled non-duplicates", **_shares(list(_non_duplicates(labelled, most))))


def _report_faqs(report: Report) -> None:
    """Write the wordings of FAQs that each guard stops, by FAQ and for all, for both halves."""
    report.heading("Wordings of FAQs in English: right answers lost")
    for half, name in zip(HALVES, ("wordings_held_out", "wordings"), strict=True):
        rows = _rows(CONTRAST / f"{name}.jsonl")
        for domain in dict.fromkeys(row["domain"] for row in rows):
            of_faq = [(row["query"], row["question"]) for row in rows if row["domain"] == domain]
            report.row(half=half, faq=domain, **_shares(of_faq))
        report.row(half=half, faq="all", **_shares([(row["query"], row["question"]) for row in rows]))


def _titles(names: list[str]) -> str:
    return ", ".join(name.title() for name in names)


def _report_pairs(report: Report, pairs: list[Pair]) -> None:
    """Write the rows of each guard, and of all, for both halves."""
    for half in HALVES:
        totals = collections.Counter[str]()
        of_half = [pair for pair in pairs if pair.held_out == (half == "held out")]
        if not of_half:
            continue
        for guard in dict.fromkeys(pair.guard for pair in pairs):
            counts = _count(pair for pair in of_half if pair.guard == guard)
            if not counts:
                continue
            totals += counts
            report.row(half=half, guard=guard, **_cells(counts))
        report.row(half=half, guard="all", **_cells(totals))


def _count(pairs: Iterable[Pair]) -> collections.Counter[str]:
    counts: collections.Counter[str] = collections.Counter()
    for pair in pairs:
        blocked = fires(pair.query, pair.question) is not None
        counts["right" if pair.paraphrase else "wrong"] += 1
        counts["right_lost" if pair.paraphrase else "wrong_given"] += blocked == pair.paraphrase
    return counts


def _cells(counts: collections.Counter[str]) -> dict[str, object]:
    wrong, given, right, lost = (counts[name] for name in ("wrong", "wrong_given", "right", "right_lost"))
    return {
        "differ": wrong,
        "false_answers": given,
        "share_false": given / wrong,
        "at_most_95": upper_bound(given, wrong, 0.05),
        "paraphrases": right,
        "right_lost": lost,
        "share_lost": lost / right,
    }


def _shares(texts: list[Texts]) -> dict[str, object]:
    """Return the percentage of pairs on which each guard fires, and on which any does."""
    counts: collections.Counter[str] = collections.Counter()
    started = time.process_time()
    first = [fires(one, two) for one, two in texts]
    spent = time.process_time() - started
    for one, two in texts:
        readings = Reading(one), Reading(two)
        counts.update(guard for guard, differ in GUARDS.items() if differ(*readings))
    cells: dict[str, object] = {"count": len(texts)}
    cells |= {f"{guard} %": 100 * counts[guard] / len(texts) for guard in GUARDS}
    cells["any %"] = 100 * sum(name is not None for name in first) / len(texts)
    return cells | {"cpu_us_a_pair": 1e6 * spent / len(texts)}


def _non_duplicates(path: str, most: int) -> Iterator[Texts]:
    """Return at most a number of the pairs labelled 0, chosen by a hash."""
    table = pyarrow.csv.read_csv(
        path,
        parse_options=pyarrow.csv.ParseOptions(delimiter="\t", newlines_in_values=True),
        convert_options=pyarrow.csv.ConvertOptions(include_columns=["question1", "question2", "is_duplicate"]),
    )
    rows = zip(*(table[name].to_pylist() for name in ("question1", "question2", "is_duplicate")), strict=True)
    pairs = [(one, two) for one, two, duplicate in rows if not duplicate and one and two]
    yield from sorted(pairs, key=lambda pair: hash64("\n".join(pair)))[:most]


if __name__ == "__main__":
    run(main)
