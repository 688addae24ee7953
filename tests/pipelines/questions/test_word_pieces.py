from __future__ import annotations

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from pipelines.questions.word_pieces import word_pieces


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=12)))
def test_pieces_are_runs_of_four_characters_of_the_marked_word(words):
    expected = [[f"^{word}$"[start : start + 4] for start in range(max(len(word) - 1, 1))] for word in words]
    assert word_pieces(pa.array(words, pa.string())).to_pylist() == expected


def test_a_very_long_word_has_all_its_pieces():
    word = "".join(chr(0x4E00 + number) for number in range(3_000))
    [pieces, short] = word_pieces(pa.array([word, "ab"])).to_pylist()
    assert pieces == [f"^{word}$"[start : start + 4] for start in range(2_999)]
    assert short == ["^ab$"]
