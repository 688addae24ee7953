"""Judging in a terminal: one key a verdict.

Review, keys -> judge_in_terminal -> stored verdicts
"""

from __future__ import annotations

import math
import os
import re
import sys
import time
from collections.abc import Mapping, Sequence
from typing import Literal

import rich.console
import rich.panel
import rich.table
import rich.text
import typer

from jobs.display.console import results, say
from jobs.display.safe_text import LEFT_TO_RIGHT, is_right_to_left, printable, printable_lines
from jobs.display.text_input import is_typed
from jobs.review.checks import MOST_NOTE
from jobs.review.database.connection import Verdict
from jobs.review.queues.interface import LABELS, QUESTIONS, STRAY, VERDICTS, Item
from jobs.review.queues.rules import RULES
from jobs.review.report import end_text, progress_text
from jobs.review.session import Review, Task

_SHOWN = 40
"""Wordings of an item that are shown at first."""

UNREAD_S = 0.3
"""Seconds in which nobody reads an item: a key pressed twice, or held down, was meant for the item before."""

_OTHER_KEYS = {"u": "undo", "n": "note", "a": "all wordings", "?": "rules", "q": "quit"}


class Keys:
    """Keys of a person, or the characters of a stream in which line breaks have no meaning.

    Args:
        screen: where the person reads.
    """

    def __init__(self, screen: rich.console.Console = results) -> None:
        self.screen = screen
        self.shown = -math.inf  # time at which another item was shown

    def key(self) -> str:
        """Return the next key; "q" at the end of the stream, or for Ctrl-C and Ctrl-D.

        Keys that a person pressed before, while another item was shown, are discarded, and so are verdicts on an item
        that was not shown for `UNREAD_S` yet.
        """
        if not is_typed():
            while (character := sys.stdin.read(1)).isspace():
                pass
            return character or "q"
        while True:
            try:
                key = typer.getchar().lower()
            except (EOFError, KeyboardInterrupt):
                return "q"
            if key in "\x03\x04":
                return "q"
            if key in _OTHER_KEYS or time.monotonic() - self.shown >= UNREAD_S:
                return key

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
    undone: Verdict | None = None
    notes: dict[str, str] = {}  # of items without a verdict
    marks: dict[str, Sequence[str]] = {}  # strays of such items
    try:
        while (task := review.next_task(reviewer, session)) is not None:
            _show(review, reviewer, task, _SHOWN, keys.screen)
            before = undone if undone is not None and undone.item == task.item.name else None
            if undone is not None:
                say(_undone_text(task.item, before))
            if before is not None:
                notes[before.item], marks[before.item] = before.note, before.strays
            elif note := notes.get(task.item.name):
                say(f"Note: {printable(note)}")
            step = _judge(review, reviewer, session, task, keys, notes, marks)
            if step is None:
                break
            undone = step if isinstance(step, Verdict) else None
            keys.shown = -math.inf if undone else time.monotonic()
            judged += 1 if undone is None else -1
        else:
            say(f"{'Undone. ' if undone else ''}{end_text(review.progress(reviewer), reviewer)}")
    finally:
        review.store.release(session)  # otherwise the next run would leave a gap in the order
    for note in filter(None, notes.values()):
        say(f"Not stored, since its item has no verdict: the note {printable(note)}")
    say(progress_text(review.progress(reviewer), review.queue.source.kind))
    return judged


def _judge(
    review: Review,
    reviewer: str,
    session: str,
    task: Task,
    keys: Keys,
    notes: dict[str, str],
    marks: dict[str, Sequence[str]],
) -> Verdict | Literal[True] | None:
    """Return True after a verdict, the undone one after an undo, None to quit.

    The note and the marked strays of the item hold until the person types others; a verdict removes them.
    """
    verdicts, item = VERDICTS[review.queue.source.kind], task.item
    while (key := keys.key()) != "q":
        if key == "u":
            if (undone := review.undo(reviewer, session)) is not None:
                return undone
            say("There is nothing to undo")
        elif key == "n":
            notes[item.name] = _note(notes.get(item.name, ""), keys)
        elif key == "a":
            _show(review, reviewer, task, len(item.lines), keys.screen)
        elif key == "?":
            keys.screen.print("\n".join(RULES[review.queue.source.kind]), soft_wrap=False)
        elif key in verdicts:
            strays = _strays(item, marks.get(item.name, ()), keys) if verdicts[key] == STRAY else ()
            if strays is not None:
                note = notes.get(item.name, "")
                review.judge(item.name, verdicts[key], reviewer=reviewer, strays=strays, note=note)
                notes.pop(item.name, None)
                marks.pop(item.name, None)
                return True
        else:
            say(f"Key {key!r} has no meaning here: {_help(verdicts)}")
    return None


