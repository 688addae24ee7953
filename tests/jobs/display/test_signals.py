import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from unittest.mock import Mock

import psutil
import pytest

from jobs.display import console
from jobs.display.signals import stop_signals
from schemas.artifacts import storage
from schemas.artifacts.dataset import open_dataset
from schemas.artifacts.manifest import read_manifest
from schemas.tables import SPLITS
from tests.support.engine_servers import ROOT

CODES = {signal.SIGINT: 130, signal.SIGTERM: 143}  # 128 and the signal's number
MESSAGE = "error: stopped; earlier outputs are unchanged\n"


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
def test_a_stopped_command_reports_it_whatever_a_library_raises(capsys, number, code, library):
    def command():
        try:
            os.kill(os.getpid(), number)
        except KeyboardInterrupt:
            raise library from None

    assert console.run_explained(command, []) == code
    assert capsys.readouterr() == ("", MESSAGE)


def test_a_command_cleans_up_before_it_stops():
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

    assert console.run_explained(command, []) == 0


def test_a_library_that_ends_the_process_with_a_text_still_does():
    with pytest.raises(SystemExit, match="no such device"):
        console.run_explained(Mock(side_effect=SystemExit("no such device")), [])


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


def test_a_process_stopped_by_a_signal_shows_no_traceback_and_exits_with_the_signals_code():
    code = """if True:
        import sys, time
        from jobs.display.console import run_explained
        def command():
            print("ready", flush=True)
            time.sleep(30)
        sys.exit(run_explained(command, []))
    """
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout.readline() == b"ready\n"
        process.send_signal(signal.SIGTERM)
        _, err = process.communicate(timeout=120)
    assert (process.returncode, err.decode()) == (143, MESSAGE)


def test_stopping_while_the_commands_are_imported_shows_no_traceback():
    code = """if True:
        import sys
        class Interrupting:
            def find_spec(self, name, path=None, target=None):
                if name == "jobs.commands.registry":
                    raise KeyboardInterrupt
        sys.meta_path.insert(0, Interrupting())
        from jobs.cli import main
        main(["--version"])
    """
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (130, "")


def clusters(logs, output, *beam):
    command = ["-m", "jobs", "clusters", logs, "--output", output, "--overwrite", "--shards", 2, *beam]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    return subprocess.Popen([sys.executable, *map(str, command)], cwd=ROOT, **pipes)


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """Give a folder with two logs and the dataset that each of them makes."""
    folder = tmp_path_factory.mktemp("finished")
    for name, seed in (("old", 1), ("new", 2)):
        log = folder / f"{name}.parquet"
        command = ["-m", "jobs", "simulate", "--output", log, "--events", 20_000, "--seed", seed]
        subprocess.run([sys.executable, *map(str, command)], cwd=ROOT, check=True, capture_output=True)
        assert clusters(log, folder / name).wait() == 0
    return folder


def when_work_began(process, output, old):
    while "Clustering" not in process.stderr.readline():
        assert process.poll() is None
    time.sleep(0.3)


def when_a_file_was_written(process, output, old):
    while not any(run.is_dir() and run.name != old and any(run.iterdir()) for run in output.iterdir()):
        assert process.poll() is None
        time.sleep(0.002)


def when_workers_were_started(process, output, old):
    """They have not called yet, and Beam alone would wait for them for ever."""
    while len(psutil.Process(process.pid).children()) < 2:
        assert process.poll() is None
        time.sleep(0.002)


PROCESSES = ("--", "--direct_running_mode=multi_processing", "--direct_num_workers=2")


@pytest.mark.fault
@pytest.mark.slow
@pytest.mark.parametrize(
    ("moment", "number", "beam"),
    [
        (when_work_began, signal.SIGINT, ()),
        (when_a_file_was_written, signal.SIGTERM, ()),
        (when_workers_were_started, signal.SIGTERM, PROCESSES),
    ],
)
def test_a_run_stopped_in_its_midst_leaves_the_old_dataset_and_can_be_started_again(
    finished, tmp_path, moment, number, beam
):
    output = tmp_path / "dataset"
    shutil.copytree(finished / "old", output)
    old, workers = read_manifest(str(output)), []
    with clusters(finished / "new.parquet", output, *beam) as process:
        try:
            moment(process, output, old.run_id)
            workers = psutil.Process(process.pid).children()
            process.send_signal(number)
            out, err = process.communicate(timeout=60)
        finally:
            for one in (process, *(worker for worker in workers if worker.is_running())):
                one.kill()
    assert (process.returncode, out) == (CODES[number], "")
    assert err.endswith(MESSAGE)
    assert "Traceback" not in err
    assert not any(worker.is_running() for worker in workers)
    assert storage.children(str(output)) == [old.run_id, "manifest.json"]
    kept = open_dataset(str(output)).table("clusters")  # every file is verified
    assert len(kept) == sum(old.counters[f"clusters_{split}"] for split in SPLITS)
    assert clusters(finished / "new.parquet", output).wait() == 0
    assert read_manifest(str(output)).digest == read_manifest(str(finished / "new")).digest != old.digest
