import os
import signal
import subprocess
import sys
import threading

import pytest

from jobs import console
from jobs.stopping import stop_signals

CODES = {signal.SIGINT: 130, signal.SIGTERM: 143}  # 128 and the signal's number
MESSAGE = "error: stopped; what was there before is untouched\n"


@pytest.fixture(autouse=True)
def _signals_as_in_a_terminal():
    """A shell's background job starts with SIGINT ignored; these tests must not depend on how they are started."""
    before = {
        signal.SIGINT: signal.signal(signal.SIGINT, signal.default_int_handler),
        signal.SIGTERM: signal.signal(signal.SIGTERM, signal.SIG_DFL),
    }
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.mark.parametrize(("number", "code"), CODES.items())
@pytest.mark.parametrize("library", [RuntimeError("KeyboardInterrupt [while running 'Read']"), SystemExit(130)])
def test_a_stopped_command_says_so_whatever_a_library_makes_of_it(capsys, number, code, library):
    def command():
        try:
            os.kill(os.getpid(), number)
        except KeyboardInterrupt:
            raise library from None

    assert console.run_explained(command, []) == code
    assert capsys.readouterr() == ("", MESSAGE)


def test_a_command_cleans_up_before_it_stops(capsys):
    left = ["half a file"]

    def command():
        try:
            os.kill(os.getpid(), signal.SIGTERM)
        finally:
            left.clear()

    assert console.run_explained(command, []) == 143
    assert left == []


def test_a_command_that_ends_well_in_spite_of_a_signal_has_ended_well():
    def command():
        try:
            os.kill(os.getpid(), signal.SIGINT)
        except KeyboardInterrupt:
            raise SystemExit(0) from None

    with pytest.raises(SystemExit) as ended:
        console.run_explained(command, [])
    assert ended.value.code == 0


def test_handlers_are_put_back_and_ignored_signals_stay_ignored():
    before = signal.signal(signal.SIGTERM, signal.SIG_IGN)
    try:
        with stop_signals() as received:
            assert signal.getsignal(signal.SIGINT) is not signal.default_int_handler
            os.kill(os.getpid(), signal.SIGTERM)
        assert received == []
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
        assert signal.getsignal(signal.SIGTERM) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGTERM, before)


def test_outside_the_main_thread_no_handler_is_set():
    seen = []

    def elsewhere():
        with stop_signals() as received:
            seen.append((received, signal.getsignal(signal.SIGINT)))

    thread = threading.Thread(target=elsewhere)
    thread.start()
    thread.join()
    assert seen == [([], signal.default_int_handler)]


def test_a_process_told_to_stop_shows_no_traceback_and_exits_with_the_signals_code():
    code = """if True:
        import sys, time
        from jobs.console import run_explained
        def command():
            print("ready", flush=True)
            time.sleep(30)
        sys.exit(run_explained(command, []))
    """
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout.readline() == b"ready\n"
        process.send_signal(signal.SIGTERM)
        _, err = process.communicate(timeout=20)
    assert (process.returncode, err.decode()) == (143, MESSAGE)


def test_stopping_while_the_commands_are_imported_shows_no_traceback():
    code = """if True:
        import sys
        class Interrupting:
            def find_spec(self, name, path=None, target=None):
                if name == "jobs.commands":
                    raise KeyboardInterrupt
        sys.meta_path.insert(0, Interrupting())
        from jobs.cli import main
        main(["--version"])
    """
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (130, "")
