"""Noise of speech recognition and typing in a question.

clean questions -> add_noise -> the questions as they are logged
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pipelines.simulation.settings import Noise

_SOUND_ALIKE = """
to two too|there their|your you're|whose who's|which witch|where wear|write right|won one|whether weather|
capital capitol|its it's|by buy|for four|know no|hour our|way weigh|made maid|main mane|sun son|see sea|
hear here|eight ate|would wood|road rode|great grate|tale tail|pair pear|die dye|cost coast|cook crook|
tall tell|film fill|book brook|song sung|long lung|old hold|how who|is as|does dust|does this|when win|
live leave|name aim|rich reach|of off|in inn|than then|the a
"""
_FILLERS: Final = ("um ", "hey ", "okay so ", "please tell me ", "hi there, ", "I want to know: ")


def _sound_alikes() -> dict[str, str]:
    groups = [group.split() for group in _SOUND_ALIKE.replace("\n", "").split("|")]
    return {word: group[(i + 1) % len(group)] for group in reversed(groups) for i, word in enumerate(group)}


SOUND_ALIKE: Final = _sound_alikes()
"""The word that replaces a misheard word."""


def truncate(words: list[str], where: float) -> list[str]:
    """Return the first words, at least half of them and never all; a single word remains."""
    minimum = (len(words) + 1) // 2
    return words[: minimum + int(where * (len(words) - minimum))]


def mishear(words: list[str], where: float) -> list[str]:
    """Return the words with one that has a sound-alike replaced by it; unchanged if none has."""
    places = [i for i, word in enumerate(words) if word.lower() in SOUND_ALIKE]
    if not places:
        return words
    at = places[int(where * len(places))]
    return [*words[:at], SOUND_ALIKE[words[at].lower()], *words[at + 1 :]]


def drop(words: list[str], where: float) -> list[str]:
    """Return the words without one; a single word remains."""
    at = int(where * len(words))
    return [*words[:at], *words[at + 1 :]] if len(words) > 1 else words


def double(words: list[str], where: float) -> list[str]:
    """Return the words with one repeated."""
    at = int(where * len(words))
    return [*words[: at + 1], *words[at:]]


def swap(words: list[str], where: float) -> list[str]:
    """Return the words with two neighbours exchanged; a single word remains."""
    at = int(where * (len(words) - 1))
    return [*words[:at], *reversed(words[at : at + 2]), *words[at + 2 :]]


_CHANGES: Final[dict[str, Callable[[list[str], float], list[str]]]] = {
    "truncated": truncate,
    "homophone": mishear,
    "dropped": drop,
    "doubled": double,
    "swapped": swap,
}


def add_noise(questions: pa.Array, noise: Noise, rng: np.random.Generator) -> tuple[pa.Array, np.ndarray]:
    """Return the questions as they are logged and a mask of those with changed words, (n,) bool.

    No question becomes empty. Only the rows whose words change are touched in Python.
    """
    rates = np.array([getattr(noise, name) for name in _CHANGES])
    happens = rng.random((len(questions), len(rates))) < rates
    changed: np.ndarray = np.any(happens, axis=1)
    rows = pc.filter(questions, pa.array(changed)).to_pylist()
    where = rng.random((len(rows), len(rates))).tolist()
    texts = [_change(*row) for row in zip(rows, happens[changed].tolist(), where, strict=True)]
    questions = pc.replace_with_mask(questions, pa.array(changed), pa.array(texts, pa.string()))
    surface, filler = rng.random((3, len(questions))), rng.random(len(questions))
    questions = pc.if_else(pa.array(surface[0] < noise.unpunctuated), _without_punctuation(questions), questions)
    fillers = np.where(surface[1] < noise.filler, (filler * len(_FILLERS)).astype(np.int64), len(_FILLERS))
    opening = pa.array([*_FILLERS, ""]).take(pa.array(fillers))
    questions = pc.binary_join_element_wise(opening, questions, "")
    return pc.if_else(pa.array(surface[2] < noise.lower_case), pc.utf8_lower(questions), questions), changed


def _change(text: str, happens: list[bool], where: list[float]) -> str:
    body = text.rstrip("?.! ")
    words, ending = body.split(), text[len(body) :]
    if not words:
        return text
    for change, now, place in zip(_CHANGES.values(), happens, where, strict=True):
        if now:
            words = change(words, place)
    return " ".join(words) + ending


def _without_punctuation(questions: pa.Array) -> pa.Array:
    bare = pc.replace_substring_regex(questions, r"[?!.,;:]+(\s|$)", r"\1")
    bare = pc.utf8_trim_whitespace(pc.replace_substring(bare, "'", ""))
    return pc.if_else(pc.equal(bare, ""), questions, bare)
