"""Options of the address of a server.

Host, Port, TokenFile -> fields of the settings of `qpr serve` and `qpr review --serve`
"""

from __future__ import annotations

from typing import Annotated

import pydantic

from schemas.option import Option

Host = Annotated[
    str, Option(metavar="ADDRESS"), pydantic.Field(description="Address to listen on; others need --token-file.")
]
Port = Annotated[int, pydantic.Field(ge=0, le=65_535, description="Port; 0 is any free one.")]
TokenFile = Annotated[
    str | None,
    Option(metavar="FILE"),
    pydantic.Field(description="File with the bearer token that requests need."),
]
