"""Limits of a process by its machine and its container: open files, processors, memory.

process -> allow_files -> more open files; files of the kernel -> processor_quota, free_bytes

A container reports the processors and the memory of the whole machine; its own limits are in the files of its control
group. Systems other than Linux have neither file.
"""

from __future__ import annotations

import contextlib
import resource
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Final

_FILES: Final = 8192
"""Open files that a command may need: the connections of a server, those that it refuses, and the files of two
versions, or the files of an index that is built."""

_ROOT: Final = Path("/")
_MEMORY: Final = (
    ("memory.max", "memory.current", "file"),
    ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_cache"),
)
"""Files of the limit and the use in versions 2 and 1 of control groups, and the line of `memory.stat` with the pages of
files, which the kernel takes back when it needs them."""


def allow_files() -> None:
    """Raise this process's limit of open files as far as it may: it is mostly 1,024, and 256 on macOS."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    raised = _FILES if hard == resource.RLIM_INFINITY else min(_FILES, hard)
    if soft != resource.RLIM_INFINITY and soft < raised:
        with contextlib.suppress(OSError, ValueError):  # no right to it; then connections wait at the limit
            resource.setrlimit(resource.RLIMIT_NOFILE, (raised, hard))


def processor_quota(root: Path = _ROOT) -> float | None:
    """Return the processors whose time the container may use, such as 1.5; None where it may use all.

    Args:
        root: folder of ``proc`` and ``sys``.
    """
    quotas = []
    for folder in _groups("cpu", root):
        # version 2 of control groups has both numbers in one file
        words = _words(folder / "cpu.max") or _words(folder / "cpu.cfs_quota_us") + _words(folder / "cpu.cfs_period_us")
        if words and words[0] not in {"max", "-1"}:
            quotas.append(int(words[0]) / int(words[1]))
    return min(quotas, default=None)


def free_bytes(root: Path = _ROOT) -> int | None:
    """Return the bytes that the machine and the container have left for this process; None where neither reports it.

    Args:
        root: folder of ``proc`` and ``sys``.
    """
    free = [int(value) * 1024 for value in _values(root / "proc/meminfo", "MemAvailable:")]
    for folder in _groups("memory", root):
        for limit_file, use_file, name in _MEMORY:
            limit, use = _words(folder / limit_file), _words(folder / use_file)
            if use and limit not in ([], ["max"]):
                of_files = sum(map(int, _values(folder / "memory.stat", name)))
                free.append(int(limit[0]) - int(use[0]) + of_files)
    return max(0, min(free)) if free else None


def _groups(controller: str, root: Path) -> Iterator[Path]:
    """Yield the folders of this process's control group and of those around it, some of which may not exist."""
    for line in _lines(root / "proc/self/cgroup"):
        _, controllers, path = line.split(":", 2)
        if controllers and controller not in controllers.split(","):
            continue
        base = root / "sys/fs/cgroup" / (controller if controllers else "")
        inner = PurePosixPath(path.lstrip("/"))
        yield from (base / group for group in (inner, *inner.parents) if ".." not in group.parts)


def _words(path: Path) -> list[str]:
    return " ".join(_lines(path)).split()


def _values(path: Path, name: str) -> list[str]:
    """Return the second word of each line that begins with a name."""
    return [words[1] for words in map(str.split, _lines(path)) if words[:1] == [name]]


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text().splitlines()
    except OSError:
        return []
