"""Judged requests: a sample of real questions, with a person's verdict on the answer that the index would give.

rows of a requests file -> Request -> check_requests -> requests with different names, all later than the index
"""

from __future__ import annotations

import collections
import datetime
import hashlib
import json
import typing
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, Literal, NamedTuple

from schemas.errors import QprError
from schemas.quantities import counted, listed

Verdict = Literal["right", "wrong", "unclear"]
"""Judgements of an answer; unclear counts as wrong."""

_NAMES: Final[tuple[Verdict, ...]] = typing.get_args(Verdict)

_VERDICTS: Final[Mapping[str, Verdict]] = {**{verdict: verdict for verdict in _NAMES}, "cannot tell": "unclear"}
"""Verdicts by what stands in a cell; "cannot tell" is on the button of `qpr review`."""


class Request(NamedTuple):
    """One request of the traffic.

    Attributes:
        row: number in the file, from 1.
        question: as it was asked.
        asked_at: when.
        verdict: on the answer; "wrong" too where the index has no right answer. None: not judged.
        labeller: the person who judged.
        probability: that the person saw beside the answer.
        answer_id: `model.search.results.Hit.judged_id` of the judged answer.
        request_id: name of the request in the asking system.
        filters: name and value of each column that the index varies by, in the order of the names.
    """

    row: int
    question: str
    asked_at: datetime.datetime
    verdict: Verdict | None = None
    labeller: str | None = None
    probability: float | None = None
    answer_id: str | None = None
    request_id: str | None = None
    filters: tuple[tuple[str, str], ...] = ()

    @property
    def name(self) -> str:
        """Return the name of the request, the same in every file that has it."""
        return self.request_id or json.dumps(
            [self.question, self.asked_at.isoformat(), *(value for _, value in self.filters)], ensure_ascii=False
        )


def read_verdict(text: str) -> Verdict | None:
    """Return the verdict that a cell contains, None for an empty one.

    Raises:
        ValueError: it is none of the verdicts.
    """
    cell = " ".join(text.lower().split())
    if not cell:
        return None
    if cell not in _VERDICTS:
        raise ValueError(f"verdict {text[:40]!a} is none of {', '.join(_NAMES)}")
    return _VERDICTS[cell]


def check_requests(
    source: str,
    requests: Sequence[Request],
    *,
    now: datetime.datetime,
    made: datetime.datetime | None = None,
    log_until: datetime.date | None = None,
) -> None:
    """Refuse requests that are no sample of the traffic after the index.

    Args:
        source: name of the file, for messages.
        requests: its rows.
        now: no request is later.
        made: time of the index's build, where its log's last day is not known; None: not checked.
        log_until: last day of the log of the index; decides in place of ``made``.

    Raises:
        QprError: a request repeats another one or contradicts it, is older than the index or in the future, or a
            verdict has no labeller.
    """
    _check_later(source, requests, made, log_until)
    _refuse(
        source,
        [request.row for request in requests if request.asked_at > now + datetime.timedelta(days=1)],
        "asked in the future. Correct asked_at",
    )
    names = collections.Counter(request.name for request in requests)
    _refuse(
        source,
        [request.row for request in requests if names[request.name] > 1],
        "the same request as another row. Remove the repetition; if people asked it twice, give the time of day in "
        "asked_at or a column request_id",
    )
    _refuse(
        source,
        [request.row for request in requests if request.verdict and not request.labeller],
        "judged without a labeller. Name the person who judged",
    )
    _check_contradictions(source, requests)


def expiry_of(requests: Iterable[Request], days: int) -> datetime.datetime:
    """Return the end of a certificate: its days after the day of the last request in UTC, however often it is made.

    Args:
        requests: at least one.
        days: from the end of that day on.
    """
    end = datetime.datetime.combine(_last_day(requests), datetime.time(), datetime.UTC)
    return end + datetime.timedelta(days=days + 1)


def check_age(source: str, requests: Sequence[Request], *, days: int, now: datetime.datetime) -> None:
    """Refuse requests whose certificate would have expired.

    Args:
        source: name of the file, for messages.
        requests: its rows.
        days: of a certificate after its last request.
        now: the time.

    Raises:
        QprError: the last request is too old.
    """
    if now >= expiry_of(requests, days):
        ago = f"the last request is of {_last_day(requests)}, more than {counted(days, 'day')} ago"
        raise QprError(f"{source}: {ago}. Judge requests of the last days")


def check_verdicts(source: str, judged: Sequence[Request], missing: Sequence[Request], *, lowest: float) -> None:
    """Refuse verdicts that are not on all requests that need one, or that are all alike.

    Args:
        source: name of the file, for messages.
        judged: requests with a verdict on the answer that the index gives.
        missing: requests that need one and have none.
        lowest: probability from which on requests need one.

    Raises:
        QprError: a verdict is missing, or none is wrong.
    """
    _refuse(
        source,
        [request.row for request in missing],
        f"without a verdict on the answer that this index gives, although the probability is at least {lowest:g}. "
        "Judge them; leaving out some would bias the result",
        count=True,
    )
    if judged and not any(request.verdict == "wrong" for request in judged):
        raise QprError(
            f"{source}: none of {counted(len(judged), 'verdict')} is wrong. A sample of real requests contains "
            "questions that the index does not answer, so this one was filtered or was not judged strictly. Draw "
            "requests at random from all traffic, judge them without seeing the probability, count a question "
            "without a right answer as wrong, and judge more of them with a low probability"
        )


def labelled_digest(requests: Iterable[Request]) -> str:
    """Return the SHA-256 of the requests and their verdicts, independent of the order of the rows."""
    lines = sorted(
        json.dumps(
            [request.name, request.question, request.verdict, request.labeller, request.answer_id, *request.filters]
        )
        for request in requests
    )
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


def _last_day(requests: Iterable[Request]) -> datetime.date:
    return max(request.asked_at for request in requests).astimezone(datetime.UTC).date()


def _check_later(
    source: str, requests: Sequence[Request], made: datetime.datetime | None, log_until: datetime.date | None
) -> None:
    """Refuse requests that the index may contain; the arguments are those of `check_requests`."""
    if log_until is not None:
        _refuse(
            source,
            [request.row for request in requests if request.asked_at.astimezone(datetime.UTC).date() <= log_until],
            f"asked by the end of {log_until} (UTC), the last day of the indexed log by --log-until, so that the index "
            "may contain them. Take later requests, or correct that day",
        )
    elif made is not None:
        _refuse(
            source,
            [request.row for request in requests if request.asked_at < made],
            f"asked before {made:%Y-%m-%d %H:%M}, when the index was made, so that the index may contain them. "
            "Take later requests, or give the last day of the indexed log as --log-until",
        )


def _check_contradictions(source: str, requests: Sequence[Request]) -> None:
    first_requests: dict[tuple[object, ...], Request] = {}
    for request in requests:
        if request.verdict is None:
            continue
        before = first_requests.setdefault((request.question, request.answer_id, request.filters), request)
        if before.verdict != request.verdict:
            raise QprError(
                f"{source}: rows {before.row} and {request.row} contradict each other about one question: "
                f"{before.verdict}, {request.verdict}. Let a second person decide"
            )


def _refuse(source: str, rows: Sequence[int], fault: str, *, count: bool = False) -> None:
    """Raise an error that names the first rows, if there are any."""
    if not rows:
        return
    number = f"{counted(len(rows), 'request')}, " if count else ""
    raise QprError(f"{source}: {number}{listed('row', sorted(rows))}: {fault}")
