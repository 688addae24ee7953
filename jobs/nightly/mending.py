"""Artefacts of the current version that are gone, and whether a night has made them again.

warehouse, version -> missing -> paths; version, version made again -> is_whole_again
"""

from __future__ import annotations

from schemas.errors import QprError
from schemas.versions.version import Version, check_artefact, is_there, rollback_command

_MADE = ("dataset", "model", "index", "splits", "report")
"""Artefacts that a night makes; frozen test set and dataset of the training may be those of earlier ones."""


def missing(warehouse: str, number: int, version: Version) -> list[str]:
    """Return the paths of the artefacts of a version that are gone, sorted.

    Raises:
        QprError: one is damaged, or another one by now.
    """
    gone = []
    for artefact, kind in version.artefacts.items():
        if is_there(warehouse, artefact):
            check_artefact(warehouse, artefact, kind, version=f"version {number}")
        else:
            gone.append(artefact.path)
    return sorted(set(gone))


def check_whole(warehouse: str, now: tuple[int, Version] | None) -> None:
    """Check that nothing of the current version is gone that its own night would make again.

    Args:
        warehouse: its URL.
        now: the current version with its number; None before the first night.

    Raises:
        QprError: something is, or an artefact is damaged.
    """
    if now is None:
        return
    number, version = now
    made = {getattr(version, name).path for name in _MADE}
    for path in missing(warehouse, number, version):
        if path in made:
            raise QprError(
                f"version {number} names {path}, which cannot be used: it does not exist. Run the night of "
                f"{version.date} with its options again, which makes it again, or use an older version by "
                f"`{rollback_command(warehouse)}`"
            )


def is_whole_again(version: Version, made: Version, gone: list[str]) -> bool:
    """Return whether a night has made the artefacts of a version that were gone, with the same content.

    Args:
        version: the version.
        made: record of the night.
        gone: paths of the artefacts that were gone.
    """
    pairs = [(getattr(version, name), getattr(made, name)) for name in _MADE]
    return all(ours == theirs for ours, theirs in pairs if ours.path in gone)


def check_mended(warehouse: str, number: int, version: Version) -> None:
    """Check that nothing of a version is gone that no night with its days and settings makes.

    Raises:
        QprError: something is.
    """
    certificate = version.certificate and version.certificate.path
    for path in missing(warehouse, number, version):
        advice = "Give --requests to certify it again" if path == certificate else "Restore the folder from a copy"
        other = f"or use an older version by `{rollback_command(warehouse)}`"
        raise QprError(
            f"version {number} names {path}, which is gone and was not made by this night. {advice}, {other}"
        )
