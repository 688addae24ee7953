"""Options of commands on a warehouse.

command line -> Annotated types -> commands
"""

from __future__ import annotations

from typing import Annotated

import typer

from jobs.options.output import folder, lasting

Warehouse = Annotated[
    str,
    typer.Option("--warehouse", callback=lasting, metavar="FOLDER", help="Warehouse, a folder at any fsspec URL."),
]
VersionWarehouse = Annotated[
    str | None,
    typer.Option("--warehouse", metavar="FOLDER", help="In place of --index: a warehouse, for its current version."),
]
VersionAt = Annotated[
    str | None,
    typer.Option("--at", metavar="N|DATE", help="Version of the warehouse, or the newest one of a date."),
]
IndexCertificate = Annotated[
    str | None, folder("Certificate of the index; without one only its own questions are answered.")
]
FirstDate = Annotated[
    str | None,
    typer.Option("--from", metavar="YYYY-MM-DD", help="First day of a range, in place of --date."),
]
LastDate = Annotated[str | None, typer.Option("--to", metavar="YYYY-MM-DD", help="Last day of the range.")]