def _undone_text(item: Item, before: Verdict | None) -> str:
    """Return a sentence on an undo; if another window shows the undone item, ``before`` is None."""
    if before is None:
        return "Undone. Another window shows that item, so another one follows"
    strays = _numbers(item, before.strays)
    note = f"; note: {printable(before.note)}" if before.note else ""
    return f"Undone. The verdict was {before.verdict}{strays and f' {strays}'}{note}"


def _numbers(item: Item, strays: Sequence[str]) -> str:
    """Return the numbers of wordings as a person types them."""
    return ", ".join(str(place) for place, line in enumerate(item.lines, 1) if line.name in strays)


def _note(before: str, keys: Keys) -> str:
    """Return the note that a person types."""
    given = keys.line("Note, Enter removes it:" if before else "Note:")
    note = given[:MOST_NOTE]
    if note != given:
        say(f"The note is cut to {MOST_NOTE:,} characters. Press n to write it again")
    return note


def _strays(item: Item, marked: Sequence[str], keys: Keys) -> Sequence[str] | None:
    """Return the strays that a person types, the marked ones for an empty line; None for no wording or all of them."""
    kept = _numbers(item, marked)
    typed = keys.line(f"Numbers of the strays, 1 to {len(item.lines)}{kept and f', Enter keeps {kept}'}:") or kept
    numbers = {int(number) for number in re.findall(r"\d+", typed)}
    names = [line.name for place, line in enumerate(item.lines, 1) if place in numbers and line.name]
    if len(names) != len(numbers) or not 1 <= len(names) < max(len(item.lines), 2):
        say(f"Mark at least one wording and not all of them, of 1 to {len(item.lines)}. Press s again, or another key")
        return None
    return names


def _show(review: Review, reviewer: str, task: Task, shown: int, screen: rich.console.Console) -> None:
    """Print an item on a fresh screen."""
    kind, item = review.queue.source.kind, task.item
    if screen.is_terminal:
        screen.clear()
    screen.print(progress_text(review.progress(reviewer), kind), style="dim", soft_wrap=False)
    screen.print(f"{task.number:,}. {QUESTIONS[kind]}", soft_wrap=False)
    wordings = rich.table.Table.grid(padding=(0, 2, 0, 0))
    if len(item.lines) > 1:  # further lines begin below the first one, so that none looks like the next number
        wordings.add_column(justify="right", style="dim")
    wordings.add_column(overflow="fold")
    for place, line in enumerate(item.lines[:shown], 1):
        times = f"  ({line.events:,} ×)" if line.events and line.events > 1 else ""
        times = f"{LEFT_TO_RIGHT}{times}" if times and is_right_to_left(line.text) else times
        wording = rich.text.Text(printable_lines(line.text)).append(times, style="dim")
        wordings.add_row(*([str(place)] if len(item.lines) > 1 else []), wording)
    text = rich.text.Text()
    if len(item.lines) > shown:
        text.append(f"… and {len(item.lines) - shown:,} more, key a\n", style="dim")
    if item.filters:
        text.append(f"{printable(item.asked_for)}\n", style="dim")
    if item.answer is not None:
        text.append("\nAnswer: ", style="dim").append(printable_lines(item.answer), style="bold")
    text.rstrip()
    parts = [wordings, text] if text else [wordings]
    screen.print(rich.panel.Panel(rich.console.Group(*parts)), soft_wrap=False)
    screen.print(_help(VERDICTS[kind]), soft_wrap=False)


def _help(verdicts: Mapping[str, str]) -> str:
    keys = [*((key, LABELS[verdict]) for key, verdict in verdicts.items()), *_OTHER_KEYS.items()]
    return " · ".join(f"{key} {label}" for key, label in keys)
