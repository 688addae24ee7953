"""The limit of the rows of one user and answer, before questions are counted.

PCollection[ASKED with users] -> limit_by_answer -> PCollections of ASKED with users and of REJECTS
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import apache_beam as beam
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pipelines.engine.shuffle import GroupByShard
from pipelines.intermediate import USER
from pipelines.privacy.k_users import limit_answers
from pipelines.privacy.settings import Privacy
from pipelines.privacy.users import UserKey
from pipelines.writing.rejects import TAG
from schemas.hashing import mix

_PLACE: Final = "place"
"""Further column: a hash of user and answer, by which all rows of both come together."""


def limit_by_answer(
    asked: beam.PCollection[pa.Table],
    rejects: beam.PCollection[pa.Table],
    *,
    privacy: Privacy,
    shards: int,
    user_key: UserKey | None,
) -> tuple[beam.PCollection[pa.Table], beam.PCollection[pa.Table]]:
    """Return rows without those by which a user has too many of one answer, and all rejects.

    Only with `Privacy.max_answer_events_of_user` there is a shuffle.

    Args:
        asked: ASKED tables, with users.
        rejects: REJECTS tables of rows that could not be used.
        privacy: the limits.
        shards: number of parts of the shuffle.
        user_key: of the hashes of questions that are written.
    """
    if privacy.max_answer_events_of_user is None:
        return asked, rejects
    limited = (
        asked
        | "PlaceUsers" >> beam.Map(with_places)
        | "ShuffleByUserAndAnswer" >> GroupByShard(key=_PLACE, shards=shards)
        | "LimitAnswers" >> beam.FlatMap(limited_rows, privacy, user_key).with_outputs(TAG, main="asked")
    )
    return limited.asked, (rejects, limited[TAG]) | "UnusableAndLimited" >> beam.Flatten()


def with_places(asked: pa.Table) -> pa.Table:
    """Return ASKED rows with their places; rows without a user, which stay, are spread by their questions."""
    user = pc.fill_null(asked[USER.name], 0).to_numpy().view(np.int64)
    of_user = mix(user, 0).view(np.int64) ^ asked["answer_id"].to_numpy()
    has_user = pc.is_valid(asked[USER.name]).to_numpy()
    return asked.append_column(_PLACE, pa.array(np.where(has_user, of_user, asked["question_id"].to_numpy())))


def limited_rows(asked: pa.Table, privacy: Privacy, user_key: UserKey | None) -> Iterator[Any]:
    """Yield the rows that count of a shard, and those that do not."""
    limited = limit_answers(asked.drop_columns(_PLACE), privacy, user_key)
    yield limited.asked
    if len(limited.rejects):
        yield beam.pvalue.TaggedOutput(TAG, limited.rejects)
