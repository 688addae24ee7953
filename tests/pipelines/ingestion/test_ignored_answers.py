import json

import numpy as np
import pyarrow as pa
import pytest

from pipelines.ingestion.ignored_answers import without_ignored
from pipelines.intermediate import ASKED
from pipelines.privacy.settings import Privacy
from pipelines.questions.row_filters import validate
from pipelines.questions.settings import Validation
from pipelines.writing.rejects import ROWS
from schemas.tables import QA_LOG, with_nulls
from tests.support.encoded_texts import decoded

LOG = [
    ("when do you open", "At nine.", None),
    ("when do you open", "At ten.", None),
    ("when do you open", " at NINE. ", None),
    ("do you ship", "Yes", "shipping"),
    ("do you ship abroad", "Of course", "shipping"),
    ("do you ship abroad", "Of course", "shipping"),
    ("who are you", "shipping", "self"),
]


def log():
    names = ("question", "answer", "answer_id")
    return with_nulls(QA_LOG, dict(zip(names, map(pa.array, zip(*LOG, strict=True)), strict=True)))


@pytest.fixture
def day():
    return validate(log(), Validation()).asked


@pytest.mark.parametrize(
    "ignored",
    [[], ["At nine."], ["at nine.", "shipping", "At Nine."], ["self", "At ten."], ["Shipping", "no row has this"]],
)
def test_a_day_without_some_answers_is_that_of_a_log_that_was_read_without_them(day, ignored):
    read = validate(log(), Validation(ignored_answers=ignored))
    left = without_ignored(day, ignored, Privacy())
    by = [(name, "ascending") for name in ("question_id", "text", "answer_id", "answer")]
    assert decoded(left.asked).sort_by(by) == decoded(read.asked).sort_by(by)
    assert left.counts == read.counts
    rows = left.rejects[ROWS.name].to_numpy().sum() if ignored else 0
    assert rows == len(read.rejects) == len(LOG) - read.asked["events"].to_numpy().sum()
    assert {*left.rejects["reason"].to_pylist()} <= {"ignored_answer"}


def test_a_rejected_row_has_question_and_answer_unless_users_are_counted(day):
    [payload] = without_ignored(day, ["At ten."], Privacy()).rejects["payload"].to_pylist()
    assert json.loads(payload) == {"question": "when do you open", "answer": "At ten."}
    [payload] = without_ignored(day, ["At ten."], Privacy(min_users=2)).rejects["payload"].to_pylist()
    assert json.loads(payload) == {}


def test_further_columns_stay(day):
    users = day.append_column("user", pa.array(np.arange(len(day)), pa.uint64()))
    assert without_ignored(users, ["At ten."], Privacy()).asked.column_names == [*ASKED.names, "user"]
