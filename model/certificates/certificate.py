"""The certificate artefact: written after the tests passed, and checked whenever it is used.

Outcome, Version -> Certificate -> write_certificate -> manifest; load_certificate -> Loaded
"""

from __future__ import annotations

import datetime
from typing import Annotated, Any, Final, NamedTuple, Self

import pydantic

from model.certificates.procedure import ThresholdTest
from model.certificates.version import Version, first_difference
from schemas.artifacts.manifest import Count, Manifest, Sha256, Source, first_fault, read_manifest, read_verified
from schemas.artifacts.writer import Output
from schemas.errors import QprError
from schemas.quantities import counted
from schemas.statistics.binomial import lower_tail, upper_bound

FILE: Final = "certificate.json"
_AGAIN: Final = "Make it again with `qpr certify`"
_ROUNDING: Final = 1e-9
"""Difference of two shares that is rounding, of another processor or SciPy; one answer of a million makes 1e-6."""

_Share = Annotated[float, pydantic.Field(ge=0, le=1)]


class ValueCounts(pydantic.BaseModel, frozen=True, extra="forbid"):
    """Requests of one combination of values of the columns that an index varies by.

    Attributes:
        values: by column.
        requests: judged ones.
        tested: those in the test part.
        answered: those of the test part that the threshold answers.
        wrong: wrong answers among them.
    """

    values: dict[str, str]
    requests: Count
    tested: Count
    answered: Count
    wrong: Count


