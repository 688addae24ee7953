"""Settings of a transformer.

folder of a model -> TransformerSettings -> config.json
"""

from __future__ import annotations

from typing import Annotated

import pydantic

from model.encoders.kind import Shape
from schemas.option import Option


class TransformerSettings(Shape, frozen=True):
    """Settings of a transformer: the sentence-transformers model that training begins with."""

    transformer_from: Annotated[str, Option(metavar="FOLDER")] = pydantic.Field(
        description="Folder of the sentence-transformers model to start from."
    )
    transformer_digest: str = pydantic.Field(default="", description="SHA-256 of all its files.")
    transformer_licence: str = pydantic.Field(default="not stated", description="Licence that its README states.")
    dimension: int = pydantic.Field(ge=1, description="Length of a question's vector.")
