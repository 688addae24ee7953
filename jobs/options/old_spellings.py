"""Commands and options of earlier versions.

words of a command line -> current_spelling -> the words of today, or wrong usage that names them
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from jobs.display.console import say, set_quiet
from schemas.errors import UsageError

COMMANDS = {"rerank": "train-reranker"}
"""Old name of a command to the new one."""

OPTIONS = {
    ("train", "--plan"): "--dry-run",
    ("clusters", "--calibrate"): "`qpr calibrate`",
    ("clusters", "--gold-column"): "`qpr calibrate`",
}
"""Command and its old option to what does the same now."""

FILES = {"clusters": "--logs", "quora": "--pairs"}
"""Command and its old option for the files that are arguments now."""

COLUMNS = {
    "clusters": ("question", "answer", "answer_id", "timestamp", "user_id", "confidence", "locale"),
    "index": ("question", "text", "answer", "answer_id", "cluster_id", "events"),
}
"""Command and the columns that had an option each, such as ``--answer-id-column``."""


def current_spelling(words: Sequence[str]) -> list[str]:
    """Return a command line with today's options; a note on each old one is printed. Words after ``--`` stay.

    Args:
        words: the command and what follows it.

    Raises:
        UsageError: the command or one of its options has another name now.
    """
    command, *rest = words
    if command in COMMANDS:
        raise UsageError(f"qpr {command}: is no command any more. Use `qpr {COMMANDS[command]}`")
    own = list(itertools.takewhile(lambda word: word != "--", rest))
    for word in own:
        option = word.partition("=")[0]
        if (command, option) in OPTIONS:
            raise UsageError(f"qpr {command} {option}: is no option any more. Use {OPTIONS[command, option]}")
    new, remaining = [command], iter(own)
    notes: dict[str, None] = {}
    for word in remaining:
        option, equals, value = word.partition("=")
        column = option.removeprefix("--").removesuffix("-column").replace("-", "_")
        if option == FILES.get(command):
            notes[f"{option} will go: give the files as arguments"] = None
            new.append(value if equals else next(remaining, option))
        elif option.endswith("-column") and column in COLUMNS.get(command, ()):
            given = value if equals else next(remaining, "")
            pair = f"{'question' if column == 'text' else column}={given}"
            notes[f"{option} will go: give --column {pair}"] = None
            new += ["--column", pair]
        else:
            new.append(word)
    set_quiet("--quiet" in own)
    for note in notes:
        say(note)
    return [*new, *rest[len(own) :]]
