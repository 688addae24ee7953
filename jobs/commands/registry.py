"""The `qpr` application with all its commands.

words of a command line -> app -> the function of a job

Job modules import torch, faiss and Beam inside their functions, so `qpr --help` is quick and a small install works.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Annotated

import typer

from jobs.commands import clusters, distil, encode, evaluate, index, quora, rerank, sample, search, simulate, train
from jobs.display.help import Command, Commands
from jobs.options.quiet import with_quiet
from schemas import __version__

HELP = """From question-answering logs to a searchable index of question paraphrases.

A first run on generated logs:

\b
  qpr simulate --output logs.parquet --events 50000
  qpr clusters logs.parquet --output dataset
  qpr train --dataset dataset --output model --epochs 3
  qpr index --questions dataset --model model --output index
  qpr search --index index "how tall is the tower"
"""

app = typer.Typer(
    name="qpr",
    cls=Commands,
    help=HELP,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
COMMANDS: dict[str, Callable[..., None]] = {
    "simulate": simulate.simulate,
    "clusters": clusters.clusters,
    "quora": quora.quora,
    "sample": sample.sample,
    "train": train.train,
    "distil": distil.distil,
    "encode": encode.encode,
    "index": index.index,
    "rerank": rerank.rerank,
    "evaluate": evaluate.evaluate,
    "search": search.search,
}
"""In the order of the help."""

for _name, _command in COMMANDS.items():
    app.command(_name, cls=search.SearchCommand if _name == "search" else Command)(with_quiet(_command))


@app.callback(invoke_without_command=True)
def _root(version: Annotated[bool, typer.Option("--version", help="Print the version and stop.")] = False) -> None:
    if version:
        sys.stdout.write(f"qpr {__version__}\n")
        raise typer.Exit
