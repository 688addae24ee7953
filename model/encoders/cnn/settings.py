"""Settings of the convolutional encoder.

options -> CnnSettings -> config.json
"""

from __future__ import annotations

from typing import Annotated

import pydantic

from model.encoders.kind import MAX_WIDTH, Shape

Width = Annotated[int, pydantic.Field(ge=1, le=64)]
"""A question has ten words; every word of a batch has a vector for each place in a window."""


class CnnSettings(Shape, frozen=True):
    """Settings of the convolutional encoder (Bonadiman et al. 2019, sections 2.1.1 and 4.2)."""

    embedding_dimension: int = pydantic.Field(default=300, ge=1, le=MAX_WIDTH, description="Length of a word's vector.")
    windows: tuple[Width, ...] = pydantic.Field(default=(5,), min_length=1, description="Window widths in words.")
    channels: int = pydantic.Field(default=300, ge=1, le=MAX_WIDTH, description="Channels of each window width.")
    dimension: int = pydantic.Field(default=300, ge=1, le=MAX_WIDTH, description="Length of a question's vector.")
