"""Questions that nobody but certain users asked, found in the logs of a dataset.

manifest of a dataset, user ids -> questions_of -> texts of questions
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from jobs.options.inputs import check_users, input_files
from pipelines.graphs.from_logs import COLUMNS
from pipelines.graphs.settings import ClustersConfig
from pipelines.privacy.scrub import scrub_columns
from pipelines.reading.reader import divide, read
from schemas.artifacts.manifest import Manifest, read_settings
from schemas.errors import UsageError
from schemas.text_arrays import hash64_all, key_all


class UserQuestions(NamedTuple):
    """Distinct questions of some users.

    Attributes:
        own: texts of those that only these users asked.
        shared: number of those that others asked too, or rows without a user id.
    """

    own: list[str]
    shared: int


def questions_of(url: str, manifest: Manifest, users: Sequence[str]) -> UserQuestions:
    """Read the logs of a dataset again and return the questions of some users.

    Args:
        url: of the dataset, for messages.
        manifest: its own.
        users: their ids.

    Raises:
        UsageError: the dataset was made of labelled pairs, or its logs have no user ids.
        QprError: a log is missing or cannot be read.
    """
    if "held_out" in manifest.configuration:
        raise UsageError(f"{url}: was made of labelled pairs, which have no users. Use --question")
    config = read_settings(url, manifest, ClustersConfig, again="Use --question")
    sources = input_files([source.url for source in manifest.inputs], config, example="qpr erase --dataset dataset")
    check_users(sources, COLUMNS, config.column_names, ["--user"])
    given = pa.array(users, pa.string())

    def rows() -> Iterator[pa.Table]:
        for source in sources:
            for part in divide(source):
                for batch in read(part, COLUMNS, config.column_names):
                    yield scrub_columns(batch.rows, config.privacy.columns)[0]

    texts: dict[int, str] = {}
    for batch in rows():
        asked = batch["question"].filter(pc.is_in(batch["user_id"], value_set=given)).drop_null().unique()
        texts |= zip(_ids(asked).to_pylist(), asked.to_pylist(), strict=True)
    by_others = _asked_by_others(rows, given, np.array(sorted(texts), np.int64))
    return UserQuestions([text for question, text in texts.items() if question not in by_others], len(by_others))


def _asked_by_others(rows: Callable[[], Iterator[pa.Table]], users: pa.Array, questions: np.ndarray) -> set[int]:
    found = set[int]()
    for batch in rows() if len(questions) else ():
        others = batch["question"].filter(pc.invert(pc.is_in(batch["user_id"], value_set=users))).drop_null().unique()
        ids = _ids(others).to_numpy()
        found |= set(ids[np.isin(ids, questions)].tolist())
    return found


def _ids(texts: pa.Array) -> pa.Array:
    return hash64_all(key_all(texts))
