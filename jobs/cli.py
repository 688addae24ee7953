"""The console script: one subcommand a job.

argv -> main -> a command of `jobs` -> exit code

Job modules import torch, faiss and Beam inside their functions, so `qpr --help` is quick and a small install works.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Annotated

import typer

from jobs import clusters, encode, evaluate, index, quora, sample, search, simulate, train
from jobs.console import run_explained
from schemas import __version__

BEAM_COMMANDS = frozenset({"clusters", "quora", "index"})
"""Commands that hand everything after ``--`` to Apache Beam."""

app = typer.Typer(
    name="qpr",
    help="From question-answering logs to a searchable index of question paraphrases.",
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
app.command("encode")(encode.encode)
app.command("index")(index.index)
app.command("evaluate")(evaluate.evaluate)
app.command("search")(search.search)


@app.callback(invoke_without_command=True)
def _root(version: Annotated[bool, typer.Option("--version", help="Print the version and stop.")] = False) -> None:
    if version:
        sys.stdout.write(f"qpr {__version__}\n")
        raise typer.Exit


def main(arguments: Sequence[str] | None = None) -> None:
    """Run ``qpr`` with ``arguments`` (those of the process by default) and exit with its code."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    own, beam_options = given, []
    if given and given[0] in BEAM_COMMANDS and "--" in given:
        cut = given.index("--")
        own, beam_options = given[:cut], given[cut + 1 :]
    sys.exit(run_explained(lambda: app(own, obj=beam_options, prog_name="qpr"), own))
