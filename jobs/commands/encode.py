"""`qpr encode`: questions to vectors, without torch.

lines of text -> model.encoders.interface.Encoder -> .npy matrix
"""

from __future__ import annotations

import io
import sys
from typing import Annotated

import numpy as np
import pyarrow as pa
import typer

from jobs.display.console import emit, two_columns
from jobs.display.text_input import question_lines
from jobs.options.output import lasting
from schemas.artifacts import conditional_writes, storage
from schemas.errors import QprError

_CODECS = {".gz": "gzip", ".zst": "zstd"}


def encode(
    model: Annotated[str, typer.Option(metavar="FOLDER", help="Model of `qpr train`, or st:FOLDER.")],
    input_: Annotated[
        str, typer.Option("--input", metavar="FILE", help="One question a line, UTF-8, also .gz or .zst; -: stdin.")
    ],
    output: Annotated[
        str, typer.Option(callback=lasting, metavar="FILE", help="NumPy file to write (.npy), one row a line.")
    ],
    float16: Annotated[
        bool, typer.Option("--float16", help="Write half precision: half the size, three digits.")
    ] = False,
    half_tables: Annotated[
        bool,
        typer.Option("--half-tables", help="Hold the tables of cnn at half precision: half the memory."),
    ] = False,
    threads: Annotated[int, typer.Option(min=1, metavar="N", help="Threads that encode.")] = 1,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace an existing file.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """Encode every line of a file into one NumPy matrix.

    Example:
      qpr encode --model model --input questions.txt --output vectors.npy
    """
    from model.encoders.registry import load_encoder

    conditional_writes.refuse_existing(output, overwrite=overwrite)
    questions = read_lines(input_)
    vectors = load_encoder(model, half=half_tables).encode(questions, threads=threads)
    if float16:
        vectors = vectors.astype(np.float16)
    content = io.BytesIO()
    np.save(content, vectors, allow_pickle=False)
    conditional_writes.write_result(output, content.getvalue(), overwrite=overwrite)
    result = {"output": output, "questions": len(vectors), "dimension": vectors.shape[1], "type": str(vectors.dtype)}
    emit(result, as_json=as_json, table=lambda: two_columns(f"vectors {output}", result))


def read_lines(url: str) -> list[str]:
    """Return the lines of a file, of standard input for ``-``; an empty line is a line, a final line break ends one.

    Raises:
        QprError: the file is missing, empty or damaged, or a line is not UTF-8 or too long.
    """
    name = "standard input" if url == "-" else url
    content = sys.stdin.buffer.read() if url == "-" else decompressed(url, storage.read_bytes(url))
    if not content:
        raise QprError(f"{name}: is empty. Give one question a line")
    return list(question_lines(content.removesuffix(b"\n").split(b"\n"), source=name))


def decompressed(url: str, content: bytes) -> bytes:
    """Return the content of a .gz or .zst file unpacked, of any other as it is.

    Raises:
        QprError: it cannot be unpacked.
    """
    codec = next((codec for suffix, codec in _CODECS.items() if url.endswith(suffix)), None)
    if codec is None or not content:
        return content
    try:
        return bytes(pa.CompressedInputStream(pa.BufferReader(content), codec).read())
    except OSError as error:
        raise QprError(f"{url}: broken {codec} file: {error}. Fetch it again") from error
