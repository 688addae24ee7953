"""Keys in a real terminal."""

import os
import pty
import select
import subprocess
import sys
import termios
import time
from unittest.mock import Mock

import pytest
import rich.console

from jobs.review import terminal as module
from jobs.review.queues.rules import RULES
from jobs.review.store import VerdictStore
from jobs.review.terminal import UNREAD_S, Keys, judge_in_terminal
from tests.support.fake_queue import FakeQueue

SECONDS = 120


def scripted_keys(keys, lines=(), *, width=80):
    """Return keys and lines in place of those of a person at a screen."""
    screen = rich.console.Console(width=width)
    return Mock(screen=screen, key=Mock(side_effect=keys), line=Mock(side_effect=lines))


@pytest.fixture
def terminal(make_dataset, tmp_path):
    """Give a function that presses keys in `qpr review`, each on its screen; it returns code and screen."""
    make_dataset(tmp_path / "data", [[f"how do I pay {n} {word}" for word in "abc"] for n in range(12)])
    started = []

    def press(*steps):
        ours, theirs = pty.openpty()
        command = ["-m", "jobs", "review", "--dataset", tmp_path / "data", "--database", tmp_path / "review.db"]
        environment = os.environ | {"TERM": "xterm", "COLUMNS": "100"}
        named = [sys.executable, *map(str, command), "--reviewer", "Ada"]
        process = subprocess.Popen(named, stdin=theirs, stdout=theirs, stderr=theirs, env=environment, close_fds=True)
        started.append(process)
        os.close(theirs)
        screen, until = "", time.monotonic() + SECONDS
        for awaited, given in steps:
            keys = given if isinstance(given, bytes) else given.encode()
            start = len(screen)
            while awaited not in screen[start:]:
                ready, _, _ = select.select([ours], [], [], max(0, until - time.monotonic()))
                assert ready, screen[start:]
                screen += os.read(ours, 65536).decode(errors="replace")
            while bool(termios.tcgetattr(ours)[3] & termios.ICANON) != keys.endswith(b"\n"):
                assert time.monotonic() < until, screen[start:]  # keys that come too early are discarded
                time.sleep(0.01)
            if keys in (b"r", b"m", b"s"):
                time.sleep(UNREAD_S)  # a verdict that comes too early is one on the item before
            os.write(ours, keys)
        while True:
            try:
                rest = os.read(ours, 65536)
            except OSError:  # the other end is closed
                break
            if not rest:
                break
            screen += rest.decode(errors="replace")
        os.close(ours)
        return process.wait(SECONDS), screen

    yield press
    for process in started:  # one that has ended already is left alone
        process.kill()
        process.wait()


def verdicts(tmp_path):
    with VerdictStore(str(tmp_path / "review.db")) as store:
        return [(one.verdict, len(one.strays), one.note) for one in store.verdicts()]


def test_one_key_is_a_verdict_without_enter(terminal, tmp_path):
    code, screen = terminal(
        ("q quit", "r"), ("q quit", "n"), ("Note:", "two towns\n"), ("two towns", "m"), ("q quit", "s"),
        ("Numbers of the strays", "2\n"), ("q quit", "u"), ("q quit", "q"),
    )  # fmt: skip
    assert code == 0, screen
    assert verdicts(tmp_path) == [("right", 0, ""), ("several", 0, "two towns")]
    assert "Undone" in screen


def test_a_key_that_is_held_down_judges_one_item(monkeypatch, make_review):
    review, now = make_review(FakeQueue(9)), 100.0
    pressed = iter([(0, "r"), (0.1, "r"), (0.1, "r"), (0.05, "u"), (0.1, "m"), (0.1, "M"), (0.3, "m"), (0.1, "q")])

    def getchar():
        nonlocal now
        waited, key = next(pressed)
        now += waited
        return key

    monkeypatch.setattr(module, "is_typed", lambda: True)
    monkeypatch.setattr(module.typer, "getchar", getchar)
    monkeypatch.setattr(module.time, "monotonic", lambda: now)
    assert judge_in_terminal(review, "Ada", Keys(rich.console.Console(width=80))) == 2
    assert [(one.item, one.verdict) for one in review.store.verdicts()] == [("i0", "several"), ("i1", "several")]
    assert list(pressed) == []


