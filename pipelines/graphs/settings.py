"""Settings of the pipelines that make datasets.

options of `qpr clusters` and `qpr quora` -> ClustersConfig, QuoraConfig -> from_logs.build, from_pairs.build
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, Self, TypeVar

import pydantic

from pipelines.clusters.settings import DEFAULT_SALT, Gate, Recalibration, Reviewed, SplitSalt
from pipelines.decontamination.settings import Leakage
from pipelines.duplicates.settings import HeldOut
from pipelines.linkage.settings import Linking
from pipelines.privacy.settings import Privacy
from pipelines.questions.settings import Ambiguity, Validation
from pipelines.reading.settings import NamedColumns
from schemas.filters import FilterColumns, checked_vary_by
from schemas.option import PROBES, Option

if TYPE_CHECKING:
    from pipelines.reading.sources import Source

_SHARD_BYTES = 32 * 2**20
"""Bytes of log text for each shard, which holds all rows of its questions or answers (docs/scale.md)."""

_MOST_SHARDS = 4096
"""Maximum number of shards: steps buffer up to 32 KB for each, 128 MB in all (docs/engines.md)."""

IndexPreset = Literal["tuned", "paper"]

PRESETS: dict[IndexPreset, dict[str, Any]] = {"tuned": {}, "paper": {"factory": "IVF2000,Flat", "probes": 10}}
"""Settings of an index by name: chosen by size and recall, and those of Bonadiman et al. (2019), section 4.3."""

_Settings = TypeVar("_Settings", bound=pydantic.BaseModel)


class Sharded(pydantic.BaseModel, frozen=True, extra="forbid"):
    """Number of parts of a run."""

    shards: Annotated[int | None, Option(panel="Limits", default="by size")] = pydantic.Field(
        default=None, ge=1, le=_MOST_SHARDS, description="Number of parts of the work; it decides the names of files."
    )

    def for_files(self, files: Sequence[Source]) -> Self:
        """Return the settings with a number of shards: without one, a shard has about `_SHARD_BYTES` of log text."""
        from pipelines.reading.estimate import text_bytes

        by_size = min(_MOST_SHARDS, max(1, math.ceil(sum(map(text_bytes, files)) / _SHARD_BYTES)))
        return self if self.shards else self.model_copy(update={"shards": by_size})


class Assembly(pydantic.BaseModel, frozen=True, extra="forbid"):
    """Settings of clusters: how they are judged, split and paired.

    Attributes:
        recalibration: correction of the linkage's probabilities by verdicts, and the threshold that they support.
        reviewed: clusters and questions that people judged to be wrong.
    """

    linking: Linking = Linking()
    recalibration: Recalibration | None = None
    reviewed: Reviewed | None = None
    gate: Gate = Gate()
    leakage: Leakage = Leakage()
    salt: SplitSalt = DEFAULT_SALT
    max_pairs_per_cluster: Annotated[int, Option(panel="Limits")] = pydantic.Field(
        default=10_000, ge=1, description="Maximum number of pairs of a cluster."
    )


class IngestConfig(NamedColumns, Sharded, frozen=True, extra="forbid"):
    """Everything that decides the daily table that `qpr ingest` makes of a day's logs."""

    COLUMNS: ClassVar[tuple[str, ...]] = (
        "question",
        "answer",
        "answer_id",
        "timestamp",
        "user_id",
        "confidence",
        "locale",
    )

    validation: Validation = Validation()
    privacy: Privacy = Privacy()


class ClustersConfig(NamedColumns, Sharded, frozen=True, extra="forbid"):
    """Everything that decides the dataset that `qpr clusters` makes of its logs.

    Defaults that depend on other settings are resolved here, so an instance has the values that a run uses.
    """

    COLUMNS: ClassVar[tuple[str, ...]] = IngestConfig.COLUMNS
    QUESTIONS_A_ROW: ClassVar[int] = 1

    assembly: Assembly = Assembly()
    ambiguity: Ambiguity = Ambiguity()
    validation: Validation = Validation()
    privacy: Privacy = Privacy()

    @pydantic.model_validator(mode="after")
    def _resolve(self) -> Self:
        """Set what was not given and depends on other settings."""
        paper = self.assembly.gate.coherence == "paper"  # the paper splits no answer and replaces and removes nothing
        linking, gate = self.assembly.linking, self.assembly.gate
        leakage, ambiguity, privacy = self.assembly.leakage, self.ambiguity, self.privacy
        if paper:
            linking = _with_default(linking, method="none")
            leakage = _with_default(leakage, near_duplicate=0.0)
            ambiguity = _with_default(ambiguity, min_answer_share=0.0)
            privacy = _with_default(privacy, scrub="off")
        if not ambiguity.min_answer_share and "min_answer_events" in ambiguity.model_fields_set:
            setting = "--min-answer-share 0, which --coherence paper sets too"
            raise ValueError(f"--min-answer-events has no use with {setting}. Leave it out")
        if linking.method == "none":  # nothing but coherence rejects questions that are no paraphrases
            gate = _with_default(gate, min_coherence=0.1)  # the paper's threshold
        elif linking.encoder:  # paraphrases that vectors find may share no word
            gate = _with_default(gate, min_coherence=0.0)
        assembly = self.assembly.model_copy(update={"linking": linking, "gate": gate, "leakage": leakage})
        self.__dict__.update(
            assembly=assembly, ambiguity=ambiguity, privacy=privacy
        )  # frozen for users of an instance, not for this
        return self

    @property
    def ingestion(self) -> IngestConfig:
        """Return the part that decides how rows are read."""
        return IngestConfig(**{name: getattr(self, name) for name in IngestConfig.model_fields})


