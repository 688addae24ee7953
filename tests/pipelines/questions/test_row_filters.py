import collections
import datetime
import json

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.intermediate import ASKED, REJECTS
from pipelines.questions.row_filters import MAX_ANSWER_CHARACTERS, MAX_QUESTION_CHARACTERS, validate
from pipelines.questions.settings import Validation
from schemas.tables import QA_LOG
from schemas.text import fold, hash64, key, question_id, words

DAYS = [None, *(datetime.datetime(2024, 1, day, tzinfo=datetime.UTC) for day in (1, 2))]
LOG_ROWS = st.lists(
    st.fixed_dictionaries(
        {
            "question": st.sampled_from(
                [None, "", " \u3000", "?!", "🙂", "Pay my bill?", "pay my bill", "東京は？", "C#"]
            ),
            "answer": st.sampled_from([None, "", "\u00ad", "\t", "In the app", "in  the APP", "Yes", 'a "b"\n\\']),
            "answer_id": st.sampled_from([None, "1", "2"]),
            "timestamp": st.sampled_from(DAYS),
            "user_id": st.sampled_from([None, "u"]),
            "confidence": st.sampled_from([None, 0.1, 0.5, 0.9]),
            "locale": st.sampled_from([None, "en", "en-GB", "de-DE"]),
        }
    ),
    max_size=15,
)


def log(rows):
    return pa.table({f.name: pa.array([row.get(f.name) for row in rows], f.type) for f in QA_LOG})


def fault(row, options):
    question, answer = row.get("question"), row.get("answer")
    checks = {
        "missing_question": question is None,
        "too_long": len(question or "") > MAX_QUESTION_CHARACTERS,
        "empty_question": not (question or "").strip(),
        "no_word": not words(key(question or "")),
        "missing_answer": answer is None,
        "too_long ": len(answer or "") > MAX_ANSWER_CHARACTERS,
        "empty_answer": not fold(answer or ""),
        "low_confidence": options.min_confidence is not None
        and row.get("confidence") is not None
        and row["confidence"] < options.min_confidence,
        "other_locale": options.locale is not None
        and row.get("locale") is not None
        and not f"{row['locale']}-".startswith(f"{options.locale}-"),
    }
    return next((name.strip() for name, holds in checks.items() if holds), None)


def cluster_id(row):
    return hash64(f"id:{row['answer_id']}" if row.get("answer_id") is not None else f"text:{fold(row['answer'])}")


@given(LOG_ROWS, st.sampled_from([None, 0.5]), st.sampled_from([None, "en", "en-GB"]))
def test_every_row_is_counted_once_or_rejects_for_its_first_fault(rows, min_confidence, locale):
    options = Validation(min_confidence=min_confidence, locale=locale)
    found = validate(log(rows), options)
    assert found.asked.schema.equals(ASKED)
    assert found.rejects.schema.equals(REJECTS)
    faults = [fault(row, options) for row in rows]
    kept = [row for row, why in zip(rows, faults, strict=True) if why is None]
    lost = [(row, why) for row, why in zip(rows, faults, strict=True) if why is not None]

    counts, times = collections.Counter(), {}
    for row in kept:
        form = (question_id(row["question"]), key(row["question"]), row["question"], cluster_id(row), row["answer"])
        counts[form] += 1
        times.setdefault(form, []).append(row["timestamp"])
    asked = found.asked.to_pylist()
    forms = [tuple(row[name] for name in ASKED.names[:5]) for row in asked]
    summed = collections.Counter()
    for form, row in zip(forms, asked, strict=True):
        summed[form] += row["events"]
    assert summed == counts
    for form, of_form in times.items():
        own = [row for f, row in zip(forms, asked, strict=True) if f == form]
        known = [time for time in of_form if time]
        firsts = [row["first_seen"] for row in own if row["first_seen"]]
        lasts = [row["last_seen"] for row in own if row["last_seen"]]
        assert (min(firsts, default=None), max(lasts, default=None)) == (
            min(known, default=None),
            max(known, default=None),
        )

    assert found.rejects["reason"].to_pylist() == [why for _, why in lost]
    assert set(found.rejects["stage"].to_pylist()) <= {"validate"}
    for payload, (row, _) in zip(found.rejects["payload"].to_pylist(), lost, strict=True):
        told = json.loads(payload)
        told.pop("timestamp", None)  # written as text
        assert told == {name: value for name, value in row.items() if value is not None and name != "timestamp"}
    assert sum(summed.values()) + len(lost) == len(rows)


