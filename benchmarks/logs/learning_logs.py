"""Logs whose paraphrases are known, to learn from: other subjects and wordings than those that labels are scored on.

name, seed -> learning_log -> KnownLog
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
import json
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from benchmarks.logs.known_logs import HERE, KnownLog, of_clusters, with_wrong_answers
from benchmarks.logs.template_logs import Cluster, invented_name, template_texts

VARIED = ("telecom", "airline", "insurance", "university", "streaming", "energy")
"""Help desks in which an intent's wordings have few words in common."""

ALIKE = ("parcels", "rides", "payroll", "transit")
"""Help desks in which an intent's wordings repeat the same words."""

DOMAINS = VARIED + ALIKE
FAQS = ("bikes", "city", "course", "gym", "hotel", "landlord", "library", "museum")
FALLBACK = "Sorry, I did not understand that. Please rephrase your question."
"""Answer of two FAQs to questions that have nothing in common."""

WRONG_PERCENT = (2, 5)
"""Percent of the rows that get another row's answer in `intents-…-wrong-2` and `intents-…-wrong-5`."""

SHARED_PAIRS = 4
"""Pairs of neighbouring intents with one answer in `intents-…-shared`."""

FREQUENT = (0.5, 0.95)
"""Smallest and largest share of a relation's entities that have its frequent answer, in `skewed`."""

ENTITIES_A_RELATION = (50, 1_000)
"""Smallest and largest number of entities of a relation in `skewed`."""

RARE_ANSWERS = 100
TWO_WORDINGS = 0.2
"""Share of the entities of `skewed` about which one relation is asked in two wordings."""

CLUSTERS_A_DOMAIN = 400
NEIGHBOURS_ANSWER = 0.05
"""Share of the clusters of `values` that get the answer of the cluster before."""

STRAYS = 0.3
"""Share of the clusters of `values-strays` whose answer was logged for another question too."""

ENTITIES_A_PAIR = 40
SAME_ANSWER = 0.5
"""Share of the entities of `near-misses` for which two relations have the same answer."""


def learning_log(name: str, *, seed: int = 0) -> KnownLog:
    """Return a log by its name in `LOGS`."""
    return LOGS[name](seed)


