from collections.abc import Callable

import numpy as np
import pyarrow as pa
import pytest

from pipelines.intermediate import ASKED
from pipelines.questions.aggregation import name_questions
from pipelines.questions.memberships import merge_answers
from schemas.tables import with_nulls
from schemas.text_arrays import hash64_all, key_all

Members = Callable[..., pa.Table]


@pytest.fixture
def members_of() -> Members:
    """Return a function from the questions of each answer to MEMBERS, ordered as the pipeline orders them."""

    def build(*answers: list[str]) -> pa.Table:
        texts = pa.array([text for answer in answers for text in answer], pa.string())
        number = np.repeat(np.arange(len(answers)), [len(answer) for answer in answers])
        keys = key_all(texts)
        columns = {
            "question_id": hash64_all(keys), "key": keys, "text": texts, "answer_id": pa.array(number),
            "answer": pa.array(number).cast(pa.string()), "events": pa.array(np.ones(len(texts), np.int64)),
        }  # fmt: skip
        return merge_answers(name_questions(with_nulls(ASKED, columns)).members)

    return build
