"""The work of ``qpr calibrate``: weights and thresholds from logs with known clusters.

log files with a gold column -> write_calibration -> a calibration's folder -> read_calibration -> StoredCalibration
"""

from __future__ import annotations

import dataclasses
import json
import shlex
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import pydantic
import rich.table

from jobs.display.calibration_chart import calibration_picture
from jobs.display.console import emit, say, warn, working
from jobs.display.summary_tables import label
from jobs.options.inputs import input_files
from schemas.artifacts import storage
from schemas.artifacts.manifest import REPORTS, first_fault, read_manifest, read_verified
from schemas.artifacts.writer import Output
from schemas.errors import QprError, check_installed
from schemas.quantities import counted
from schemas.tables import COHERENCE_COLUMNS

if TYPE_CHECKING:
    from pipelines.calibration.calibrate import Calibration, Point
    from pipelines.calibration.settings import CalibrationConfig

WEIGHTS, CURVES, PICTURE = "weights.json", "calibration.json", "calibration.png"
SHOWN = (0.9, 0.95, 0.98, 0.99)
"""Precisions whose thresholds are printed."""


class _Measured(pydantic.BaseModel, frozen=True):
    """Precision and recall at a threshold."""

    threshold: float = pydantic.Field(ge=0, le=1)
    precision: float = pydantic.Field(ge=0, le=1)
    recall: float = pydantic.Field(ge=0, le=1)


class _Curves(pydantic.BaseModel, frozen=True):
    """Part of `CURVES` that is read back."""

    curves: dict[str, Annotated[list[_Measured], pydantic.Field(min_length=1)]]


@dataclasses.dataclass(frozen=True)
class StoredCalibration:
    """A calibration that was read back.

    Attributes:
        url: its folder.
        digest: of its content.
        weights_json: content of the weights file.
        method: linkage method of the weights.
        cosine: True if the weights compare vectors too.
        curves: precision and recall by threshold, by the name of the score.
    """

    url: str
    digest: str
    weights_json: str
    method: str
    cosine: bool
    curves: dict[str, list[Point]]

    def threshold(self, precision: float, score: str | None) -> float:
        """Return the lowest threshold that reached ``precision``: of a coherence, or (None) of the probability.

        Raises:
            QprError: none did.
        """
        from pipelines.calibration.calibrate import LINKAGE, threshold_for

        name = LINKAGE if score is None else COHERENCE_COLUMNS[score]
        try:
            point = threshold_for(self.curves[name], precision)
        except QprError as error:
            raise QprError(f"{self.url}: {name}: {error}") from error
        say(f"{name} >= {point.threshold}: precision {point.precision:.3f}, recall {point.recall:.3f} when calibrated")
        return point.threshold


def write_calibration(
    files: Sequence[str] | None,
    settings: CalibrationConfig,
    *,
    refine_with: str | None,
    output: str,
    overwrite: bool,
    as_json: bool,
) -> None:
    """Learn from the logs, write weights, curves and their picture, and print thresholds with precision and recall.

    Args:
        files: log files with a gold column: paths, globs and URLs.
        settings: labels and method.
        refine_with: model; its vectors are compared too.
        output: folder of the calibration.
        overwrite: replace an existing calibration.
        as_json: print JSON.

    Raises:
        QprError: a file cannot be read, there are too few labelled pairs, or the output cannot be claimed.
    """
    from jobs.workflows.worker_encoder import refining_encoder
    from pipelines.calibration.calibrate import LINKAGE, calibrate
    from pipelines.calibration.gold_labels import read_gold
    from pipelines.reading.sources import digest_input

    check_installed("sklearn" if settings.method == "logistic" else "lightgbm", "matplotlib")  # used at the end
    encoder = refining_encoder(refine_with)[0] if refine_with else None
    sources = input_files(files, settings, example="qpr calibrate 'labelled/*.jsonl' --output calibration")
    gold = read_gold(sources, settings.column_names | {"gold": settings.gold_column})
    if gold.unreadable:
        reasons = ", ".join(f"{reason} ({number:,})" for reason, number in sorted(gold.unreadable.items()))
        rows = counted(sum(gold.unreadable.values()), "row")
        warn(f"{rows} cannot be read and were left out: {reasons}. Correct them, or name the encoding by --encoding")
    size = f"{counted(len(sources), 'file')}, {counted(sum(s.bytes for s in sources), 'byte')}"
    with Output(output, "calibration", overwrite=overwrite) as target, working(f"Calibrating on {size}"):
        result = calibrate(gold, kind=settings.method, encode=encoder)
        curves = {name: [point._asdict() for point in points] for name, points in result.curves.items()}
        measured = {"counts": result.counts, "threshold": result.weights["threshold"], "curves": curves}
        chosen = {LINKAGE: result.weights["threshold"]}
        written = [
            target.write(WEIGHTS, _json(result.weights), table="weights"),
            target.write(CURVES, _json(measured, indent=2), table="curves"),
            target.write(PICTURE, calibration_picture(result.curves, chosen=chosen), table=REPORTS),
        ]
        inputs = [digest_input(source) for source in sources]
        configuration = {"kind": settings.method, "encoder": encoder and encoder.digest}
        manifest = target.publish(written, inputs=inputs, configuration=configuration, counters=result.counts)
    printed: dict[str, Any] = {"calibration": output, "digest": manifest.digest, **measured}
    emit(printed, as_json=as_json, table=lambda: _table(result))
    say(f"Picture: {storage.join(output, manifest.run_id, PICTURE)}")
    say(f"Next: qpr clusters LOGS --output DATASET --calibration {shlex.quote(output)}{_reached(curves[LINKAGE])}")


