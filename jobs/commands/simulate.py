"""`qpr simulate`: question-answering logs with the truth in a column, for anyone without logs.

options -> Simulation -> one log file
"""

from __future__ import annotations

import dataclasses
import datetime
import shlex
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from jobs.display.console import emit, progress_bar, say, two_columns
from jobs.options.output import lasting
from schemas.errors import UsageError

if TYPE_CHECKING:
    import pyarrow as pa

    from pipelines.simulation.generator import Simulation
    from pipelines.simulation.noise import Noise

_SHARE = {"min": 0.0, "max": 1.0}
_CONTENT: dict[str, Any] = {"rich_help_panel": "Content"}
NOISES = (
    "lower_case=0.5, unpunctuated=0.4, filler=0.03, truncated=0.02, "
    "homophone=0.04, dropped=0.04, doubled=0.02, swapped=0.02"
)
"""The defaults of `pipelines.simulation.noise.Noise`, for the help."""


def simulate(
    output: Annotated[
        str,
        typer.Option(
            callback=lasting, metavar="FILE", help="Log to write: .jsonl, .csv, .tsv (also .gz, .zst) or .parquet."
        ),
    ],
    events: Annotated[int, typer.Option(min=1, metavar="N", help="Log rows.")] = 1_000_000,
    seed: Annotated[int, typer.Option(min=0, metavar="N", help="Same seed and options, same bytes.")] = 0,
    from_dataset: Annotated[
        str | None, typer.Option(metavar="FOLDER", help="Take facts and wordings from this dataset's clusters.")
    ] = None,
    start: Annotated[str, typer.Option(metavar="DAY", help="Day of the first event, YYYY-MM-DD.")] = "2024-01-01",
    days: Annotated[int, typer.Option(min=1, metavar="N", help="Days that the log covers.")] = 30,
    facts: Annotated[
        int | None,
        typer.Option(min=1, metavar="N", help="Facts to ask about.", show_default="1 for 10 events", **_CONTENT),
    ] = None,
    zipf: Annotated[
        float,
        typer.Option(min=0.0, max=10.0, metavar="X", help="Popularity of a fact: rank to the power -X.", **_CONTENT),
    ] = 0.8,
    generic_share: Annotated[
        float,
        typer.Option(**_SHARE, metavar="X", help="Share of facts with a shared answer: Yes, 12, July 5.", **_CONTENT),
    ] = 0.1,
    unanswered_share: Annotated[
        float,
        typer.Option(**_SHARE, metavar="X", help="Share of events without a useful answer.", **_CONTENT),
    ] = 0.01,
    alias_share: Annotated[
        float, typer.Option(**_SHARE, metavar="X", help="Share of events that use another name of a thing.", **_CONTENT)
    ] = 0.25,
    noise: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=RATE",
            help=f"Rate of a change of wording, or none; repeatable. Names and defaults: {NOISES}.",
            **_CONTENT,
        ),
    ] = None,
    confidence: Annotated[bool, typer.Option(help="Fill the column confidence.", **_CONTENT)] = True,
    locale: Annotated[bool, typer.Option(help="Fill the column locale.", **_CONTENT)] = True,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace an existing file.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """Generate a log with the true cluster of each question.

    The column gold_cluster contains the id of the fact that a question asks about. As in real logs, questions are
    reworded, misheard and cut off, and some answers are generic.

    Example:
      qpr simulate --output logs.parquet --events 50000 --noise truncated=0.1
    """
    from pipelines.simulation.generator import Simulation

    simulation = Simulation(
        events=events,
        seed=seed,
        from_dataset=from_dataset,
        facts=facts,
        zipf=zipf,
        generic_share=generic_share,
        unanswered_share=unanswered_share,
        alias_share=alias_share,
        noise=parse_noise(noise or []),
        start=parse_day(start),
        days=days,
        confidence=confidence,
        locale=locale,
    )
    result = {"output": output, "seed": seed, **_write(simulation, output, overwrite=overwrite)}
    say(f"Next: qpr clusters {shlex.quote(output)} --output dataset")
    emit(result, as_json=as_json, table=lambda: two_columns("Simulated log", result))


def parse_noise(settings: Sequence[str]) -> Noise:
    """Return the rates that ``["truncated=0.1", ...]`` set, the default for others; ``"none"`` sets all to 0.

    Raises:
        UsageError: a name is unknown, or a rate is no number in [0, 1].
    """
    from pipelines.simulation.noise import Noise

    chosen = Noise()
    names = [field.name for field in dataclasses.fields(Noise)]
    for setting in settings:
        name, _, rate = setting.partition("=")
        if setting == "none":
            chosen = Noise.none()
        elif name not in names:
            raise UsageError(f"--noise {setting}: unknown. Write none or NAME=RATE with one of {', '.join(names)}")
        else:
            chosen = dataclasses.replace(chosen, **{name: _number(setting, rate)})
    return chosen


def parse_day(text: str) -> datetime.date:
    """Return the day written as YYYY-MM-DD.

    Raises:
        UsageError: it is not one.
    """
    try:
        return datetime.date.fromisoformat(text)
    except ValueError as error:
        raise UsageError(f"--start {text}: not a day. Write it as 2024-01-31") from error


def _number(setting: str, rate: str) -> float:
    try:
        return float(rate)
    except ValueError as error:
        raise UsageError(f"--noise {setting}: {rate!r} is no number. Write NAME=RATE, such as truncated=0.1") from error


def _write(simulation: Simulation, output: str, *, overwrite: bool) -> dict[str, int]:
    from pipelines.simulation.generator import LOG
    from pipelines.simulation.log_writer import write_log

    seen: set[int] = set()
    with progress_bar() as bar:
        task = bar.add_task("simulate", total=simulation.events)
        tables = _watched(simulation.tables(), seen, lambda rows: bar.advance(task, rows))
        rows = write_log(tables, output, schema=LOG, overwrite=overwrite)
    return {"events": rows, "facts": len(seen)}


def _watched(tables: Iterable[pa.Table], seen: set[int], advance: Callable[[int], None]) -> Iterator[pa.Table]:
    for table in tables:
        yield table
        seen.update(table["gold_cluster"].unique().to_pylist())
        advance(len(table))
