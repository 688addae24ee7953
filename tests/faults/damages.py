"""Ways to damage the files of artefacts, and to sign what was damaged as if a run had written it."""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import safetensors.numpy

from schemas.artifacts.manifest import read_manifest
from schemas.artifacts.table_files import is_arrow
from schemas.errors import QprError
from tests.support.manifests import signed


class Damage(NamedTuple):
    """What is done to one file.

    Attributes:
        artefact: its folder.
        pattern: of the file in it.
        name: of the damage.
        change: from the file's bytes to others.
        told: what a message must hold beside the file.
        maybe: whether a command may work as before because it needs nothing of what is damaged.
        signed: whether the manifest fits the damage.
    """

    artefact: str
    pattern: str
    name: str
    change: Callable[[bytes], bytes]
    told: str = ""
    maybe: bool = False
    signed: bool = True

    def __str__(self):
        return f"{self.artefact}-{self.pattern.rsplit('/', 1)[-1]}-{self.name}{'' if self.signed else '-unsigned'}"


def edit_json(path, change):
    content = json.loads(path.read_text())
    change(content)
    is_manifest = path.name == "manifest.json" and isinstance(content, dict)
    path.write_text(signed(content) if is_manifest else json.dumps(content))


def digest_of(root):
    return read_manifest(str(root)).digest


def sign(root):
    """Make the manifests of an artefact, of a model within an index too, fit the files that are there."""
    inner = next(root.glob("*/model/manifest.json"), None)
    with contextlib.suppress(
        ValueError, TypeError, KeyError, RecursionError, OSError, QprError
    ):  # that manifest may be what is damaged
        if inner:
            sign(inner.parent)
            digest = digest_of(inner.parent)
            edit_json(root / "manifest.json", lambda manifest: manifest["configuration"].update(model_digest=digest))
    edit_json(root / "manifest.json", lambda manifest: _sign_files(root, manifest))


def _sign_files(root, manifest):
    for file in manifest["files"]:
        content = (root / file["path"]).read_bytes()
        file.update(bytes=len(content), sha256=hashlib.sha256(content).hexdigest())


