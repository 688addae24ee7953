"""Options of commands on a warehouse.

command line -> Annotated types -> commands
"""

from __future__ import annotations

from typing import Annotated

import typer

from jobs.options.output import lasting

Warehouse = Annotated[
    str,
    typer.Option("--warehouse", callback=lasting, metavar="FOLDER", help="Warehouse, a folder at any fsspec URL."),
]
