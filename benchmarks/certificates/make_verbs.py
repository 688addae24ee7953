"""Makes the table of English verbs that the guard of actions reads, from WordNet 3.0 and a written list.

Run: python -m benchmarks.certificates.make_verbs --wordnet /usr/share/wordnet

The folder is that of Debian's package wordnet-base. The table has the verbs of `verbs.json`. Two verbs may name the
same action if WordNet has a meaning of both, if one is a kind of the other, if WordNet links them (verb groups,
entailment, cause), or if the definition of one has the other. In `verbs.json`,

- a line of `same` has verbs of everyday speech and of trades that may name the same action; "change: swap switch" has
  some that may stand for "change" and are not the same themselves;
- a line of `different` has verbs that name different actions, although WordNet relates some of them;
- `alone` has verbs without a synonym in the list;
- `general` has verbs that stand for many others.
"""

from __future__ import annotations

import collections
import itertools
import json
import re
from pathlib import Path
from typing import Annotated, Any, Final

import pyarrow as pa
import pyarrow.parquet as pq
import typer

from benchmarks.certificates.wordnet import WordNet, read_wordnet
from benchmarks.cli import AsJson, Report, run

ACTIONS: Final = Path(__file__).resolve().parents[2] / "model" / "guards" / "actions"
LEVELS: Final = 2
"""Levels of broader meanings that name the same action: "assassinate", "murder", "kill"."""
WORD: Final = re.compile("[a-z]{2,24}(?:_[a-z]{2,12})?")
Key = tuple[str, int | str]
"""A sense of WordNet, a word, or a line of the written list."""


def rows_of(wordnet: WordNet, written: dict[str, Any]) -> pa.Table:
    """Return the table: ``word``, ``base``, ``share_of_verb``, ``meanings`` and ``related``, ordered by word.

    ``base`` is the verb that the word is an irregular form of: "find" of "found". ``share_of_verb`` is null if the word
    is a form only.

    Args:
        wordnet: the files.
        written: content of `verbs.json`.
    """
    own, near = collections.defaultdict[str, set[Key]](set), collections.defaultdict[str, set[Key]](set)
    for number, line in enumerate(written["same"]):
        hub, _, others = line.rpartition(":")
        for word in others.split():
            (near if hub else own)[word].add(("same", number))
        if hub:
            own[hub].add(("same", number))
    for word in {*near, *" ".join((*written["different"], *written["alone"])).split()}:
        own[word].add(("word", word))
    own |= {word: set() for word in " ".join(written["general"]).split() if word not in own}
    for word in [word for word in own if (word, "v") in wordnet.senses]:
        own[word].add(("word", word))
        for sense, _ in wordnet.senses[word, "v"]:
            own[word].add(sense)
            near[word] |= {one for one, level in wordnet.above(sense).items() if 0 < level <= LEVELS}
            near[word].update(wordnet.linked[sense], (("word", other) for other in _definition(wordnet.glosses[sense])))
    shares = {word: _share_of_verb(wordnet.uses(word)) for word in own}
    return _table(own, near, shares, wordnet.irregular["v"])


def _definition(gloss: str) -> set[str]:
    """Return the words of a definition without its examples, and its pairs of words: "pick", "pick_up"."""
    words = re.findall("[a-z]+", gloss.partition('"')[0])
    return {*words, *map("_".join, itertools.pairwise(words))}


def _share_of_verb(uses: dict[str, int]) -> float:
    """Return the share of the verb among the smoothed uses of a word."""
    smoothed = {part: count + 0.5 for part, count in uses.items()}
    return smoothed.get("v", 0.0) / sum(smoothed.values()) if smoothed else 1.0


def _table(
    own: dict[str, set[Key]], near: dict[str, set[Key]], shares: dict[str, float], bases: dict[str, str]
) -> pa.Table:
    """Return the rows, without meanings that no two words share."""
    owners = collections.Counter(key for keys in own.values() for key in keys)
    linked = {key for keys in near.values() for key in keys}
    shared = sorted((key for key, count in owners.items() if count > 1 or key in linked), key=repr)
    numbers = {key: number for number, key in enumerate(shared)}
    bases = {form: base for form, base in bases.items() if base in own and WORD.fullmatch(form)}
    words, kind = sorted({*own, *bases}), pa.list_(pa.uint16())
    meanings, related = (
        pa.array([sorted(numbers[key] for key in keys.get(word, ()) if key in numbers) for word in words], kind)
        for keys in (own, near)
    )
    share = pa.array([shares.get(word) for word in words], pa.float32())
    base = pa.array([bases.get(word) for word in words], pa.string())
    return pa.table({"word": words, "base": base, "share_of_verb": share, "meanings": meanings, "related": related})


def main(
    wordnet: Annotated[Path, typer.Option(help="Folder of WordNet 3.0.")],
    output: Annotated[Path, typer.Option(help="Table to write.")] = ACTIONS / "verbs.parquet",
    as_json: AsJson = False,
) -> None:
    """Write the table and print its counts."""
    written = json.loads((ACTIONS / "verbs.json").read_text("utf-8"))
    table = rows_of(read_wordnet(wordnet), written)
    pq.write_table(table, output, compression="zstd", compression_level=19, use_dictionary=False)
    report = Report(as_json=as_json, wordnet=str(wordnet))
    report.row(words=len(table), bytes=output.stat().st_size)


if __name__ == "__main__":
    run(main)
