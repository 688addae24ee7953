"""The work of ``qpr certify --simulate``.

promise, size of the simulation -> print_simulation -> a row for each traffic and method
"""

from __future__ import annotations

import rich.table

from jobs.display.console import emit, working
from jobs.display.summary_tables import percent
from jobs.workflows.certificates.promise import exact_percent
from model.certificates.settings import Promise, Simulation
from model.certificates.simulation import Simulated, simulate


def print_simulation(promise: Promise, settings: Simulation, *, as_json: bool) -> None:
    """Certify simulated samples and print the share of broken promises, beside that of the naive threshold."""
    with working(f"Certifying {settings.draws:,} samples of {settings.sample:,} requests of each traffic"):
        rows = [*simulate(promise, requests=settings.sample, draws=settings.draws, seed=settings.seed)]
    result = {"alpha": promise.alpha, "delta": promise.delta, "rows": [row._asdict() for row in rows]}
    emit(result, as_json=as_json, table=lambda: _table(promise, rows))


def _table(promise: Promise, rows: list[Simulated]) -> rich.table.Table:
    alpha, delta = exact_percent(promise.alpha), exact_percent(promise.delta)
    text = f"Promise: at most {alpha} wrong, broken by at most {delta} of the samples"
    table = rich.table.Table(title=text, title_justify="left")
    for name in ("traffic", "threshold by"):
        table.add_column(name, overflow="fold")
    for name in ("certified", "answered", "broken", "allowed", "kept"):
        table.add_column(name, justify="right", overflow="fold")
    for row in rows:
        shares = [percent(share) for share in (row.certified, row.answered, row.broken, row.allowed)]
        table.add_row(row.traffic, row.method, *shares, "yes" if row.kept else "no")
    return table