def read_calibration(url: str) -> StoredCalibration:
    """Return a calibration after a check of every byte.

    Raises:
        QprError: there is none, or it is damaged.
    """
    from pipelines.calibration.calibrate import LINKAGE, Point
    from pipelines.linkage.scoring.shipped_weights import model_of

    manifest = read_manifest(url, "calibration")
    files = {file.table: file for file in manifest.files}
    if missing := {"weights", "curves"} - files.keys():
        raise QprError(f"{url}: the calibration has no {min(missing)}. Make it again with `qpr calibrate`")
    content = {table: read_verified(url, file) for table, file in files.items()}
    urls = {table: storage.join(url, file.path) for table, file in files.items()}
    weights = _object(content["weights"], urls["weights"])
    model = model_of(weights, source=urls["weights"])
    try:
        measured = _Curves.model_validate(_object(content["curves"], urls["curves"])).curves
    except pydantic.ValidationError as error:
        raise QprError(f"{urls['curves']}: {first_fault(error)}. Make it again with `qpr calibrate`") from error
    if missing := {LINKAGE, *COHERENCE_COLUMNS.values()} - measured.keys():
        raise QprError(f"{urls['curves']}: curves: there is no {min(missing)}. Make it again with `qpr calibrate`")
    curves = {name: [Point(**point.model_dump()) for point in points] for name, points in measured.items()}
    text = content["weights"].decode()
    return StoredCalibration(url, manifest.digest, text, weights["kind"], model.cosine, curves)


def _object(content: bytes, where: str) -> dict[str, Any]:
    """Return the JSON object in a file.

    Raises:
        QprError: there is none.
    """
    try:
        value = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise QprError(f"{where}: is not JSON: {error}. Make it again with `qpr calibrate`") from error
    if not isinstance(value, dict):
        raise QprError(f"{where}: is not a JSON object. Make it again with `qpr calibrate`")
    return value


def _table(result: Calibration) -> rich.table.Table:
    """Return a table of the lowest threshold that reaches a precision and the recall there, for each score."""
    from pipelines.calibration.calibrate import threshold_for

    title = "Lowest threshold that reaches the precision, and its recall"
    table = rich.table.Table(title=title, title_justify="left")
    table.add_column("score", no_wrap=True)
    for precision in SHOWN:
        table.add_column(f"precision {precision}")
    for name, points in result.curves.items():
        cells = []
        for precision in SHOWN:
            try:
                point = threshold_for(points, precision)
            except QprError:
                cells.append("not reached")
            else:
                cells.append(f"{point.threshold:.2f}: {point.recall:.3f}")
        table.add_row(label(name), *cells)
    return table


def _reached(curve: list[dict[str, float]]) -> str:
    """Return the option of the highest precision of `SHOWN` up to .98 that a threshold reaches, without one nothing."""
    highest = max((point["precision"] for point in curve if point["recall"] > 0), default=0.0)
    reached = [precision for precision in SHOWN[:-1] if precision <= highest]
    return f" --precision {reached[-1]}" if reached else ""


def _json(value: Mapping[str, Any], indent: int | None = None) -> bytes:
    separators = (",", ":") if indent is None else None
    return (json.dumps(value, indent=indent, separators=separators) + "\n").encode()
