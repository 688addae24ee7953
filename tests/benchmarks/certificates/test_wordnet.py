"""WordNet's files, and the tables of nouns and verbs that are made from them."""

import pytest

from benchmarks.certificates import make_nouns, make_verbs
from benchmarks.certificates.wordnet import read_wordnet
from schemas.errors import QprError

FILES = {
    "data.noun": [
        "00000001 06 n 01 bird 0 000 | an animal with feathers",
        "00000002 06 n 02 crow 0 Corbie 0 001 @ 00000001 n 0000 | a black bird",
    ],
    "data.verb": [
        "00000003 30 v 01 fry 0 002 @ 00000004 v 0000 * 00000005 v 0000 01 + 08 00 | cook in oil; \"eggs boil\"",
        "00000004 30 v 01 cook 0 000 01 + 08 00 | make a meal",
        "00000005 30 v 01 heat 0 000 01 + 08 00 | make hot",
        "00000006 30 v 01 boil 0 000 01 + 08 00 | bring to bubbles",
    ],
    "index.noun": ["bird n 1 0 1 0 00000001", "corbie n 1 0 1 0 00000002", "crow n 1 1 @ 1 1 00000002"],
    "index.verb": [f"{word} v 1 0 1 0 0000000{at}" for at, word in enumerate(["fry", "cook", "heat", "boil"], 3)],
    "noun.exc": ["crowen crow"],
    "verb.exc": ["fraught fry"],
    "cntlist.rev": ["crow%1:05:00:: 1 3"],
}  # fmt: skip


@pytest.fixture
def wordnet(tmp_path):
    for name in ("noun", "verb", "adj", "adv"):
        for file in (f"data.{name}", f"index.{name}", f"{name}.exc"):
            (tmp_path / file).write_text("".join(f"{line}\n" for line in ["  1 license", *FILES.get(file, ())]))
    (tmp_path / "cntlist.rev").write_text("".join(f"{line}\n" for line in FILES["cntlist.rev"]))
    return read_wordnet(tmp_path)


def test_senses_uses_and_pointers(wordnet):
    crow, bird = ("n", 2), ("n", 1)
    assert wordnet.senses["crow", "n"] == [(crow, 3)]
    assert wordnet.above(crow) == {crow: 0, bird: 1}
    assert wordnet.linked["v", 3] == [("v", 5)]
    assert wordnet.uses("crow") == {"n": 3}
    assert wordnet.capitalized == {"corbie"}
    assert wordnet.irregular["n"] == {"crowen": "crow"}


def test_the_table_of_verbs_relates_kinds_links_and_words_of_a_definition(wordnet):
    written = {"same": ["fry sizzle"], "different": ["boil heat"], "alone": ["cook"], "general": ["make"]}
    rows = {row["word"]: row for row in make_verbs.rows_of(wordnet, written).to_pylist()}
    assert sorted(rows) == ["boil", "cook", "fraught", "fry", "heat", "make", "sizzle"]
    assert (rows["fraught"]["base"], rows["fraught"]["share_of_verb"]) == ("fry", None)
    related = {word for word in rows if set(rows["fry"]["related"]) & set(rows[word]["meanings"])}
    assert related == {"cook", "heat"}  # not "boil", which an example has
    assert set(rows["fry"]["meanings"]) & set(rows["sizzle"]["meanings"])


def test_the_table_of_nouns_has_broader_senses_and_irregular_forms(wordnet):
    table = make_nouns.rows_of(wordnet, {"same": [], "kinds": {}, "no_things": "", "things": ""})
    rows = {row["word"]: row for row in table.to_pylist()}
    assert rows["crowen"]["senses"] == rows["crow"]["senses"]
    assert set(rows["crow"]["broader"]) & set(rows["bird"]["senses"])


def test_a_folder_without_wordnet_names_the_package(tmp_path):
    with pytest.raises(QprError, match=r"data.noun: does not exist. Install Debian's package wordnet-base"):
        read_wordnet(tmp_path)
