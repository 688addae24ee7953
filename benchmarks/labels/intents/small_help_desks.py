"""Small help desks with a fallback: which answers are chosen as intents, and pair precision and recall.

Run: python -m benchmarks.labels.intents.small_help_desks --refine-with static

Each log has twelve intents of one of ten help desks (`benchmarks.logs.learning_logs`) with four to eight wordings
each, and a fallback with three to eight questions to other help desks. Its answer is an apology in one half of the
rows of the result and a sentence without one in the other half. Logs whose neighbours agree in half of the questions or
more are shown apart from the others. Besides, the eight small FAQs there, of which two have a fallback.
"""

from __future__ import annotations

import collections
import functools
from typing import Annotated, NamedTuple

import numpy as np
import typer

from benchmarks.cli import AsJson, Report, Seed, run
from benchmarks.labels.learning.candidate_pairs import Remembered
from benchmarks.logs.known_logs import KnownLog, of_clusters
from benchmarks.logs.learning_logs import DOMAINS, FALLBACK, FAQS, learning_log
from benchmarks.logs.silver_logs import silver_of_known
from jobs.workflows.worker_encoder import refining_encoder
from pipelines.linkage.intent_answers import MIN_TELLING, choose_intents
from pipelines.linkage.linker import Linker
from pipelines.linkage.scoring.shipped_weights import load_model
from pipelines.linkage.witnesses import evidence_among, find_witnesses
from schemas.ragged import starts_of_runs

INTENTS = 12
WORDINGS = (4, 8)
QUESTIONS_OF_FALLBACK = (3, 8)
"""Smallest and largest numbers of questions."""

NO_APOLOGY = "The number of your request was passed on."


class Linked(NamedTuple):
    """Counts of a log.

    Attributes:
        agreement: share of the questions whose nearest question has the same answer.
        intents: number of answers with one meaning that are chosen as intents.
        fallbacks: number of answers with several meanings that are.
        kept: number of pairs in one cluster.
        right: number of those that are paraphrases.
        paraphrases: number of pairs of one meaning.
    """

    agreement: float
    intents: int
    fallbacks: int
    kept: int
    right: int
    paraphrases: int


@functools.cache
def wordings(domain: str) -> dict[str, list[str]]:
    """Return the wordings of each intent of a help desk, in the order in which they are written."""
    of_intent: dict[str, list[str]] = {}
    for text, intent in learning_log(f"intents-{domain}").rows:
        of_intent.setdefault(intent, []).append(text)
    return of_intent


def help_desk(domain: str, fallback: str, generator: np.random.Generator) -> KnownLog:
    """Return a log of some wordings of intents, and of questions to other help desks under one answer."""
    written = wordings(domain)
    count = int(generator.integers(*WORDINGS, endpoint=True))
    chosen = generator.permutation(list(written))[:INTENTS]
    clusters = [
        (f"Please read the page about {intent} and follow it.", number, _some(written[intent], count, generator))
        for number, intent in enumerate(chosen)
    ]
    others = [text for name in DOMAINS if name != domain for texts in wordings(name).values() for text in texts]
    strangers = _some(others, int(generator.integers(*QUESTIONS_OF_FALLBACK, endpoint=True)), generator)
    clusters += [(fallback, INTENTS + place, [text]) for place, text in enumerate(strangers)]
    return of_clusters(f"{domain} with a fallback", clusters)


def linked(log: KnownLog, linker: Linker) -> Linked:
    """Return the counts of a log that is linked."""
    silver = silver_of_known(log)
    members, gold = silver.members, silver.gold
    answer = members["answer_id"].to_numpy()
    starts = starts_of_runs(answer)
    evidence = evidence_among(members, silver.weights, linker.encode, words_too=linker.model.words_too)
    witnesses = find_witnesses(members, silver.weights, evidence)
    chosen = choose_intents(members, silver.weights, witnesses, starts)
    meanings = np.array([len(np.unique(part)) for part in np.split(gold, starts[1:])])
    group = linker(members, silver.weights, evidence).group
    left, right = np.triu_indices(len(members), 1)
    kept, same = group[left] == group[right], (gold[left] == gold[right]) & (answer[left] == answer[right])
    counts = (chosen & (meanings == 1), chosen & (meanings > 1), kept, kept & same, same)
    return Linked(witnesses.log.share, *(int(mask.sum()) for mask in counts))


def main(
    refine_with: Annotated[str | None, typer.Option(help="Encoder whose vectors are compared.")] = None,
    draws: Annotated[int, typer.Option(min=1, help="Logs of each help desk and kind of fallback.")] = 10,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Print the share of intents and of fallbacks that are joined, and precision and recall of pairs."""
    encode, kind = refining_encoder(refine_with) if refine_with else (None, None)
    linker = Linker(load_model("boosted", kind), Remembered(encode) if encode else None, encoder=kind)
    report = Report(as_json=as_json, refine_with=refine_with, draws=draws, seed=seed)
    generator = np.random.default_rng(seed)
    logs_of_kind: dict[str, list[Linked]] = collections.defaultdict(list)
    for _ in range(draws):
        for domain in DOMAINS:
            for fallback, name in ((FALLBACK, "an apology"), (NO_APOLOGY, "no apology")):
                counts = linked(help_desk(domain, fallback, generator), linker)
                agreeing = "half or more agree" if counts.agreement >= MIN_TELLING else "fewer agree"
                logs_of_kind[f"{agreeing}, {name}"].append(counts)
    for name, logs in sorted(logs_of_kind.items()):
        total = Linked(*(sum(values) for values in zip(*logs, strict=True)))
        intents, fallbacks = total.intents / (INTENTS * len(logs)), total.fallbacks / len(logs)
        report.row(log=name, logs=len(logs), intents=intents, fallbacks=fallbacks, **_precision_and_recall(total))
    for faq in FAQS:
        counts = linked(learning_log(f"faq-{faq}"), linker)
        report.row(log=f"FAQ {faq}", logs=1, fallbacks=counts.fallbacks, **_precision_and_recall(counts))


def _some(texts: list[str], count: int, generator: np.random.Generator) -> list[str]:
    return [texts[place] for place in generator.permutation(len(texts))[:count]]


def _precision_and_recall(counts: Linked) -> dict[str, float]:
    return {"precision": counts.right / max(counts.kept, 1), "recall": counts.right / max(counts.paraphrases, 1)}


if __name__ == "__main__":
    run(main)
