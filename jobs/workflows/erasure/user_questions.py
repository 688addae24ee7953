"""Questions that nobody but certain users asked, found in logs.

manifest of a dataset -> log_of_dataset -> Log -> open_logs; manifest, files -> changed_inputs
opened logs, user ids -> questions_in -> texts of questions
Erasure, texts -> with_questions -> Erasure
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from jobs.display.console import warn
from jobs.options.inputs import input_files, require_users
from jobs.workflows.erasure.faults import Faults, kept
from pipelines.graphs.settings import ClustersConfig
from pipelines.privacy.erase import Erasure
from pipelines.privacy.scrub import scrub
from pipelines.privacy.suppression import Suppression
from pipelines.privacy.users import UserKey, as_text, hash_questions
from pipelines.reading.headers.columns import LOG_COLUMNS
from pipelines.reading.reader import check_header, divide, read
from pipelines.reading.sources import Source, digest_input
from schemas.artifacts.manifest import Manifest, read_settings
from schemas.errors import UsageError, WrongColumnsError
from schemas.text import key
from schemas.text_arrays import hash64_all, key_all

_OF_A_WAREHOUSE: Final = re.compile(r"(.+)/daily/date=\d{4}-\d\d-\d\d/?")
"""An input of a dataset that a night has folded: the daily table of a warehouse."""


class UserQuestions(NamedTuple):
    """Distinct questions of some users.

    Attributes:
        own: texts that only these users asked, each as it was asked or with personal data replaced.
        shared: number of those that others asked too, or rows without a user id.
    """

    own: list[str]
    shared: int


class Log(NamedTuple):
    """Log files that are read in the same way.

    Attributes:
        files: of the log.
        column_names: our name of a column -> theirs, where they differ.
        scrubbed: columns whose personal data is replaced.
        erased: users of whom no row is read any more; None: of nobody.
    """

    files: Sequence[Source]
    column_names: Mapping[str, str]
    scrubbed: tuple[str, ...]
    erased: Suppression | None = None


class _Rows(NamedTuple):
    """Readable rows of a log.

    Attributes:
        users: their ids.
        forms: their questions as they were asked, and with personal data replaced.
        stored: the form that a dataset or a day of this release has.
    """

    users: pa.Array
    forms: tuple[pa.Array, pa.Array]
    stored: pa.Array


def log_of_dataset(url: str, manifest: Manifest) -> Log:
    """Return the log of a dataset, to be read as it was.

    Args:
        url: of the dataset, for messages.
        manifest: its own.

    Raises:
        UsageError: the dataset was made of labelled pairs, or by a warehouse.
        QprError: a log is missing.
    """
    if "held_out" in manifest.configuration:
        raise UsageError(f"{url}: was made of labelled pairs, which have no users. Use --question")
    if made := next(filter(None, (_OF_A_WAREHOUSE.fullmatch(source.url) for source in manifest.inputs)), None):
        warehouse = made[1]
        raise UsageError(
            f"{url}: was made by the warehouse {warehouse}, whose drops show what a user asked. "
            f"Give --warehouse {warehouse} instead of --dataset, which erases from all of its datasets"
        )
    config = read_settings(url, manifest, ClustersConfig, again="Use --question")
    sources = input_files([source.url for source in manifest.inputs], config, example="qpr erase --dataset dataset")
    return Log(sources, config.column_names, config.privacy.columns)


def changed_inputs(manifest: Manifest, files: Sequence[Source], faults: Faults) -> list[str]:
    """Return the URLs of the files that an artefact was made of and that are changed or gone, compared by bytes.

    Args:
        manifest: of the artefact.
        files: of its log, as they are now.
        faults: gets the files that cannot be read, which count as changed.
    """
    now = set[str | None]()
    for file in files if any(source.digest for source in manifest.inputs) else ():
        with kept(file.url, faults):
            now.add(digest_input(file).digest)
    return [source.url for source in manifest.inputs if source.digest and source.digest not in now]


def open_logs(logs: Sequence[Log], faults: Faults, *, needs_users: bool) -> list[Log]:
    """Return logs without the files whose header cannot be read; warn of files without user ids if they are needed.

    Each header is read once, and a second time only where it has no user ids.

    Args:
        logs: to open.
        faults: gets the files that cannot be read.
        needs_users: rows of files without user ids count as those of other users.

    Raises:
        UsageError: no file has user ids, but they are needed.
    """
    missing: dict[str, UsageError] = {}
    opened = []
    for log in logs:
        files = []
        for file in log.files:
            with kept(file.url, faults):
                if not needs_users:
                    check_header(file, LOG_COLUMNS, log.column_names)
                elif error := _missing_users(file, log):
                    missing[file.url] = error
                files.append(file)
        opened.append(log._replace(files=files))
    if missing and len(missing) == sum(len(log.files) for log in opened):
        raise next(iter(missing.values()))
    for url in missing:
        warn(f"{url}: has no user ids, so its rows count as those of other users")
    return opened


def _missing_users(file: Source, log: Log) -> UsageError | None:
    """Return why a file whose header can be read has no user ids, or None if it has them."""
    try:
        require_users([file], log.column_names)
    except WrongColumnsError:
        check_header(file, LOG_COLUMNS, log.column_names)  # raises another fault of the file
        column = log.column_names.get("user_id", "user_id")
        return UsageError(f"--user: {file.url} has no column {column}. Give the questions of the user by --question")
    return None


def questions_in(logs: Sequence[Log], users: Sequence[str], faults: Faults) -> UserQuestions:
    """Return the questions of some users in logs.

    Args:
        logs: all of them, by `open_logs`; a question that only some of the users asked is theirs.
        users: their ids.
        faults: gets the files that cannot be read, from whose first fault on nothing is found.
    """
    given = pa.array(users, pa.string())

    def rows() -> Iterator[tuple[Log, _Rows]]:
        for log in logs:
            for file in log.files:
                yield from ((log, batch) for batch in _rows_of(file, log, faults))

    texts, stored = dict[int, str](), set[int]()
    for _, batch in rows():
        by_these = pc.is_in(batch.users, value_set=given)
        for form in batch.forms:  # both, as an earlier release can have replaced less
            asked = form.filter(by_these).drop_null().unique()
            texts |= zip(_ids(asked).to_pylist(), asked.to_pylist(), strict=True)
        stored.update(_ids(batch.stored.filter(by_these).drop_null().unique()).to_pylist())
    by_others = _asked_by_others(rows, given, np.array(sorted(texts), np.int64))
    own = [text for question, text in texts.items() if question not in by_others]
    return UserQuestions(own, len(stored & by_others))


def with_questions(erasure: Erasure, texts: Sequence[str], user_key: UserKey | None) -> Erasure:
    """Return an erasure of further questions, of no other form of them: others may have asked that.

    Args:
        erasure: to add to.
        texts: of `UserQuestions.own`.
        user_key: of the hashes in payloads; without one there are none.
    """
    keys = sorted({key(text) for text in texts} - {""})
    hashes = as_text(hash_questions(pa.array(keys, pa.string()), user_key)).to_pylist() if user_key else []
    return erasure._replace(keys=erasure.keys.union(keys), question_hashes=erasure.question_hashes.union(hashes))


def files_with(logs: Sequence[Log], ids: pa.Array, users: Sequence[str], faults: Faults) -> list[str]:
    """Return the URLs of log files with readable rows of questions or users.

    Args:
        logs: all of them, by `open_logs`.
        ids: of questions.
        users: their ids.
        faults: gets the files that cannot be read.
    """
    given = pa.array(users, pa.string())

    def has(file: Source, log: Log) -> bool:
        return any(
            pc.any(pc.is_in(column, value_set=values)).as_py()
            for rows in _rows_of(file, log, faults)
            for column, values in ((rows.users, given), *((_ids(form), ids) for form in rows.forms))
        )

    return [file.url for log in logs for file in log.files if has(file, log)]


def _rows_of(file: Source, log: Log, faults: Faults) -> Iterator[_Rows]:
    """Yield the readable rows of a file."""
    with kept(file.url, faults):
        for part in divide(file):
            for batch in read(part, LOG_COLUMNS, log.column_names):
                asked = batch.rows["question"].combine_chunks()
                forms = asked, scrub(asked).texts
                stored = forms["question" in log.scrubbed]
                yield _Rows(batch.rows["user_id"].combine_chunks(), forms, stored)


def _asked_by_others(
    rows: Callable[[], Iterator[tuple[Log, _Rows]]], users: pa.Array, questions: np.ndarray
) -> set[int]:
    asked = set[int]()
    for log, batch in rows() if len(questions) else ():
        by_users = pc.is_in(batch.users, value_set=users)
        by_others = pc.invert(pc.or_(by_users, log.erased.are_users(batch.users)) if log.erased else by_users)
        for form in batch.forms:
            ids = _ids(form.filter(by_others).drop_null().unique()).to_numpy()
            asked |= set(ids[np.isin(ids, questions)].tolist())
    return asked


def _ids(texts: pa.Array) -> pa.Array:
    return hash64_all(key_all(texts))