def test_an_undo_keeps_note_and_strays_until_others_are_typed(terminal, tmp_path):
    code, screen = terminal(
        ("q quit", "n"), ("Note:", "two towns\n"), ("\n", "s"), ("Numbers of the strays", "2 3\n"), ("q quit", "u"),
        ("The verdict was stray 2, 3; note: two towns", "s"), ("1 to 3, Enter keeps 2, 3:", "\n"), ("q quit", "u"),
        ("The verdict was stray 2, 3; note: two towns", "s"), ("1 to 3, Enter keeps 2, 3:", "1\n"), ("q quit", "u"),
        ("The verdict was stray 1; note: two towns", "n"), ("Note, Enter removes it:", "\n"), ("\n", "m"),
        ("q quit", "u"), ("The verdict was several", "u"), ("There is nothing to undo", "r"), ("q quit", "q"),
    )  # fmt: skip
    assert code == 0, screen
    assert verdicts(tmp_path) == [("right", 0, "")]
    with VerdictStore(str(tmp_path / "review.db")) as store:
        given = [(one.verdict, len(one.strays), one.note) for one in store.all_verdicts().values()]
    assert given[:2] == [("stray", 2, "two towns")] * 2
    assert given[2:] == [("stray", 1, "two towns"), ("several", 0, ""), ("right", 0, "")]


def test_after_an_undo_of_an_item_that_another_window_shows_another_one_follows(make_review, capsys):
    review = make_review(FakeQueue(3))
    given = iter(("r", "claimed", "u", "m", "q"))

    class Keys:
        screen = rich.console.Console(width=80)

        def key(self):
            key = next(given)
            if key != "claimed":
                return key
            assert review.store.claim("i0", session="b", reviewer="Bob")
            return self.key()

    assert judge_in_terminal(review, "Ada", Keys()) == 1
    assert "Undone. Another window shows that item, so another one follows" in capsys.readouterr().err
    assert [(one.item, one.verdict) for one in review.store.verdicts()] == [("i1", "several")]


def test_a_note_without_a_verdict_outlasts_an_undo_and_is_printed_at_the_end(make_review, capsys):
    review = make_review(FakeQueue(3))
    judge_in_terminal(review, "Ada", scripted_keys("rnumrnq", ["two towns", "not ready"]))
    assert [(one.verdict, one.note) for one in review.store.verdicts()] == [("several", ""), ("right", "two towns")]
    printed = capsys.readouterr().err.splitlines()
    assert "Note: two towns" in printed
    assert "Not stored, since its item has no verdict: the note not ready" in printed


def test_strays_of_an_item_without_a_verdict_outlast_the_undo_of_another_one(make_review):
    review = make_review(FakeQueue(3))
    keys = scripted_keys("rsuursq", ["2", ""])
    judge_in_terminal(review, "Ada", keys)
    assert keys.line.call_args.args[0].endswith("Enter keeps 2:")
    first, second = (len(one.strays) for one in review.store.verdicts())
    assert (first, second) == (0, 1)


@pytest.mark.parametrize("key", ["\x03", "\x04"], ids=["ctrl-c", "ctrl-d"])
def test_an_interrupt_keeps_all_verdicts(terminal, tmp_path, key):
    code, screen = terminal(("q quit", "r"), ("q quit", key))
    assert code in (0, 130), screen
    assert "Traceback" not in screen
    assert verdicts(tmp_path) == [("right", 0, "")]


def test_a_note_that_is_no_utf_8_and_a_long_one_end_nothing(terminal, tmp_path):
    code, screen = terminal(
        ("q quit", "n"), ("Note:", b"caf\xe9\n"), ("\n", "r"), ("q quit", "n"), ("Note:", "x" * 3000 + "\n"),
        ("cut to 2,000 characters", "m"), ("q quit", "q"),
    )  # fmt: skip
    assert code == 0, screen
    assert verdicts(tmp_path) == [("right", 0, "caf\ufffd"), ("several", 0, "x" * 2000)]


