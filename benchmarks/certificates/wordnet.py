"""WordNet 3.0: senses of words, their uses, and what its pointers link them to.

data.*, index.*, *.exc, cntlist.rev -> WordNet -> makers of the tables of nouns and verbs

The folder is that of Debian's package wordnet-base.
"""

from __future__ import annotations

import collections
import dataclasses
import functools
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from schemas.errors import QprError

_PARTS: Final = {"noun": "n", "verb": "v", "adj": "a", "adv": "r"}
"""Letters of the parts of speech by the ending of their files."""
_BROADER: Final = ("@", "@i")
_LINKS: Final = ("*", ">", "$")
"""WordNet's pointers of entailment, cause and verb group."""
Sense = tuple[str, int]
"""Part of speech, and offset of the sense in its file."""


@dataclasses.dataclass(frozen=True, eq=False)
class WordNet:
    """WordNet's files.

    Attributes:
        senses: senses of each word and part of speech, each with its number of uses, the first one most frequent.
        broader: direct broader senses of each sense.
        linked: senses that each verb's sense entails, causes or is grouped with.
        glosses: definition of each sense, with examples in quotation marks.
        kinds: file of each sense.
        irregular: irregular forms by part of speech, and what they are forms of.
        capitalized: words that occur with a capital letter only.
    """

    senses: dict[tuple[str, str], list[tuple[Sense, int]]]
    broader: dict[Sense, list[Sense]]
    linked: dict[Sense, list[Sense]]
    glosses: dict[Sense, str]
    kinds: dict[Sense, int]
    irregular: dict[str, dict[str, str]]
    capitalized: set[str]

    @functools.cache  # noqa: B019 - one object for the whole run
    def above(self, sense: Sense) -> dict[Sense, int]:
        """Return a sense and all broader ones, each with its level."""
        levels, last = {sense: 0}, [sense]
        while last:
            found = {broader: levels[one] + 1 for one in last for broader in self.broader[one]}
            last = [broader for broader in found if broader not in levels]
            levels |= {broader: found[broader] for broader in last}
        return levels

    def uses(self, word: str) -> dict[str, int]:
        """Return the number of uses of a word as each part of speech that it can be."""
        senses = {part: self.senses.get((word, part), ()) for part in _PARTS.values()}
        return {part: sum(count for _, count in found) for part, found in senses.items() if found}


def read_wordnet(folder: Path) -> WordNet:
    """Read a folder of WordNet 3.0.

    Raises:
        QprError: a file is missing.
    """
    broader, linked = dict[Sense, list[Sense]](), dict[Sense, list[Sense]]()
    glosses, kinds = dict[Sense, str](), dict[Sense, int]()
    spellings = collections.defaultdict[str, set[str]](set)
    for name, part in _PARTS.items():
        for data, gloss in _lines(folder / f"data.{name}"):
            cells = data.split()
            sense, words = (part, int(cells[0])), int(cells[3], 16)
            kinds[sense], glosses[sense] = int(cells[1]), gloss
            for word in cells[4 : 4 + 2 * words : 2] if part == "n" else ():
                spellings[word.lower()].add(word)
            at = 5 + 2 * words
            pointers = [cells[place : place + 2] for place in range(at, at + 4 * int(cells[at - 1]), 4)]
            broader[sense], linked[sense] = (
                [(part, int(other)) for kind, other in pointers if kind in kinds_of_pointers]
                for kinds_of_pointers in (_BROADER, _LINKS)
            )
    uses = _uses(folder / "cntlist.rev")
    senses = {
        (cells[0], part): [
            ((part, int(offset)), uses[cells[0], part, number])
            for number, offset in enumerate(cells[-int(cells[2]) :], start=1)
        ]
        for name, part in _PARTS.items()
        for cells in _rows(folder / f"index.{name}")
    }
    irregular = {part: {cells[0]: cells[1] for cells in _rows(folder / f"{name}.exc")} for name, part in _PARTS.items()}
    capitalized = {word for word, all_ in spellings.items() if word not in all_}
    return WordNet(senses, broader, linked, glosses, kinds, irregular, capitalized)


def _rows(path: Path) -> Iterator[list[str]]:
    """Yield the cells of each line."""
    return (data.split() for data, _ in _lines(path))


def _lines(path: Path) -> Iterator[tuple[str, str]]:
    """Yield the data and the gloss of each line."""
    if not path.is_file():
        raise QprError(
            f"{path}: does not exist. Install Debian's package wordnet-base, or give the folder of its files"
        )
    for line in path.read_text("latin1").splitlines():
        if not line.startswith("  "):
            data, _, gloss = line.partition(" | ")
            yield data, gloss


def _uses(path: Path) -> collections.Counter[tuple[str, str, int]]:
    """Return the number of uses of each word, part of speech and number of its sense."""
    uses = collections.Counter[tuple[str, str, int]]()
    for key, number, count in _rows(path):
        word, _, rest = key.partition("%")
        uses[word, "nvara"[int(rest[0]) - 1], int(number)] = int(count)
    return uses
