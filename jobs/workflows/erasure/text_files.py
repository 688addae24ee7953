"""Erasure from files of texts: exports of verdicts, requests, audit samples.

path, Erasure -> erase_from_file -> number of rows that are removed
"""

from __future__ import annotations

import csv
import functools
import gzip
import json
import re
import zlib
from collections.abc import Callable
from typing import Any, Final

from jobs.workflows.erasure.tables import erase_rows
from pipelines.privacy.erase import Erasure
from pipelines.privacy.mentions import Mentions
from pipelines.privacy.payloads import texts_in
from schemas.artifacts import conditional_writes, storage
from schemas.artifacts.row_files import remove_partial
from schemas.errors import QprError, UsageError

ENDINGS: Final = (".jsonl", ".json", ".csv", ".tsv", ".txt")
"""Endings of the files, which ".gz" may follow."""

_MARK: Final = "\ufeff"
"""Byte-order mark, by which spreadsheets recognise UTF-8."""


def check_file(url: str) -> None:
    """Check that a file has one of the endings and is there.

    Raises:
        UsageError: it has another ending.
        QprError: it is not there.
    """
    if not url.removesuffix(".gz").endswith(ENDINGS):
        raise UsageError(f"--file {url}: must end in {', '.join(ENDINGS)}, which .gz may follow")
    if not storage.exists(url):
        raise QprError(f"{url}: does not exist. Correct --file")


def erase_from_file(url: str, erasure: Erasure, *, dry_run: bool) -> dict[str, Any]:
    """Remove the rows of a file with a text that is, or contains, an erased question; return their number.

    Names of erased questions are removed from the other rows. In a JSON file the rows are the objects of its lists.
    Parts of the file that killed processes have left beside it are removed, and counted as ``leftovers`` if there are
    any.

    Raises:
        QprError: the file cannot be read or written, is not of its format, or is JSON with an erased question outside
            of its lists; then it stays as it is.
    """
    content = storage.read_bytes(url)
    packed = url.endswith(".gz")
    ending = "." + url.removesuffix(".gz").rpartition(".")[2]
    try:
        whole = (gzip.decompress(content) if packed else content).decode()
        text = whole.removeprefix(_MARK)
        mentions = Mentions(erasure)
        after, removed = _FORMATS[ending](text, mentions)
        left = ending == ".json" and _mentions(_decode(after), mentions)
    except (ValueError, OSError, EOFError, zlib.error, csv.Error, RecursionError) as error:
        raise QprError(f"{url}: cannot be read as {ending} in UTF-8 ({error}). Correct the file or its name") from error
    if left:
        raise QprError(f"{url}: still contains an erased question, outside of lists. Remove it by hand")
    changed = after != text
    if changed and not dry_run:
        # half of a surrogate pair, which JSON can have as an escape only, is written as that escape again
        new = (_MARK + after if whole != text else after).encode(errors="backslashreplace")
        conditional_writes.write_result(url, gzip.compress(new, mtime=0) if packed else new, overwrite=True)
    result = {"file": url, "rewritten": changed and not dry_run, "rows": removed}
    local = storage.local_path(url)
    leftovers = 0 if local is None else remove_partial(local, dry_run=dry_run)
    return result | ({"leftovers": leftovers} if leftovers else {})


def _lines_of(text: str) -> list[str]:
    """Return the lines with their ends; `str.splitlines` would also cut within strings of JSON."""
    return re.findall(r"[^\n]*\n|[^\n]+", text)


def _lines(text: str, erased: Mentions) -> tuple[str, int]:
    lines = _lines_of(text)
    kept = [erased.without_names(line) for line in lines if not erased.mentions(line)]
    return "".join(kept), len(lines) - len(kept)


def _decode(text: str) -> Any:
    """Return a value of JSON; a field whose name an object has twice has the list of its values."""
    return json.loads(text, object_pairs_hook=_with_all_values)


def _with_all_values(fields: list[tuple[str, Any]]) -> dict[str, Any]:
    values: dict[str, list[Any]] = {}
    for name, value in fields:
        values.setdefault(name, []).append(value)
    return {name: all_values if len(all_values) > 1 else all_values[0] for name, all_values in values.items()}


def _row(line: str, number: int) -> Any:
    try:
        return _decode(line)
    except json.JSONDecodeError as error:
        raise ValueError(f"row {number}: {error.msg}, column {error.colno}") from error


def _json_lines(text: str, erased: Mentions) -> tuple[str, int]:
    kept, removed = [], 0
    for number, line in enumerate(_lines_of(text), start=1):
        value = _row(line, number) if line.strip() else None
        if _mentions(value, erased):
            removed += 1
        else:
            after = _without_names(value, erased)
            kept.append(line if after == value else json.dumps(after, ensure_ascii=False) + "\n")
    return "".join(kept), removed


def _json(text: str, erased: Mentions) -> tuple[str, int]:
    removed = 0

    def without(value: Any) -> Any:
        nonlocal removed
        if isinstance(value, list):
            kept = [part for part in value if not _mentions(part, erased)]
            removed += len(value) - len(kept)
            return [without(part) for part in kept]
        return {name: without(part) for name, part in value.items()} if isinstance(value, dict) else value

    value = _decode(text)
    after = _without_names(without(value), erased)
    return (text if after == value else json.dumps(after, ensure_ascii=False)), removed


def _mentions(value: Any, erased: Mentions) -> bool:
    """Return whether a string in a value of JSON, or a name of a field, has an erased question."""
    return any(map(erased.mentions, texts_in(value)))


def _without_names(value: Any, erased: Mentions) -> Any:
    if isinstance(value, str):
        return erased.without_names(value)
    if isinstance(value, dict):
        return {name: _without_names(part, erased) for name, part in value.items()}
    return [_without_names(part, erased) for part in value] if isinstance(value, list) else value


_FORMATS: Final[dict[str, Callable[[str, Mentions], tuple[str, int]]]] = {
    ".jsonl": _json_lines,
    ".json": _json,
    ".csv": functools.partial(erase_rows, kind="csv"),
    ".tsv": functools.partial(erase_rows, kind="tsv"),
    ".txt": _lines,
}
