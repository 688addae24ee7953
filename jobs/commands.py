"""All subcommands, one a job.

words of a command line -> app -> the function of a job

Job modules import torch, faiss and Beam inside their functions, so `qpr --help` is quick and a small install works.
"""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from jobs import clusters, distil, encode, evaluate, index, quora, rerank, sample, search, simulate, train
from schemas import __version__

HELP = """From question-answering logs to a searchable index of question paraphrases.

A first run on generated logs:

\b
  qpr simulate --output logs.parquet --events 50000
  qpr clusters --logs logs.parquet --output dataset
  qpr train --dataset dataset --output model --epochs 3
  qpr index --questions dataset --model model --output index
  qpr search --index index "how tall is the tower"
"""

app = typer.Typer(
    name="qpr",
    help=HELP,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command("simulate")(simulate.simulate)
app.command("clusters")(clusters.clusters)
app.command("quora")(quora.quora)
app.command("sample")(sample.sample)
app.command("train")(train.train)
app.command("distil")(distil.distil)
app.command("encode")(encode.encode)
app.command("index")(index.index)
app.command("rerank")(rerank.rerank)
app.command("evaluate")(evaluate.evaluate)
app.command("search")(search.search)


@app.callback(invoke_without_command=True)
def _root(version: Annotated[bool, typer.Option("--version", help="Print the version and stop.")] = False) -> None:
    if version:
        sys.stdout.write(f"qpr {__version__}\n")
        raise typer.Exit