def test_the_next_process_shows_the_item_that_was_left(terminal, tmp_path):
    first, again = (terminal(("q quit", key))[1] for key in ("q", "\x03"))
    assert first.splitlines()[1:6] == again.splitlines()[1:6]
    assert terminal(("q quit", "r"), ("q quit", "q"))[0] == 0
    with VerdictStore(str(tmp_path / "review.db")) as store:
        assert [place.place for place in store.places().values()] == [0]


@pytest.mark.parametrize("kind", RULES)
def test_a_key_shows_the_rules_of_the_queue(make_review, capsys, kind):
    assert judge_in_terminal(make_review(FakeQueue(2, kind=kind)), "Ada", scripted_keys("?q", width=300)) == 0
    out, err = capsys.readouterr()
    assert "? rules" in out
    assert "\n".join(RULES[kind]) in out
    assert f"You judged 0; 0 of 2 {kind} are judged" in err


def test_the_values_of_a_request_are_shown(make_review, capsys):
    queue = FakeQueue(1, kind="requests")
    queue.items[0] = queue.items[0]._replace(filters={"locale": "de", "tenant": "acme"})
    assert judge_in_terminal(make_review(queue), "Ada", scripted_keys("q")) == 0
    assert "locale: de, tenant: acme" in capsys.readouterr().out


def test_lines_of_questions_and_answers_stay_and_none_looks_like_another_wording(make_review, capsys):
    queue = FakeQueue(1)
    first, *others = queue.items[0].lines
    lines = (first._replace(text="Why does it fail?\n2  run()"), *others)
    queue.items[0] = queue.items[0]._replace(lines=lines, answer="1. Open it.\n2. Press:\n    Apply")
    assert judge_in_terminal(make_review(queue), "Ada", scripted_keys("q")) == 0
    shown = [line.strip("│").rstrip() for line in capsys.readouterr().out.splitlines()]
    for line in (" 1  Why does it fail?", "    2 run()  (3 ×)", " Answer: 1. Open it.", " 2. Press:", "     Apply"):
        assert line in shown


def test_the_number_of_times_stands_behind_right_to_left_text(make_review, capsys):
    queue = FakeQueue(1)
    first, *others = queue.items[0].lines
    queue.items[0] = queue.items[0]._replace(lines=(first._replace(text="متى تجمع النفايات؟"), *others))
    assert judge_in_terminal(make_review(queue), "Ada", scripted_keys("q")) == 0
    shown = capsys.readouterr().out
    assert "النفايات؟\u200e  (3 ×)" in shown
    assert shown.count("\u200e") == 1


def test_a_narrow_terminal_shows_the_whole_question_and_wrapped_lines_below_the_first_one(make_review, capsys):
    queue = FakeQueue(1)
    first, *others = queue.items[0].lines
    lines = (first._replace(text="Can I call the support more than 2 times?"), *others)
    queue.items[0] = queue.items[0]._replace(lines=lines)
    assert judge_in_terminal(make_review(queue), "Ada", scripted_keys("q", width=40)) == 0
    shown = [line.strip("│").rstrip() for line in capsys.readouterr().out.splitlines()]
    assert "1. Do all these questions ask the same?" in shown
    place = shown.index(" 1  Can I call the support more than")
    assert shown[place + 1] == "    2 times?  (3 ×)"


@pytest.mark.parametrize("kind", ["clusters", "pairs", "requests"])
def test_a_narrow_terminal_wraps_keys_and_rules_between_words(make_review, capsys, kind):
    keys = scripted_keys("?q")
    keys.screen = rich.console.Console(width=40, soft_wrap=True)  # as that of the command
    assert judge_in_terminal(make_review(FakeQueue(2, kind=kind)), "Ada", keys) == 0
    shown = capsys.readouterr().out
    assert max(map(len, shown.splitlines())) <= 40
    unwrapped = " ".join(shown.split())
    assert " · u undo · n note · a all wordings · ? rules · q quit" in unwrapped
    assert " ".join(RULES[kind]) in unwrapped