def _intents(domain: str, seed: int, *, name: str, wrong: float = 0.0, pairs: int = 0) -> KnownLog:
    """Return the requests to a help desk; an answer is an intent, or two of them for ``pairs`` drawn intents.

    The next intent of the file is close to the one before, so the intents of a pair are easily confused.
    """
    generator = np.random.default_rng(seed)
    intents = _data("learning_intents.json")[domain]
    answers = list(intents)
    for first in 2 * generator.permutation(len(answers) // 2)[:pairs]:
        answers[first + 1] = answers[first]
    placed = [(text, number) for number, texts in enumerate(intents.values()) for text in texts]
    rows = [(text, answers[number]) for text, number in placed]
    return with_wrong_answers(name, rows, [number for _, number in placed], wrong, generator)


def _faq(name: str) -> KnownLog:
    """Return the questions of a small FAQ; the wordings of an answer have hardly a word in common."""
    clusters: list[Cluster] = []
    for answer, texts in _data("learning_faqs.json")[name].items():
        alike = [[text] for text in texts] if answer == FALLBACK else [texts]
        clusters += [(answer, len(clusters) + place, together) for place, together in enumerate(alike)]
    return of_clusters(f"faq-{name}", clusters)


def _skewed(generator: np.random.Generator) -> Iterator[Cluster]:
    """Yield questions of 25 relations; most entities of a relation have one answer, the others up to 100."""
    number = itertools.count()
    for relation in _data("learning_templates.json")["relations"]:
        share = generator.uniform(*FREQUENT)
        values = relation.get("values") or [_answer(relation["answer"], generator) for _ in range(RARE_ANSWERS + 1)]
        frequent, *rare = (values[place] for place in generator.permutation(len(values)))
        for entity in _names(generator, int(generator.integers(*ENTITIES_A_RELATION, endpoint=True))):
            answer = frequent if generator.random() < share else rare[generator.integers(len(rare))]
            count = 2 if generator.random() < TWO_WORDINGS else 1
            chosen = generator.permutation(relation["questions"])[:count]
            yield answer, next(number), [str(wording).format(x=entity) for wording in chosen]


def _values(generator: np.random.Generator, *, strays: float) -> Iterator[Cluster]:
    """Yield clusters of two to four wordings that differ from the next in one value; strays are numbered below zero."""
    number, stray = itertools.count(), itertools.count(-1, -1)
    for domain in _data("learning_templates.json")["values"]:
        lists = [_names(generator, 40) if given == "names" else given for given in domain["fields"].values()]
        filled = [dict(zip(domain["fields"], chosen, strict=True)) for chosen in itertools.product(*lists)]
        order = generator.permutation(len(filled))
        count = min(CLUSTERS_A_DOMAIN, 3 * len(filled) // 4)
        others = iter(order[count:])
        answer = ""
        for place in sorted(order[:count]):
            if not answer or generator.random() >= NEIGHBOURS_ANSWER:
                answer = _answer(domain["answer"], generator)
            wordings = generator.permutation(domain["wordings"])[: generator.integers(2, 5)]
            yield answer, next(number), [str(wording).format(**filled[place]) for wording in wordings]
            if generator.random() < strays and (other := next(others, None)) is not None:
                yield answer, next(stray), [str(generator.choice(domain["wordings"])).format(**filled[other])]


def _near_misses(generator: np.random.Generator) -> Iterator[Cluster]:
    """Yield two wordings of two relations that differ in a word, about one entity, often with one answer."""
    number = itertools.count()
    for pair in _data("learning_templates.json")["near_misses"]:
        for entity in _names(generator, ENTITIES_A_PAIR):
            answer = _answer(pair["answer"], generator)
            other = answer if generator.random() < SAME_ANSWER else _answer(pair["answer"], generator)
            for given, wordings in ((answer, pair["first"]), (other, pair["second"])):
                yield given, next(number), [wording.format(x=entity) for wording in wordings]


def _names(generator: np.random.Generator, count: int) -> list[str]:
    """Return distinct invented names."""
    syllables = template_texts()["syllables"]
    names: dict[str, None] = {}
    while len(names) < count:
        names[invented_name(generator, syllables)] = None
    return list(names)


def _answer(form: str, generator: np.random.Generator) -> str:
    """Return an answer with an invented name, year or number in place of `{name}`, `{year}` or `{number}`."""
    year, number = generator.integers(1_500, 2_025), generator.integers(1, 10_000)
    return form.format(name=_names(generator, 1)[0], year=year, number=number)


@functools.cache
def _data(name: str) -> Any:
    return json.loads((HERE / name).read_text("utf-8"))


def _of_templates(name: str, clusters: Callable[[np.random.Generator], Iterator[Cluster]], seed: int) -> KnownLog:
    """Return the log of generated clusters, in which those with a number below zero are strays."""
    log = of_clusters(name, clusters(np.random.default_rng(seed)))
    return dataclasses.replace(log, judged=[dataclasses.replace(row, planted=row.group < 0) for row in log.judged])


def _versions(domain: str) -> dict[str, Callable[[int], KnownLog]]:
    """Return the logs of a domain by name: as written, with wrong answers, and with answers of two intents."""
    options: dict[str, dict[str, Any]] = {f"intents-{domain}": {}, f"intents-{domain}-shared": {"pairs": SHARED_PAIRS}}
    options |= {f"intents-{domain}-wrong-{percent}": {"wrong": percent / 100} for percent in WRONG_PERCENT}
    return {name: functools.partial(_intents, domain, name=name, **chosen) for name, chosen in options.items()}


LOGS: dict[str, Callable[[int], KnownLog]] = {
    **{name: make for domain in DOMAINS for name, make in _versions(domain).items()},
    **{f"faq-{name}": lambda _, name=name: _faq(name) for name in FAQS},  # type: ignore[misc]
    "skewed": functools.partial(_of_templates, "skewed", _skewed),
    "values": functools.partial(_of_templates, "values", functools.partial(_values, strays=0.0)),
    "values-strays": functools.partial(_of_templates, "values-strays", functools.partial(_values, strays=STRAYS)),
    "near-misses": functools.partial(_of_templates, "near-misses", _near_misses),
}
"""How each log is made of a seed."""
