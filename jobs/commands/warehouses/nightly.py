"""``qpr nightly``: from a day's logs to a published version of dataset, model and index.

drop of a date -> nightly -> version, or the reason why there is none
"""

from __future__ import annotations

from typing import Annotated

import typer

from jobs.nightly.gate.settings import GateSettings
from jobs.nightly.settings import CertificateSettings, IndexOptions, NightSettings, NightTerms
from jobs.options.beam import beam_options
from jobs.options.encoder_training import EncoderTraining
from jobs.options.inputs import MaxRejectRatio
from jobs.options.linkage import ReviewedClusters
from jobs.options.output import AsJson
from jobs.options.secret_files import UserKeyFile, read_user_key
from jobs.options.warehouse import FirstDate, LastDate, Warehouse
from pipelines.graphs.settings import ClustersConfig


def nightly(
    context: typer.Context,
    warehouse: Warehouse,
    date: Annotated[str | None, typer.Option(metavar="YYYY-MM-DD", help="Day to add.")] = None,
    first: FirstDate = None,
    last: LastDate = None,
    *,
    night: NightSettings,
    gate: GateSettings,
    clusters: ClustersConfig,
    encoder: EncoderTraining,
    index: IndexOptions,
    certificate: CertificateSettings,
    verdicts: ReviewedClusters = None,
    user_key_file: UserKeyFile = None,
    max_reject_ratio: MaxRejectRatio = 0.1,
    as_json: AsJson = False,
) -> None:
    """Add a day to a warehouse, and publish dataset, model and index of its window.

    Steps whose inputs are unchanged are skipped; a killed night is completed by the next run. Exit code 3: the gate
    refused the night, and the current version stays. Exit code 4: the rows of a day or the window cannot be used.

    Examples:
      qpr nightly --warehouse warehouse --date 2026-11-20
      qpr nightly --warehouse warehouse --from 2026-11-01 --to 2026-11-20

    Options of Apache Beam follow after --, such as -- --runner=FlinkRunner
    """
    from jobs.nightly.days import chosen_dates
    from jobs.nightly.printing import print_night
    from jobs.workflows.verdicts.reviewed_clusters import with_reviewed

    key, options = read_user_key(user_key_file), beam_options(context)
    dates = chosen_dates(warehouse, date, first, last)
    judged = clusters if verdicts is None else with_reviewed(clusters, verdicts)
    terms = NightTerms(judged, encoder, night, gate, options, max_reject_ratio, key, certificate, index.config)
    raise typer.Exit(print_night(warehouse, dates, terms, as_json=as_json))