def rejects(**row):
    found = validate(log([row]), Validation())
    return found.rejects["reason"].to_pylist()


@pytest.mark.parametrize(
    ("row", "reasons"),
    [
        ({"question": "who", "answer": "me"}, []),
        ({"question": "x" * MAX_QUESTION_CHARACTERS, "answer": "me"}, []),
        ({"question": "x" * (MAX_QUESTION_CHARACTERS + 1), "answer": "me"}, ["too_long"]),
        ({"question": "who", "answer": "x" * MAX_ANSWER_CHARACTERS}, []),
        ({"question": "who", "answer": "x" * (MAX_ANSWER_CHARACTERS + 1)}, ["too_long"]),
        ({"question": "¿?", "answer": "me"}, ["no_word"]),
        ({"question": "who", "answer": "?"}, []),  # an answer may be punctuation
        ({"answer": "me"}, ["missing_question"]),
        ({"question": "who"}, ["missing_answer"]),
        ({}, ["missing_question"]),
    ],
)
def test_limits_by_example(row, reasons):
    assert rejects(**row) == reasons


def test_an_answer_id_is_never_the_same_cluster_as_an_equal_text():
    rows = [{"question": "a", "answer": "7", "answer_id": None}, {"question": "b", "answer": "x", "answer_id": "7"}]
    assert len(set(validate(log(rows), Validation()).asked["answer_id"].to_pylist())) == 2


@pytest.mark.parametrize("blank", ["", " ", "\t", "\u3000 "])
def test_an_answer_id_of_white_space_is_none(blank):
    rows = [{"question": "a", "answer": text, "answer_id": id_} for text in "xy" for id_ in (blank, None)]
    asked = validate(log([*rows, {"question": "a", "answer": "x", "answer_id": f"{blank}7"}]), Validation()).asked
    named = {(hash64("text:x"), None), (hash64("text:y"), None), (hash64(f"id:{blank}7"), f"{blank}7")}
    assert {(row["answer_id"], row["log_answer_id"]) for row in asked.to_pylist()} == named


def test_a_row_without_confidence_or_locale_is_kept():
    rows = [{"question": "a", "answer": "b"}]
    assert len(validate(log(rows), Validation(min_confidence=0.9, locale="en-GB")).asked) == 1


def test_spellings_of_a_locale_are_one():
    rows = [{"question": "a", "answer": "b", "locale": locale} for locale in ("en-GB", "EN_gb ", "en", "de-GB")]
    for locale in ("en_GB", "en-gb"):
        assert validate(log(rows), Validation(locale=locale)).asked["events"].to_pylist() == [2]


def test_a_language_has_all_its_locales_and_no_language_that_begins_alike():
    locales = ("de", "DE-at", "de_Latn_CH", "den", "nds-DE", "", "-de")
    rows = [{"question": f"a{place}", "answer": "b", "locale": locale} for place, locale in enumerate(locales)]
    found = validate(log(rows), Validation(locale="de"))
    assert found.asked["text"].to_pylist() == ["a0", "a1", "a2"]
    assert set(found.rejects["reason"].to_pylist()) == {"other_locale"}


def test_a_confidence_equal_to_the_limit_is_kept():
    rows = [{"question": "a", "answer": "b", "confidence": 0.5}]
    assert len(validate(log(rows), Validation(min_confidence=0.5)).asked) == 1


def test_no_rows_are_no_rows():
    found = validate(log([]), Validation(min_confidence=0.5, locale="en-GB"))
    assert len(found.asked) == len(found.rejects) == 0
    assert found.asked.schema.equals(ASKED)


def test_rows_with_each_answer_to_ignore_are_counted_once() -> None:
    rows = [
        {"question": "a b", "answer": "Sorry", "answer_id": "17"},
        {"question": None, "answer": "sorry "},
        {"question": "a b", "answer": "17", "answer_id": "17"},
        {"question": "a b", "answer": "Never", "answer_id": "17"},
        {"question": "a b", "answer": "In the app"},
    ]
    options = Validation(ignored_answers=("17", "Nobody", "sorry"))
    assert validate(log(rows), options).counts == {"ignored_answer_0": 3, "ignored_answer_2": 2}
    assert validate(log(rows), Validation()).counts == {}
