"""``qpr clusters --calibrate``: weights and thresholds from logs that say what their questions are about.

log files with a gold column -> write_calibration -> a calibration's folder -> read_calibration -> Chosen
"""

from __future__ import annotations

import dataclasses
import json
import shlex
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import rich.table

from jobs.calibration_picture import calibration_picture
from jobs.console import emit, say, working
from schemas import storage
from schemas.errors import QprError
from schemas.manifest import REPORTS, Source, read_manifest, read_verified
from schemas.output import Output

if TYPE_CHECKING:
    from pipelines.linkage.calibration import Calibration, Point
    from pipelines.linkage.weights import Kind
    from pipelines.reading.sources import Source as LogFile

WEIGHTS, CURVES, PICTURE = "weights.json", "calibration.json", "calibration.png"
SHOWN = (0.9, 0.95, 0.98, 0.99)
"""Precisions whose thresholds are printed."""


@dataclasses.dataclass(frozen=True)
class Read:
    """A calibration that was read back.

    Attributes:
        url: its folder.
        digest: of what is in it.
        weights_json: its weights.
        curves: what thresholds do, by the name of the score.
    """

    url: str
    digest: str
    weights_json: str
    curves: dict[str, list[Point]]

    @property
    def method(self) -> str:
        """Return what its weights are for."""
        return str(json.loads(self.weights_json)["kind"])

    @property
    def cosine(self) -> bool:
        """Return whether its weights compare vectors too."""
        return bool(json.loads(self.weights_json)["cosine"])

    def threshold(self, precision: float, score: str | None) -> float:
        """Return the lowest threshold that reached ``precision``: of a coherence, or (None) of the probability.

        Raises:
            QprError: none did.
        """
        from pipelines.linkage.calibration import LINKAGE, SCORES, threshold_for

        name = LINKAGE if score is None else SCORES[score]
        try:
            point = threshold_for(self.curves[name], precision)
        except QprError as error:
            raise QprError(f"{self.url}: {name}: {error}") from error
        say(f"{name} >= {point.threshold}: precision {point.precision:.3f}, recall {point.recall:.3f} when calibrated")
        return point.threshold


def write_calibration(
    sources: Sequence[LogFile],
    *,
    names: Mapping[str, str],
    kind: Kind,
    refine_with: str | None,
    output: str,
    overwrite: bool,
    as_json: bool,
) -> None:
    """Learn from the logs, write the weights, the curves and their picture, and print what thresholds do.

    Args:
        sources: log files with a gold column.
        names: our name of a column to the files', where they differ.
        kind: of weights.
        refine_with: model whose vectors are compared too.
        output: folder of the calibration.
        overwrite: replace the one that is there.
        as_json: print for a program.

    Raises:
        QprError: a file cannot be read, there are too few labelled pairs, or the output cannot be claimed.
    """
    from jobs.worker_encoder import WorkerEncoder
    from pipelines.linkage.calibration import LINKAGE, calibrate
    from pipelines.linkage.gold import read_gold

    encoder = WorkerEncoder.of(refine_with) if refine_with else None
    gold = read_gold(sources, names)
    target = Output(output, "calibration", overwrite=overwrite)
    try:
        with working(f"Calibrating on {len(sources)} file(s), {sum(s.bytes for s in sources):,} bytes"):
            found = calibrate(gold, kind=kind, encode=encoder)
            curves = {name: [point._asdict() for point in points] for name, points in found.curves.items()}
            told = {"counts": found.counts, "threshold": found.weights["threshold"], "curves": curves}
            chosen = {LINKAGE: found.weights["threshold"]}
            files = [
                target.write(WEIGHTS, _json(found.weights), table="weights"),
                target.write(CURVES, _json(told, indent=2), table="curves"),
                target.write(PICTURE, calibration_picture(found.curves, chosen=chosen), table=REPORTS),
            ]
    except BaseException:
        target.abandon()
        raise
    inputs = [Source(url=source.url, bytes=source.bytes) for source in sources]
    configuration = {"kind": kind, "encoder": encoder and encoder.digest}
    manifest = target.publish(files, inputs=inputs, configuration=configuration, counters=found.counts)
    result: dict[str, Any] = {"calibration": output, "digest": manifest.digest, **told}
    emit(result, as_json=as_json, table=lambda: _table(found))
    say(f"Picture: {storage.join(output, manifest.run_id, PICTURE)}")
    say(f"Next: qpr clusters --logs LOGS --output DATASET --calibration {shlex.quote(output)} --precision 0.98")


def read_calibration(url: str) -> Read:
    """Return a calibration, every byte checked.

    Raises:
        QprError: there is none, or it is damaged.
    """
    from pipelines.linkage.calibration import Point

    manifest = read_manifest(url, "calibration")
    content = {file.table: read_verified(url, file) for file in manifest.files}
    if missing := {"weights", "curves"} - content.keys():
        raise QprError(f"{url}: the calibration has no {min(missing)}. Make it again")
    told = json.loads(content["curves"])
    curves = {name: [Point(**point) for point in points] for name, points in told["curves"].items()}
    return Read(url, manifest.digest, content["weights"].decode(), curves)


def _table(found: Calibration) -> rich.table.Table:
    """Return for each score the threshold that reaches a precision, and the recall there."""
    from pipelines.linkage.calibration import threshold_for

    table = rich.table.Table("score", *(f"precision {p}" for p in SHOWN), title="lowest threshold: recall there")
    for name, points in found.curves.items():
        cells = []
        for precision in SHOWN:
            try:
                point = threshold_for(points, precision)
            except QprError:
                cells.append("not reached")
            else:
                cells.append(f"{point.threshold:.2f}: {point.recall:.3f}")
        table.add_row(name, *cells)
    return table


def _json(value: Mapping[str, Any], indent: int | None = None) -> bytes:
    separators = (",", ":") if indent is None else None
    return (json.dumps(value, indent=indent, separators=separators) + "\n").encode()
