"""`qpr encode`: questions to vectors, without torch.

lines of text -> model.encoders.interface.Encoder -> .npy matrix
"""

from __future__ import annotations

import io
from typing import Annotated

import typer

from jobs.display.console import emit, two_columns
from jobs.display.text_input import read_lines
from jobs.options.output import AsJson, Overwrite, file_to_write, model_to_read
from schemas.artifacts import conditional_writes
from schemas.errors import UsageError


def encode(
    model: Annotated[str, model_to_read("Model by `qpr train`, or st:FOLDER of sentence-transformers.")],
    input_: Annotated[
        str, typer.Option("--input", metavar="FILE", help="One question a line, UTF-8, also .gz or .zst; -: stdin.")
    ],
    output: Annotated[str, file_to_write("NumPy file to write (.npy), one row a line.")],
    float16: Annotated[
        bool, typer.Option("--float16", help="Write half precision: half the size, three digits.")
    ] = False,
    half_tables: Annotated[
        bool,
        typer.Option("--half-tables", help="Hold the tables of cnn at half precision: half the memory."),
    ] = False,
    threads: Annotated[int, typer.Option(min=1, metavar="N", help="Threads that encode.")] = 1,
    overwrite: Overwrite = False,
    as_json: AsJson = False,
) -> None:
    """Encode every line of a file into one NumPy matrix.

    Example:
      qpr encode --model encoder --input questions.txt --output vectors.npy
    """
    import numpy as np

    from model.encoders.loading import load_encoder

    if not output.endswith(".npy"):
        raise UsageError(f"--output {output}: must end in .npy, NumPy's binary format")
    conditional_writes.refuse_existing(output, overwrite=overwrite)
    questions = read_lines(input_)
    encoder = load_encoder(model)
    vectors = (encoder.halved() if half_tables else encoder).encode(questions, threads=threads)
    if float16:
        vectors = vectors.astype(np.float16)
    content = io.BytesIO()
    np.save(content, vectors, allow_pickle=False)
    conditional_writes.write_result(output, content.getvalue(), overwrite=overwrite)
    result = {"output": output, "questions": len(vectors), "dimension": vectors.shape[1], "type": str(vectors.dtype)}
    emit(result, as_json=as_json, table=lambda: two_columns(f"vectors {output}", result))
