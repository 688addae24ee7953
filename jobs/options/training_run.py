"""Settings of a training run that do not change its result: device, checkpoints, resuming and time limit.

command line -> RunTerms and its subclasses -> jobs.workflows
"""

from __future__ import annotations

from typing import Annotated

import pydantic

from jobs.display.help import OPTIONS
from schemas.option import Option


class RunTerms(pydantic.BaseModel, frozen=True, extra="forbid", title="Run"):
    """Settings of any training run.

    The checkpoint of the default encoder, 0.8 GB, is written in a few seconds, a hundredth of 5 minutes.
    """

    max_minutes: Annotated[float | None, Option(metavar="MINUTES", panel=OPTIONS, default="no limit")] = pydantic.Field(
        default=None, gt=0, description="Time limit of the run."
    )
    resume: Annotated[bool, Option(panel=OPTIONS)] = pydantic.Field(
        default=False, description="Continue from the last checkpoint, to the same weights; else start over."
    )
    checkpoint_every: Annotated[float, Option(metavar="MINUTES")] = pydantic.Field(
        default=5.0, ge=0, description="Time between checkpoints; 0: none."
    )


class DeviceTerms(RunTerms, frozen=True):
    """Settings of a run on a device."""

    device: Annotated[str | None, Option(metavar="NAME", default="CUDA where there is one")] = pydantic.Field(
        default=None, description="Device by PyTorch's name: cpu, cuda or cuda:1."
    )


class TrainTerms(DeviceTerms, frozen=True):
    """Settings of a run that can start from another model."""

    init_from: Annotated[str | None, Option(metavar="MODEL")] = pydantic.Field(
        default=None, description="Start from this model's weights; it has the same shape."
    )
