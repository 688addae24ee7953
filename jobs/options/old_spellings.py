"""Commands and options of earlier versions, each answered with the name it has now.

words of a command line -> refuse_old_spelling -> nothing, or wrong usage that names the new spelling
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from schemas.errors import UsageError

COMMANDS = {"rerank": "train-reranker"}
"""Old name of a command to the new one."""

OPTIONS = {
    ("train", "--plan"): "--dry-run",
    ("clusters", "--calibrate"): "`qpr calibrate`",
    ("clusters", "--gold-column"): "`qpr calibrate`",
}
"""Command and its old option to what does the same now."""


def refuse_old_spelling(words: Sequence[str]) -> None:
    """Check a command line for old spellings; words after ``--`` are no options.

    Args:
        words: the command and what follows it.

    Raises:
        UsageError: the command or one of its options has another name now.
    """
    command, *rest = words
    if command in COMMANDS:
        raise UsageError(f"qpr {command}: is no command any more. Use `qpr {COMMANDS[command]}`")
    for word in itertools.takewhile(lambda word: word != "--", rest):
        option = word.partition("=")[0]
        if (command, option) in OPTIONS:
            raise UsageError(f"qpr {command} {option}: is no option any more. Use {OPTIONS[command, option]}")