class LabelledAssembly(Assembly, frozen=True, extra="forbid"):
    """Settings of clusters that people have judged: none is split or rejected, and their coherence is written."""

    linking: Linking = Linking(method="none", min_probability=None, answers="auto")  # given, so no options
    gate: Gate = Gate(coherence="paper", min_coherence=0)


class QuoraConfig(NamedColumns, Sharded, frozen=True, extra="forbid"):
    """Everything that decides the dataset that `qpr quora` makes of its pairs."""

    COLUMNS: ClassVar[tuple[str, ...]] = ("question1", "question2", "is_duplicate", "qid1", "qid2")
    QUESTIONS_A_ROW: ClassVar[int] = 2

    held_out: HeldOut = HeldOut()
    assembly: LabelledAssembly = LabelledAssembly()


class IndexTuning(pydantic.BaseModel, frozen=True, extra="forbid"):
    """Settings of an index that decide its size, and the time and quality of its searches."""

    factory: Annotated[str | None, Option(metavar="NAME", default="by size; Flat under 10,000 questions")] = (
        pydantic.Field(
            default=None,
            description="FAISS index: Flat (exact), a graph (HNSW32,SQ8,RFlat) or lists (IVF2000,PQ128x4fs,RFlat).",
        )
    )
    probes: Annotated[int | None, Option(default="the fewest for --recall")] = pydantic.Field(
        default=None, ge=1, description=PROBES
    )
    recall: float = pydantic.Field(
        default=0.98,
        gt=0,
        le=1,
        description="Share of the ten nearest questions that a search has to find; decides --probes.",
    )
    memory_mb: Annotated[int | None, Option("memory-mb", metavar="MB", default="no bound")] = pydantic.Field(
        default=None,
        ge=1,
        description="Maximum resident memory of build and search; decides factory and shards if not given.",
    )
    bm25: bool = pydantic.Field(
        default=True, description="Add BM25 for modes bm25 and fusion, about 90 bytes a question."
    )
    latency_ms: float = pydantic.Field(
        default=5.0,
        gt=0,
        description="Maximum computed CPU milliseconds of the median query: bounds lists searched and mode.",
    )
    answerable_share: Annotated[float | None, Option(default="0.5")] = pydantic.Field(
        default=None,
        ge=0.01,
        le=0.99,
        description="Expected share of the requests that have an answer in the index; it decides probabilities.",
    )

    @pydantic.model_validator(mode="after")
    def _check_recall(self) -> Self:
        """Refuse a recall beside the probes that it would choose."""
        if self.probes is not None and "recall" in self.model_fields_set:
            raise ValueError(f"--recall {self.recall}: chooses --probes, which are given. Leave it out")
        return self


class IndexConfig(IndexTuning, NamedColumns, frozen=True, extra="forbid"):
    """Everything that decides the index that `qpr index` makes of questions and a model."""

    COLUMNS: ClassVar[tuple[str, ...]] = ("question", "answer", "answer_id", "cluster_id", "events")

    preset: IndexPreset = pydantic.Field(
        default="tuned", description="Settings of --factory and --probes where they are not given."
    )
    shards: int = pydantic.Field(default=8, ge=1, le=4096, description="Number of parts of the index.")
    vary_by: Annotated[tuple[str, ...], Option(metavar="COLUMN", panel="Filters")] = pydantic.Field(
        default=(), description="Column, such as locale, of which every search names a value. Repeatable."
    )
    valid_until: Annotated[str | None, Option(metavar="COLUMN", panel="Filters", default="no end")] = pydantic.Field(
        default=None, description="Column with the date or time until which an answer is given."
    )

    @property
    def filters(self) -> FilterColumns:
        """Return the columns that filter searches."""
        return FilterColumns(self.vary_by, self.valid_until)

    @pydantic.field_validator("vary_by")
    @classmethod
    def _are_names(cls, names: tuple[str, ...]) -> tuple[str, ...]:
        return checked_vary_by(names)

    @pydantic.model_validator(mode="after")
    def _fill_in(self) -> Self:
        """Take what is not given from the preset; check the columns that filter together."""
        if self.valid_until in {"", "question", "answer", *self.vary_by}:
            raise ValueError(f"--valid-until {self.valid_until}: must be a column of its own")
        preset = PRESETS[self.preset]
        if "probes" in preset and "recall" in self.model_fields_set:
            of_preset = f"which are of --preset {self.preset}"
            raise ValueError(f"--recall {self.recall}: chooses --probes, {of_preset}. Leave it out")
        given = {name: value for name, value in preset.items() if getattr(self, name) is None}
        for name, value in given.items():
            self.__dict__[name] = value  # frozen for users of an instance, not for this
        return self


def _with_default(settings: _Settings, **defaults: object) -> _Settings:
    """Return settings with other defaults; a value that was given stays, and so does the record of what was given."""
    others = {name: value for name, value in defaults.items() if name not in settings.model_fields_set}
    return settings.model_construct(settings.model_fields_set, **dict(settings) | others)
