"""Settings of a night: its window, the rule of training, the test set of the gate, the index and the certificate.

options of `qpr nightly` -> NightSettings, IndexOptions, CertificateSettings -> NightTerms -> jobs.nightly.flow
"""

from __future__ import annotations

import dataclasses
import re
from typing import TYPE_CHECKING, Annotated, Final, Self

import pydantic

from jobs.nightly.gate.settings import GateSettings
from jobs.options.encoder_training import EncoderTraining
from model.certificates.settings import Certification, Promise
from pipelines.graphs.settings import ClustersConfig, IndexConfig, IndexTuning
from schemas.option import Option

if TYPE_CHECKING:
    from apache_beam.options.pipeline_options import PipelineOptions

    from pipelines.privacy.users import UserKey


def _form(pattern: str, described: str) -> pydantic.AfterValidator:
    """Return the check that a text has a form; pydantic's own check of patterns shows the pattern."""

    def check(text: str) -> str:
        if not re.fullmatch(pattern, text):
            raise ValueError(f"must be {described}")
        return text

    return pydantic.AfterValidator(check)


_WINDOW: Final = _form(r"[1-9][0-9]{0,4}d", "a number of days from 1d to 99999d, such as 365d")
_RETRAIN: Final = _form(
    r"always|weekly|never|changed:(0?\.[0-9]+|0|1)",
    "always, weekly, never, or changed: with a share from 0 to 1, such as changed:0.2",
)


class NightSettings(pydantic.BaseModel, frozen=True, extra="forbid", title="Night"):
    """Settings of a night that are none of a step."""

    window: Annotated[str, Option(metavar="DAYS"), _WINDOW] = pydantic.Field(
        default="365d", description="Days that a dataset spans, such as 365d."
    )
    retrain: Annotated[str, Option(metavar="RULE"), _RETRAIN] = pydantic.Field(
        default="weekly",
        description="Nights that train an encoder: always, weekly, never, or changed:0.2 if more than this share of "
        "the clusters changed since the last training. The first night always trains.",
    )
    new_test_set: bool = pydantic.Field(
        default=False, description="Take this night's test split as the frozen test set of later nights."
    )

    @property
    def window_days(self) -> int:
        """Return the number of days of the window."""
        return int(self.window.removesuffix("d"))


class IndexOptions(IndexTuning, frozen=True, extra="forbid", title="Index"):
    """Options of `qpr index` that a night has; other ones build the index again."""

    index_shards: int = pydantic.Field(default=8, ge=1, le=4096, description="Number of parts of the index.")

    @property
    def config(self) -> IndexConfig:
        """Return the settings of the index."""
        given = self.model_dump(exclude_unset=True)
        if "index_shards" in given:
            given["shards"] = given.pop("index_shards")
        return IndexConfig(**given)


class CertificateSettings(Promise, frozen=True, extra="forbid", title="Certificate"):
    """Promise of a night's certificate, and the requests that have to show it."""

    requests: Annotated[str | None, Option(metavar="FILE", default="none: no certificate")] = pydantic.Field(
        default=None,
        description="Judged requests, as `qpr certify` takes them with answer_id, to certify the index by.",
    )
    require_certificate: bool = pydantic.Field(
        default=False, description="Refuse a night without a certificate; else it is published without."
    )
    certificate_days: int = pydantic.Field(
        default=30, ge=1, le=366, description="Days after its last request until a certificate expires."
    )

    @pydantic.model_validator(mode="after")
    def _check_requests(self) -> Self:
        """Refuse settings of a certificate without requests."""
        if self.model_fields_set - {"requests"} and self.requests is None:
            raise ValueError(
                "--alpha, --delta, --certificate-days and --require-certificate belong to --requests; give that file "
                "too"
            )
        return self

    @property
    def procedure(self) -> Certification:
        """Return the settings of the tests."""
        return Certification(alpha=self.alpha, delta=self.delta, days=self.certificate_days)


@dataclasses.dataclass(frozen=True)
class NightTerms:
    """Everything that decides on a night besides its date.

    Attributes:
        clusters: how logs are read and clusters made.
        encoder: how an encoder is trained.
        night: window, rule of training, test set.
        gate: limits of the gate.
        options: Beam's.
        max_reject_ratio: maximum share of rejected rows of a day and of the window.
        user_key: of the hashes of users and questions that are written.
        certificate: promise of the certificate, and the requests that show it.
        index: how an index is built.
    """

    clusters: ClustersConfig
    encoder: EncoderTraining
    night: NightSettings
    gate: GateSettings
    options: PipelineOptions
    max_reject_ratio: float
    user_key: UserKey | None = None
    certificate: CertificateSettings = dataclasses.field(default_factory=CertificateSettings)
    index: IndexConfig = dataclasses.field(default_factory=IndexConfig)
