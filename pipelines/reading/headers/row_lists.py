"""JSON that is not written one row a line: an object with a list of the rows, an array, or indented objects.

first objects, or first lines -> find_row_list, advise_list, advise_conversion -> the jq command for one row a line
columns of texts that are JSON -> advise_objects
"""

from __future__ import annotations

import json
import os
import re
import shlex
from collections.abc import Mapping, Sequence
from typing import Any, Final

_MIN_ROWS: Final = 10
"""Minimum number of objects in the lists of a name for each line: a conversation has fewer messages."""

_PLAIN: Final = re.compile(r"[A-Za-z_]\w*", re.ASCII)
_UNPACK: Final = {"gzip": "zcat", "zstd": "zstdcat"}


def find_row_list(values: Mapping[str, Sequence[Any]], *, lines: int) -> str | None:
    """Return the name of the lists that probably hold the rows of a file, or None.

    Args:
        values: of each key and field, those of all objects of the file.
        lines: number of these objects.
    """
    sizes = {name: sum(map(_objects_in, some)) for name, some in values.items()}
    largest = max(sizes, key=sizes.__getitem__, default=None)
    return largest if largest is not None and sizes[largest] >= _MIN_ROWS * lines else None


def advise_list(name: str, url: str, compression: str | None) -> str:
    """Return the step for a file whose rows are the objects in the lists of a name, such as ``hits.hits``."""
    return f"The rows seem to be the objects in {name}. Write one a line: {_jq(f'{_path(name)}[]', url, compression)}"


def advise_objects(names: Sequence[str], shown: str) -> str:
    """Return the step for columns of texts that are JSON, whose fields are no columns."""
    program = " | ".join(f"{_path(name)} |= fromjson" for name in names)
    command = f"jq -c {shlex.quote(program)}"
    return f"Of JSON in texts ({shown}) no field is a column. Write it as objects, in JSON Lines by {command}"


def advise_conversion(line: bytes, url: str, compression: str | None, *, is_long: bool) -> str | None:
    """Return the step for a file of JSON without an object in its first lines, or None if it is no JSON.

    Args:
        line: the first one that is not blank, or its beginning.
        url: the file.
        compression: of the file.
        is_long: the line is longer than a row may be.
    """
    if line.lstrip().startswith(b"["):
        return f"Write one object per line: {_jq('.[]', url, compression)}"
    if not line.lstrip().startswith(b"{"):
        return None
    if is_long:
        command = _jq(".NAME[]", url, compression)
        return f"Write one object per line. If a list of the first object holds them, with its name for NAME: {command}"
    return f"Write one object per line: {_jq('.', url, compression)}"


def _objects_in(value: Any) -> int:
    return sum(isinstance(inner, dict) for inner in value) if isinstance(value, list) else 0


def _path(name: str) -> str:
    keys = name.split(".")
    return f".{name if all(map(_PLAIN.fullmatch, keys)) else json.dumps(name, ensure_ascii=False)}"


def _jq(program: str, url: str, compression: str | None) -> str:
    command = f"jq -c {shlex.quote(program)}"
    name = url.rpartition("/")[2]
    path = name if "://" in url else os.path.expanduser(url)  # jq reads no URL
    file = shlex.quote(f"./{path}" if path.startswith("-") else path)
    result = "rows.jsonl" if name != "rows.jsonl" else "rows-2.jsonl"  # the shell would empty the file first
    if compression is None:
        return f"{command} {file} > {result}"
    return f"{_UNPACK[compression]} {file} | {command} > {result}"