class Certificate(pydantic.BaseModel, frozen=True, extra="forbid"):
    """A maximum share of wrong answers that judged requests have shown.

    Attributes:
        version: of the answerer.
        version_digest: of that version.
        alpha: promised maximum share of wrong answers among the given ones.
        delta: chance that the promise does not hold.
        threshold: minimum probability of an answer.
        answered: number of requests of the test part that the threshold answers.
        wrong: number of wrong answers among them, unclear ones included.
        upper_bound: Clopper-Pearson bound of the share of wrong answers, with confidence 1 - delta.
        coverage: share of the test part's requests that are answered.
        requests: number of judged requests, without those that are in the index word for word.
        exact: number of requests that are in the index word for word and need no certificate.
        order: number of requests that ordered the thresholds.
        tested: number of requests that tested them.
        tests: threshold, answered, wrong and p-value of each test, up to the first that failed.
        first_day: of the requests.
        last_day: of the requests.
        labellers: persons who judged, sorted.
        labelled_digest: of requests and verdicts.
        created: time of the certification.
        expires: from then on it permits nothing.
        by_value: the requests of each combination of values, most requests first, for an index that varies by columns;
            None for others. The promise is about all of them together.
    """

    version: Version
    version_digest: Sha256
    alpha: float = pydantic.Field(gt=0, lt=1)
    delta: float = pydantic.Field(gt=0, lt=1)
    threshold: _Share
    answered: int = pydantic.Field(ge=1)
    wrong: Count
    upper_bound: _Share
    coverage: _Share
    requests: Count
    exact: Count
    order: Count
    tested: int = pydantic.Field(ge=1)
    tests: list[ThresholdTest] = pydantic.Field(min_length=1)  # earlier releases wrote each as a list of its values
    first_day: datetime.date
    last_day: datetime.date
    labellers: list[str] = pydantic.Field(min_length=1)
    labelled_digest: Sha256
    created: pydantic.AwareDatetime
    expires: pydantic.AwareDatetime
    by_value: list[ValueCounts] | None = None

    @pydantic.field_serializer("tests")
    def _by_name(self, tests: list[ThresholdTest]) -> list[dict[str, int | float]]:
        return [test._asdict() for test in tests]

    @pydantic.model_serializer(mode="wrap")
    def _without_no_values(self, written: pydantic.SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Leave out ``by_value`` where there is none: other certificates have the bytes of earlier releases."""
        fields: dict[str, Any] = written(self)
        return fields if self.by_value is not None else {n: v for n, v in fields.items() if n != "by_value"}

    @pydantic.model_validator(mode="after")
    def _is_shown(self) -> Self:
        """Refuse figures that do not show the promise, or do not fit each other."""
        if self.version.digest != self.version_digest:
            raise ValueError("version_digest is not that of the version")
        if not self.wrong <= self.answered <= self.tested or self.order + self.tested != self.requests:
            raise ValueError("the numbers of requests do not fit each other")
        for name in ("requests", "tested", "answered", "wrong") if self.by_value is not None else ():
            if sum(getattr(counts, name) for counts in self.by_value or ()) != getattr(self, name):
                raise ValueError(f"the numbers by value do not add up to {name}")
        if abs(self.coverage - self.answered / self.tested) > _ROUNDING:
            raise ValueError("the coverage is not answered / tested")
        if abs(self.upper_bound - upper_bound(self.wrong, self.answered, self.delta)) > _ROUNDING:
            raise ValueError("the upper bound is not that of answered and wrong")
        passed = [(t.threshold, t.answered, t.wrong) for t in self.tests if _passes(t, self.alpha, self.delta)]
        if not passed or (self.threshold, self.answered, self.wrong) != passed[-1]:
            raise ValueError("the threshold is not the last that passed its test")
        if not self.created < self.expires:
            raise ValueError("it expires before it was created")
        return self

    def is_expired(self, now: datetime.datetime) -> bool:
        """Return whether it permits nothing any more."""
        return now >= self.expires


class Loaded(NamedTuple):
    """A certificate that was read.

    Attributes:
        url: of its folder.
        digest: of the artefact.
        certificate: its content.
        alarm: audits of given answers have raised the alarm, so that it permits nothing any more.
    """

    url: str
    digest: str
    certificate: Certificate
    alarm: bool = False

    def check(self, version: Version, now: datetime.datetime | None = None) -> None:
        """Refuse a certificate of another version, or one that has expired.

        Args:
            version: of the opened answerer.
            now: present time; None: an expired certificate is accepted.

        Raises:
            QprError: the certificate does not permit answers of this version now.
        """
        if difference := first_difference(self.certificate.version, version):
            raise QprError(
                f"{self.url}: certifies another version: {difference}. Certify this one with `qpr certify`; verdicts "
                "on unchanged answers carry over"
            )
        if now is not None and self.certificate.is_expired(now):
            expired = f"expired on {self.certificate.expires:%Y-%m-%d}"
            raise QprError(f"{self.url}: {expired}. Judge requests of the last days and run `qpr certify` again")


def write_certificate(output: Output, certificate: Certificate, *, inputs: list[Source]) -> Manifest:
    """Write a certificate and publish it.

    Raises:
        QprError: a file cannot be written.
    """
    content = (certificate.model_dump_json(indent=2) + "\n").encode()
    counters = {name: getattr(certificate, name) for name in ("requests", "exact", "answered", "wrong")}
    promise = {name: getattr(certificate, name) for name in ("alpha", "delta", "threshold")}
    files = [output.write(FILE, content, table="certificate")]
    return output.publish(files, inputs=inputs, configuration=promise, counters=counters)


def load_certificate(url: str) -> Loaded:
    """Read the certificate at an fsspec URL; every byte and all its figures are checked.

    Raises:
        QprError: there is none, or it was edited or damaged.
    """
    manifest = read_manifest(url, "certificate")
    files = manifest.of("certificate")
    if len(files) != 1:
        raise QprError(f"{url}: lists {counted(len(files), 'file')} instead of {FILE}. {_AGAIN}")
    content = read_verified(url, files[0])
    try:
        certificate = Certificate.model_validate_json(content)
    except pydantic.ValidationError as error:
        raise QprError(f"{url}/{files[0].path}: edited or damaged: {first_fault(error)}. {_AGAIN}") from error
    return Loaded(url, manifest.digest, certificate)


def _passes(test: ThresholdTest, alpha: float, delta: float) -> bool:
    return bool(lower_tail(test.wrong, test.answered, alpha) <= delta)
