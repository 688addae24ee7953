"""``qpr ingest``: from one day's logs to its daily table.

drop of a date -> ingest -> daily table
"""

from __future__ import annotations

from typing import Annotated

import typer

from jobs.options.beam import beam_options
from jobs.options.inputs import MaxRejectRatio
from jobs.options.output import AsJson
from jobs.options.secret_files import UserKeyFile, read_user_key
from jobs.options.warehouse import FirstDate, LastDate, Warehouse
from pipelines.graphs.settings import IngestConfig


def ingest(
    context: typer.Context,
    warehouse: Warehouse,
    settings: IngestConfig,
    date: Annotated[str | None, typer.Option(metavar="YYYY-MM-DD", help="Day to ingest.")] = None,
    first: FirstDate = None,
    last: LastDate = None,
    user_key_file: UserKeyFile = None,
    max_reject_ratio: MaxRejectRatio = 0.1,
    *,
    as_json: AsJson = False,
) -> None:
    """Count one day's questions and answers in a warehouse.

    The log files of a day are in WAREHOUSE/events/date=YYYY-MM-DD/. A day whose files are unchanged is skipped.

    Example:
      qpr ingest --warehouse warehouse --date 2026-11-20

    Options of Apache Beam follow after --, such as -- --runner=FlinkRunner
    """
    from jobs.nightly.days import chosen_dates, ingest_dates

    dates = chosen_dates(warehouse, date, first, last)
    ingest_dates(
        warehouse,
        dates,
        settings,
        options=beam_options(context),
        max_reject_ratio=max_reject_ratio,
        user_key=read_user_key(user_key_file),
        as_json=as_json,
    )
