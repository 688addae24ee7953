"""``qpr export``: an index for another engine.

index -> model.exports -> Parquet file with vectors, or a collection of Qdrant
"""

from __future__ import annotations

from typing import Annotated

import typer

from jobs.options.output import AsJson, Overwrite, choices, folder, lasting
from model.choices import ExportFormat


def export(
    index: Annotated[str, folder("Index to export.")],
    output: Annotated[
        str,
        typer.Option(
            callback=lasting,
            metavar="PLACE",
            help="File to write (.parquet); for qdrant a local folder or a server's URL.",
        ),
    ],
    to: Annotated[ExportFormat, typer.Option(metavar=choices(ExportFormat), help="Format to write.")] = "parquet",
    collection: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Alias in Qdrant of a collection that is called NAME with the digest of the index.",
            show_default="questions",
        ),
    ] = None,
    overwrite: Overwrite = False,
    as_json: AsJson = False,
) -> None:
    """Write the questions of an index with their vectors for another engine.

    The key of a Qdrant server is read from the environment variable QDRANT_API_KEY.

    Examples:
      qpr export --index index --output questions.parquet
      qpr export --index index --to qdrant --output http://localhost:6333
    """
    from jobs.workflows.exporting import export_index

    export_index(index, to=to, output=output, collection=collection, overwrite=overwrite, as_json=as_json)
