"""The `qpr` application with all its commands.

words of a command line -> app -> the function of a job

The module of a command is imported when the command is used, so `qpr --help` takes 0.1 CPU seconds, not 0.4. Modules
import torch, faiss and Beam inside their functions, so a small install works.
"""

from __future__ import annotations

import sys
from typing import Annotated, Any

import typer

from jobs.commands.lazy_group import LazyCommand, LazyGroup
from jobs.display.help import SearchCommand
from jobs.options.old_spellings import current_spelling
from schemas import __version__

HELP = """From question-answering logs to a searchable index of question paraphrases.

A first run on generated logs:

\b
  qpr simulate --output logs.parquet --events 50000
  qpr clusters logs.parquet --output dataset
  qpr train --dataset dataset --output encoder --epochs 3
  qpr index --questions dataset --model encoder --output index
  qpr search --index index "how many people live in france"
"""

_SECTIONS = {
    "From logs to clusters": (
        LazyCommand("datasets", "simulate", "Generate a log with the true cluster of each question."),
        LazyCommand("datasets", "clusters", "Group logged questions into clusters of paraphrases."),
        LazyCommand("datasets", "quora", "Group questions that people labelled as duplicates into clusters."),
        LazyCommand("datasets", "sample", "Show a sample of clusters with their scores, or draw pairs to judge."),
        LazyCommand(
            "datasets", "review", "Judge a random sample of clusters, pairs or answers, and report what it shows."
        ),
        LazyCommand(
            "datasets", "calibrate", "Find weights and thresholds of the linkage by labelled logs or judged pairs."
        ),
        LazyCommand(
            "datasets",
            "erase",
            "Erase a question, or everything that only one user asked, from a warehouse, artefacts and files.",
        ),
    ),
    "From clusters to a model": (
        LazyCommand("models", "train", "Train a question encoder on a dataset's pairs."),
        LazyCommand("models", "distil", "Train a small encoder on a large one's vectors, without pairs."),
        LazyCommand("models", "encode", "Encode every line of a file into one NumPy matrix."),
    ),
    "Index and search": (
        LazyCommand(
            "indexes", "index", "Encode questions and build a searchable index that holds its model, or change one."
        ),
        LazyCommand("indexes", "search", "Find the questions most similar to each question.", SearchCommand),
        LazyCommand("indexes", "serve", "Serve an index over HTTP."),
        LazyCommand("indexes", "evaluate", "Measure where the paraphrases of a split's questions rank."),
        LazyCommand("models", "train-reranker", "Train a reranker of an index's hits on a validation split."),
        LazyCommand("indexes", "export", "Write the questions of an index with their vectors for another engine."),
    ),
    "Answers with a certificate": (
        LazyCommand("indexes", "answer", "Answer each question, or abstain with a reason.", SearchCommand),
        LazyCommand("indexes", "certify", "Certify a maximum share of wrong answers by judged requests."),
    ),
    "A new version every night": (
        LazyCommand(
            "warehouses", "nightly", "Add a day to a warehouse, and publish dataset, model and index of its window."
        ),
        LazyCommand("warehouses", "ingest", "Count one day's questions and answers in a warehouse."),
        LazyCommand("warehouses", "versions", "List the versions that nights have published."),
        LazyCommand("warehouses", "rollback", "Publish an older version again, under a new number."),
        LazyCommand("warehouses", "gc", "List or remove datasets, models and indexes that no kept version names."),
    ),
}
"""Headings and commands, in the order of the help."""

COMMANDS = {command.name: command for section in _SECTIONS.values() for command in section}


class Commands(LazyGroup):
    """The group of all commands."""

    entries = COMMANDS
    sections = _SECTIONS

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return the command that ``args`` begin with, its name and its arguments.

        Raises:
            UsageError: the command or one of its options has another name now.
        """
        return super().resolve_command(ctx, current_spelling(args))


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


@app.callback(invoke_without_command=True)
def _root(version: Annotated[bool, typer.Option("--version", help="Print the version and stop.")] = False) -> None:
    if version:
        sys.stdout.write(f"qpr {__version__}\n")
        raise typer.Exit
