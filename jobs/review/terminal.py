"""Judging in a terminal: one key a verdict.

Review, keys -> judge_in_terminal -> stored verdicts
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping, Sequence

import rich.console
import rich.panel
import rich.text
import typer

from jobs.display.console import results, say
from jobs.display.safe_text import printable
from jobs.display.text_input import is_typed
from jobs.review.checks import MOST_NOTE
from jobs.review.queues.interface import LABELS, QUESTIONS, STRAY, VERDICTS, Item
from jobs.review.queues.rules import RULES
from jobs.review.report import end_text, progress_text
from jobs.review.session import Review, Task

_SHOWN = 40
"""Wordings of an item that are shown at first."""

_OTHER_KEYS = {"u": "undo", "n": "note", "a": "all wordings", "?": "rules", "q": "quit"}


class Keys:
    """Keys of a person, or the characters of a stream in which line breaks have no meaning.

    Args:
        screen: where the person reads.
    """

    def __init__(self, screen: rich.console.Console = results) -> None:
        self.screen = screen

    def key(self) -> str:
        """Return the next key; "q" at the end of the stream, or for Ctrl-C and Ctrl-D.

        Keys that a person pressed before, while another item was shown, are discarded.
        """
        if not is_typed():
            while (character := sys.stdin.read(1)).isspace():
                pass
            return character or "q"
        try:
            key = typer.getchar()
        except (EOFError, KeyboardInterrupt):
            return "q"
        return "q" if key in "\x03\x04" else key.lower()

    def line(self, prompt: str) -> str:
        """Return a line of text."""
        if is_typed():
            self.screen.print(prompt, end=" ")
            self.screen.file.flush()
            return sys.stdin.readline().strip()
        return next((line.strip() for line in sys.stdin if line.strip()), "")  # the rest of the key's line is empty


def judge_in_terminal(review: Review, reviewer: str, keys: Keys) -> int:
    """Show item after item until a person quits or nothing is left, and return the number of verdicts.

    Raises:
        QprError: dataset or database cannot be read or written.
    """
    session = f"terminal-{os.getpid()}"
    judged = 0
    try:
        while (task := review.next_task(reviewer, session)) is not None:
            _show(review, reviewer, task, _SHOWN, keys.screen)
            step = _judge(review, reviewer, session, task, keys)
            if step is None:
                break
            judged += step
        else:
            say(end_text(review.progress(reviewer), reviewer))
    finally:
        review.store.release(session)  # otherwise the next run would leave a gap in the order
    say(progress_text(review.progress(reviewer), review.queue.source.kind))
    return judged


def _judge(review: Review, reviewer: str, session: str, task: Task, keys: Keys) -> int | None:
    """Return 1 after a verdict, -1 after an undone one, 0 after an undo without effect, None to quit."""
    verdicts, note = VERDICTS[review.queue.source.kind], ""
    while (key := keys.key()) != "q":
        if key == "u":
            undone = review.undo(reviewer, session)
            say("Undone" if undone else "There is nothing to undo")
            return -1 if undone else 0
        if key == "n":
            given = keys.line("Note:")
            note = given[:MOST_NOTE]
            if note != given:
                say(f"The note is cut to {MOST_NOTE:,} characters. Press n to write it again")
        elif key == "a":
            _show(review, reviewer, task, len(task.item.lines), keys.screen)
        elif key == "?":
            keys.screen.print("\n".join(RULES[review.queue.source.kind]))
        elif key in verdicts:
            strays = _strays(task.item, keys) if verdicts[key] == STRAY else ()
            if strays is not None:
                review.judge(task.item.name, verdicts[key], reviewer=reviewer, strays=strays, note=note)
                return 1
        else:
            say(f"Key {key!r} has no meaning here: {_help(verdicts)}")
    return None


def _strays(item: Item, keys: Keys) -> Sequence[str] | None:
    """Return the marked wordings, None if a person marks none or all."""
    given = re.findall(r"\d+", keys.line(f"Numbers of the strays, 1 to {len(item.lines)}:"))
    numbers = {int(number) for number in given}
    names = [line.name for place, line in enumerate(item.lines, 1) if place in numbers and line.name]
    if len(names) != len(numbers) or not 1 <= len(names) < max(len(item.lines), 2):
        say("Mark at least one wording and not all of them. Press s again, or another key")
        return None
    return names


def _show(review: Review, reviewer: str, task: Task, shown: int, screen: rich.console.Console) -> None:
    """Print an item on a fresh screen."""
    kind, item = review.queue.source.kind, task.item
    if screen.is_terminal:
        screen.clear()
    screen.print(progress_text(review.progress(reviewer), kind), style="dim")
    width = len(str(len(item.lines)))
    text = rich.text.Text()
    for place, line in enumerate(item.lines[:shown], 1):
        number = f"{place:>{width}}  " if len(item.lines) > 1 else ""
        times = f"  ({line.events:,} ×)" if line.events and line.events > 1 else ""
        text.append(number, style="dim").append(printable(line.text)).append(f"{times}\n", style="dim")
    if len(item.lines) > shown:
        text.append(f"… and {len(item.lines) - shown:,} more, key a\n", style="dim")
    if item.filters:
        text.append(f"{printable(item.asked_for)}\n", style="dim")
    if item.answer is not None:
        text.append("\nAnswer: ", style="dim").append(printable(item.answer), style="bold")
    text.rstrip()
    panel = rich.panel.Panel(text, title=f"{task.number:,}. {QUESTIONS[kind]}", title_align="left")
    screen.print(panel, soft_wrap=False)
    screen.print(_help(VERDICTS[kind]))


def _help(verdicts: Mapping[str, str]) -> str:
    keys = [*((key, LABELS[verdict]) for key, verdict in verdicts.items()), *_OTHER_KEYS.items()]
    return " · ".join(f"{key} {label}" for key, label in keys)