def cut(content):
    return content[: len(content) // 2]


BYTES = {
    "empty": lambda _: b"",
    "cut": cut,
    "one byte short": lambda content: content[:-1],
    "noise": lambda content: np.random.default_rng(0).bytes(len(content)),
}


def of_bytes(artefact, pattern):
    text = pattern.endswith((".json", ".txt"))  # which loses a line break
    for name, change in BYTES.items():
        yield Damage(artefact, pattern, name, change, maybe=text and name == "one byte short")
    yield Damage(artefact, pattern, "cut", cut, signed=False)
    yield Damage(artefact, pattern, "one bit", lambda content: bytes([content[0] ^ 1]) + content[1:], signed=False)


def table_change(change):
    def changed(content):
        sink = io.BytesIO()
        if is_arrow(content):
            table = change(pa.ipc.open_file(io.BytesIO(content)).read_all()).combine_chunks()
            with pa.ipc.new_file(sink, table.schema) as writer:
                writer.write_table(table)
        else:
            pq.write_table(change(pq.read_table(io.BytesIO(content))), sink)
        return sink.getvalue()

    return changed


def put(table, name, column):
    return table.set_column(table.column_names.index(name), name, column)


def other_type(table, name):
    texts = pa.types.is_string(table.schema.field(name).type)
    return put(table, name, pa.array([0.5] * len(table)) if texts else pa.array(["x"] * len(table)))


def with_null(table, name):
    values = [None, *table[name].to_pylist()[1:]]
    return put(table, name, pa.array(values, table.schema.field(name).type))


def not_utf8(table, name):
    texts = pa.array([b"\xff\xfe", *table[name].cast(pa.binary()).to_pylist()[1:]], pa.binary())
    return put(table, name, texts.view(pa.string()))


def first_value(table, name, value):
    values = [value, *table[name].to_pylist()[1:]]
    return put(table, name, pa.array(values, table.schema.field(name).type))


def of_table(artefact, pattern, schema):
    """Damage each column of a table, and the number of its rows."""

    def damage(name, change, *, told, maybe=True):
        return Damage(artefact, pattern, name, table_change(change), told, maybe)

    for field in schema:
        name = field.name
        yield damage(f"{name} is lost", lambda t, name=name: t.drop_columns(name), told=name)
        yield damage(f"{name} of another type", lambda t, name=name: other_type(t, name), told=name)
        if not field.nullable:
            yield damage(f"{name} holds a null", lambda t, name=name: with_null(t, name), told=name)
        if pa.types.is_string(field.type):
            yield damage(f"{name} is not UTF-8", lambda t, name=name: not_utf8(t, name), told="UTF8")
        if pa.types.is_floating(field.type) and not field.nullable:
            yield damage(f"{name} holds NaN", lambda t, name=name: first_value(t, name, float("nan")), told=name)
    yield damage("a row less", lambda t: t.slice(1), told="rows", maybe=False)
    yield damage("no row", lambda t: t.slice(0, 0), told="rows", maybe=False)
    yield damage("each row twice", lambda t: pa.concat_tables([t, t]), told="rows", maybe=False)


def value(artefact, pattern, name, column, of, *, told=None, maybe=False):
    """Change the first value of a column."""
    change = table_change(lambda table: first_value(table, column, of))
    return Damage(artefact, pattern, name, change, column if told is None else told, maybe)


def json_change(change):
    def changed(content):
        document = json.loads(content)
        return json.dumps(change(document)).encode()

    return changed


def _at(document, path, change):
    *above, last = path
    for step in above:
        document = document[step]
    change(document, last)


def set_at(*path, to):
    def change(document):
        _at(document, path, lambda holder, last: holder.__setitem__(last, to))
        return document

    return json_change(change)


def in_text(*path, pattern, to):
    """Replace the first match of a pattern in a text of a JSON document."""

    def change(document):
        _at(document, path, lambda holder, last: holder.__setitem__(last, re.sub(pattern, to, holder[last], count=1)))
        return document

    return json_change(change)


def without(*path):
    def change(document):
        _at(document, path, lambda holder, last: holder.pop(last))
        return document

    return json_change(change)


ODD = {"a text": "x", "NaN": float("nan"), "-1": -1, "null": None}


def of_fields(artefact, pattern, *paths, maybe=()):
    """Damage fields of a JSON document; a field may lie deeper, such as shape.dimension."""
    for name in paths:
        path = [int(step) if step.isdigit() else step for step in name.split(".")]
        lenient = name in maybe
        yield Damage(artefact, pattern, f"{name} is lost", without(*path), "", lenient)
        for odd, given in ODD.items():
            yield Damage(artefact, pattern, f"{name} is {odd}", set_at(*path, to=given), "", lenient)


def of_json(artefact, pattern):
    for name, content in {"a list": b"[]", "a number": b"1", "nested": b"[" * 100_000, "empty object": b"{}"}.items():
        yield Damage(artefact, pattern, name, lambda _, content=content: content)


def tensors_change(change):
    def changed(content):
        tensors = safetensors.numpy.load(content)
        return safetensors.numpy.save(change(dict(tensors)))

    return changed


def spoiled(tensors, name, number):
    tensor = tensors[name].copy()
    tensor.reshape(-1)[-1] = number
    return {**tensors, name: tensor}


def bfloat16(content):
    length = int.from_bytes(content[:8], "little")
    return content[: 8 + length].replace(b'"F32"', b'"BF16"').replace(b'"F16"', b'"BF16"') + content[8 + length :]


def of_tensors(artefact, pattern, *names, numbers=(np.nan, np.inf)):
    def damage(name, change, told):
        return Damage(artefact, pattern, name, tensors_change(change), told)

    for name in names:
        yield damage(f"{name} is lost", lambda t, n=name: {k: v for k, v in t.items() if k != n}, name)
        yield damage(f"{name} is short", lambda t, n=name: {**t, n: t[n][:-1].copy()}, name)
        yield damage(f"{name} is float64", lambda t, n=name: {**t, n: t[n].astype(np.float64)}, name)
        for number in numbers:
            yield damage(f"{name} holds {number}", lambda t, n=name, x=number: spoiled(t, n, x), name)
    yield damage("one more", lambda t: {**t, "more": np.zeros(3, np.float32)}, "more")
    yield Damage(artefact, pattern, "of a type that numpy lacks", bfloat16)


def of_links(artefact, pattern):
    """The change of these is made on the file itself."""
    yield Damage(artefact, pattern, "a link out", lambda content: content, "link")


def outside(path: Path, folder: Path):
    """Put a file elsewhere and a link in its place."""
    folder.mkdir(exist_ok=True)
    path.rename(folder / path.name)
    path.symlink_to(folder / path.name)
