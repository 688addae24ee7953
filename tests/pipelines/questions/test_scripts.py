import collections
import unicodedata

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.intermediate import QUESTIONS
from pipelines.questions import scripts
from pipelines.questions.scripts import SCRIPTS, script_counts


def questions(rows):
    columns = {name: pa.nulls(len(rows), QUESTIONS.field(name).type) for name in QUESTIONS.names}
    columns["key"] = pa.array([key for key, _ in rows], pa.string())
    columns["cluster_id"] = pa.array([1 if kept else None for _, kept in rows], pa.int64())
    return pa.table(columns)


@pytest.mark.parametrize(
    ("key", "script"),
    [
        ("how are you", "latin"),
        ("wie schön", "latin"),
        ("что такое java", "cyrillic"),
        ("วันนี้ 5", "thai"),
        ("ភ្នំពេញ", "khmer"),
        ("မြန်မာ", "burmese"),
        ("བོད་ཡིག", "tibetan"),
        ("東京は", "han"),
        ("東京はどこ", "kana"),
        ("スーパー", "kana"),
        ("ーー", "kana"),
        ("한국어로 sdk", "hangul"),
        ("كيف الطقس", "arabic"),
        ("हिन्दी में", "devanagari"),
        ("ᏣᎳᎩ", "other"),
        ("5 + 3", "none"),
        ("🙂❤️", "none"),
        ("", "none"),
    ],
)
def test_a_question_has_the_most_frequent_script_of_its_letters(key, script):
    assert script_counts(questions([(key, True)])) == {f"script_{script}_kept": 1, f"script_{script}_rejected": 0}


@given(st.lists(st.tuples(st.text("abж東กا5 🙂한ー̈", max_size=6), st.booleans())))
def test_counts_are_those_of_a_loop_over_letters_in_parts_of_any_size(rows):
    def script(key):
        found = collections.Counter()
        for c in filter(str.isalpha, key):
            name = unicodedata.name(c).replace("-", " ").split()[0].lower()
            found[SCRIPTS.index({"cjk": "han", "katakana": "kana"}.get(name, name))] += 1
        return SCRIPTS[min(found, key=lambda place: (-found[place], place))] if found else "none"

    naive = collections.Counter(f"script_{script(key)}_{'kept' if kept else 'rejected'}" for key, kept in rows)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(scripts, "_ROWS", 2)
        counts = script_counts(questions(rows))
    assert {name: number for name, number in counts.items() if number} == naive


@pytest.mark.parametrize(
    ("key", "uncut"),
    [("ꦏꦪꦭꦢꦪꦖꦣꦡꦬꦞꦘꦙꦓ", 1), ("ꦏꦪꦭꦢꦪ ꦖꦣꦡꦬꦞꦘꦙꦓ", 0), ("ꦏꦪꦭ", 0), ("ฉันจะคืนสินค้าได้อย่างไร", 0), ("incomprehensibilities", 0)],
)
def test_a_question_of_one_long_word_is_counted_by_its_script(key, uncut):
    counts = script_counts(questions([(key, False)]))
    assert sum(number for name, number in counts.items() if name.endswith("_uncut")) == uncut
    assert counts.get("script_javanese_uncut", 0) == uncut
