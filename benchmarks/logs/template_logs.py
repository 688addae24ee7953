"""Generated logs of templates: relations with one frequent answer, paraphrases that differ in a value, shared answers.

seed -> skewed, values, shared -> clusters of an answer
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

Cluster = tuple[str, int, list[str]]
"""Answer, number of the cluster, wordings."""

ENTITIES_A_RELATION = 1_000
VALUE_CLUSTERS = 2_600
SHARED = 0.05
"""Share of the clusters of values that get the answer of the cluster before."""


def skewed(seed: int) -> Iterator[Cluster]:
    """Yield questions of 20 relations about 1,000 entities each, of which no two are paraphrases.

    One value is the answer for 60 to 95 % of a relation's entities, the others share 100 values.
    """
    generator = np.random.default_rng(seed)
    texts = template_texts()
    for number, relation in enumerate(texts["relations"]):
        share = generator.uniform(0.6, 0.95)
        for place in range(ENTITIES_A_RELATION):
            entity = invented_name(generator, texts["syllables"])
            rare = 0 if generator.random() < share else int(generator.integers(1, 101))
            question = relation["question"].format(x=entity)
            yield f"{relation['value']} {rare}", number * ENTITIES_A_RELATION + place, [question]


def values(seed: int) -> Iterator[Cluster]:
    """Yield clusters of two to four wordings; the next cluster differs in one value, such as the town."""
    generator = np.random.default_rng(seed)
    texts = template_texts()
    numbers = [str(number) for number in range(100, 1_000, 7)]
    towns = texts["towns"]
    combinations = [("flights", {"a": a, "b": b}) for a in towns for b in towns if a != b]
    combinations += [("courses", {"subject": s, "number": n}) for s in texts["subjects"] for n in numbers]
    combinations += [("addresses", {"street": s, "number": n}) for s in texts["streets"] for n in numbers]
    chosen = [combinations[i] for i in generator.permutation(len(combinations))[:VALUE_CLUSTERS]]
    chosen.sort(key=lambda combination: combination[0])
    answer = 0
    for number, (kind, filled) in enumerate(chosen):
        answer += generator.random() >= SHARED or chosen[number - 1][0] != kind
        wordings = texts[kind]
        count = int(generator.integers(2, len(wordings) + 1))
        yield f"value {answer}", number, [wordings[i].format(**filled) for i in generator.permutation(4)[:count]]


def shared(seed: int, facts: int) -> Iterator[Cluster]:
    """Yield facts in two or three wordings, many of which have the same name as their answer, such as a language."""
    generator = np.random.default_rng(seed)
    texts = template_texts()
    for number in range(facts):
        relation = texts["shared"][generator.integers(len(texts["shared"]))]
        value = relation["values"][generator.integers(len(relation["values"]))]
        entity, count = invented_name(generator, texts["syllables"]), int(generator.integers(2, 4))
        wordings = [relation["wordings"][i].format(x=entity) for i in generator.permutation(3)[:count]]
        yield value, number, wordings


def template_texts() -> dict[str, Any]:
    """Return the texts that questions are made of, by name."""
    texts: dict[str, Any] = json.loads(Path(__file__).with_name("data").joinpath("templates.json").read_text("utf-8"))
    return texts


def invented_name(generator: np.random.Generator, syllables: dict[str, list[str]]) -> str:
    """Return one to three words made of syllables, given as `onsets`, `vowels` and `codas`."""
    return " ".join(_word(generator, syllables) for _ in range(generator.integers(1, 4)))


def _word(generator: np.random.Generator, syllables: dict[str, list[str]]) -> str:
    kinds = [kind for _ in range(generator.integers(2, 4)) for kind in ("onsets", "vowels")]
    return "".join(syllables[kind][generator.integers(len(syllables[kind]))] for kind in [*kinds, "codas"])
