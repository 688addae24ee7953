"""Makes the table of English nouns that the guard of entities reads, from WordNet 3.0 and a written list.

Run: python -m benchmarks.certificates.make_nouns --wordnet /usr/share/wordnet

The folder is that of Debian's package wordnet-base. A noun is a thing of its own if it is used as a noun mostly, and is
either rare in WordNet's annotated texts or of a concrete kind (animals, artefacts, food …). Words of other kinds are in
the table if these texts have them. `nouns.json` has synonyms of everyday speech that WordNet lacks, and names of two or
more words ("driving_licence").
"""

from __future__ import annotations

import collections
import json
import re
from pathlib import Path
from typing import Annotated, Any, Final

import pyarrow as pa
import pyarrow.parquet as pq
import typer

from benchmarks.certificates.wordnet import Sense, WordNet, read_wordnet
from benchmarks.cli import AsJson, Report, run

ENTITIES: Final = Path(__file__).resolve().parents[2] / "model" / "guards" / "entities"
CONCRETE: Final = frozenset([5, 6, 8, 13, 15, 17, 18, 20, 21, 27, 28])
"""WordNet's files of animals, artefacts, bodies, food, places, objects, persons, plants, possessions, substances and
times."""
NATURAL: Final = frozenset([5, 8, 13, 20, 27])
"""Those of which a general word names a thing too: "dog", "water"; "device" and "person" do not."""
MOST_USES: Final = 20
"""Uses in the annotated texts up to which a noun of any kind is specific: of 1,241 and 122 pairs of Quora in which both
are, 9 % are labelled as duplicates; of all pairs of two nouns 15 %."""
MOST_KINDS: Final = 150
"""Kinds of a thing from which a word is too general: "device"."""
SHARE_OF_NOUN: Final = 0.6
SHARE_OF_SENSE: Final = 0.2
"""Share of a noun's uses from which a sense decides about its kind."""
LEVELS: Final = 6
"""Levels of broader senses that are looked at."""
WORD: Final = re.compile("[a-z]{2,24}")


class Nouns:
    """Words by what they name.

    Args:
        wordnet: the files.
    """

    def __init__(self, wordnet: WordNet) -> None:
        self._net = wordnet
        self.words = sorted({word for word, _ in wordnet.senses if WORD.fullmatch(word)})
        self._kinds = collections.Counter(
            broader for sense in wordnet.broader if sense[0] == "n" for broader in wordnet.above(sense)
        )

    def of(self, word: str) -> list[Sense]:
        """Return the senses of a noun."""
        return [sense for sense, _ in self._net.senses.get((word, "n"), ())]

    def is_thing(self, word: str) -> bool:
        """Return whether a word of WordNet names a thing of its own."""
        uses = self._net.uses(word)
        smoothed = {part: count + 0.5 for part, count in uses.items()}
        if smoothed.get("n", 0) < SHARE_OF_NOUN * sum(smoothed.values()):
            return False
        senses = self._net.senses[word, "n"]
        main = [sense for sense, count in senses if count >= max(1, SHARE_OF_SENSE * uses["n"])] or self.of(word)[:1]
        kind = self._net.kinds[main[0]]
        if kind not in NATURAL and max(self._kinds[sense] for sense in main) > MOST_KINDS:
            return False
        return uses["n"] <= MOST_USES or kind in CONCRETE


def rows_of(wordnet: WordNet, written: dict[str, Any]) -> pa.Table:
    """Return the table: ``word``, ``is_thing``, ``senses`` and ``broader``, ordered by word.

    Args:
        wordnet: the files.
        written: content of `nouns.json`.
    """
    nouns = Nouns(wordnet)
    groups = collections.defaultdict[str, set[Any]](set)
    wider = collections.defaultdict[str, set[Any]](set)
    for number, line in enumerate(written["same"]):
        for word in line.split():
            groups[word].add(("same", number))
    for word, kinds in written["kinds"].items():
        groups[word].add(("kind", word))
        for kind in kinds.split():
            wider[kind].add(("kind", word))
    others = set[str](written["no_things"].split())
    things = set[str](written["things"].split())
    unlisted = {
        word
        for word in {*groups, *wider}
        if "_" in word or word in wordnet.capitalized or not any(wordnet.uses(word).values())
    }
    things |= unlisted | {word for word in nouns.words if word not in wordnet.capitalized and nouns.is_thing(word)}
    known = wordnet.capitalized | things
    others |= {word for word in nouns.words if word not in known and any(wordnet.uses(word).values())}
    for word in things:
        singular = word.removesuffix("s")
        if singular in things and not nouns.of(word):  # "prawns"
            groups[word] |= groups[singular]
            wider[word] |= wider[singular]
        senses = nouns.of(word) or nouns.of(singular)
        groups[word] |= set(senses)
        levels = (wordnet.above(sense).items() for sense in senses)
        wider[word] |= {sense for each in levels for sense, level in each if 0 < level <= LEVELS}
    return _table(things - others, others, groups, wider, wordnet.irregular)


def _table(
    things: set[str],
    others: set[str],
    groups: dict[str, set[Any]],
    wider: dict[str, set[Any]],
    irregular: dict[str, dict[str, str]],
) -> pa.Table:
    """Return the rows, without senses that no two words share; an irregular form has the row of its base."""
    owners = collections.Counter(sense for word in things for sense in groups[word])
    above = collections.Counter(sense for word in things for sense in wider[word])
    shared = sorted((sense for sense in owners if owners[sense] > 1 or above[sense]), key=repr)
    kept = {sense: number for number, sense in enumerate(shared)}
    rows = {
        word: (True, *([kept[s] for s in sorted(found[word], key=repr) if s in kept] for found in (groups, wider)))
        for word in things
    }
    rows = {word: row for word, row in rows.items() if row[1] or row[2] or "_" in word}
    rows |= {word: (False, [], []) for word in others}
    for part in ("n", "v", "a", "r"):
        for form, base in irregular[part].items():
            if base in rows and form not in things | others and WORD.fullmatch(form):
                rows.setdefault(form, rows[base])
    words, kind = sorted(rows), pa.list_(pa.uint16())
    is_thing, *lists = zip(*(rows[word] for word in words), strict=True)
    senses, broader = (pa.array(column, kind) for column in lists)
    return pa.table({"word": words, "is_thing": is_thing, "senses": senses, "broader": broader})


def main(
    wordnet: Annotated[Path, typer.Option(help="Folder of WordNet 3.0.")],
    output: Annotated[Path, typer.Option(help="Table to write.")] = ENTITIES / "nouns.parquet",
    as_json: AsJson = False,
) -> None:
    """Write the table and print its counts."""
    table = rows_of(read_wordnet(wordnet), json.loads((ENTITIES / "nouns.json").read_text("utf-8")))
    pq.write_table(table, output, compression="zstd", compression_level=19, use_dictionary=False)
    report = Report(as_json=as_json, wordnet=str(wordnet))
    things = sum(table["is_thing"].to_pylist())
    report.row(words=len(table), things=things, others=len(table) - things, bytes=output.stat().st_size)


if __name__ == "__main__":
    run(main)
