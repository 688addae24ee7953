import errno
import importlib.metadata
import io
import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from unittest.mock import Mock

import pyarrow as pa
import pytest
import rich.console

from jobs.cli import BEAM_COMMANDS, main
from jobs.commands.registry import COMMANDS
from jobs.display import console
from pipelines.engine import progress
from schemas import __version__
from schemas.errors import EXTRA_OF_MODULE, QprError, UsageError

ROOT = Path(__file__).resolve().parents[2]


def python(code, *arguments, **environment):
    command = [sys.executable, "-W", "error", "-c", code, *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, env=os.environ | environment)


@pytest.mark.parametrize("flag", ["--help", "-h"])
def test_help_lists_every_command_on_stdout(qpr, flag):
    outcome = qpr(flag)
    assert outcome.code == 0
    assert all(command in outcome.out for command in COMMANDS)
    assert outcome.err == ""


def test_the_version_is_that_of_the_package(qpr):
    assert qpr("--version") == (0, f"qpr {__version__}\n", "")


def test_windows_is_refused_in_one_line(monkeypatch):
    monkeypatch.setattr(sys, "platform", "win32")
    with pytest.raises(SystemExit, match=r"^error: qpr does not run on Windows\. Install it in WSL"):
        main([])


def test_a_command_may_open_more_files_than_the_usual_limit():
    code = "import resource; from jobs.cli import main\ntry: main(['--version'])\nexcept SystemExit: pass\n"
    limited = f"import resource; resource.setrlimit(resource.RLIMIT_NOFILE, (256, 4096)); {code}"
    done = python(f"{limited}print(resource.getrlimit(resource.RLIMIT_NOFILE))")
    assert done.stdout.splitlines()[1:] == ["(4096, 4096)"], done.stderr


@pytest.mark.parametrize("given", [["no-such-command"], ["--no-such-option"]])
def test_what_is_not_there_is_wrong_usage(qpr, given):
    outcome = qpr(*given)
    assert outcome.code == 2
    assert given[0] in outcome.err
    assert outcome.out == ""


def test_the_commands_that_promise_options_of_beam_take_what_follows_two_dashes(qpr):
    promise = "Options of Apache Beam follow after --"
    assert {name for name in COMMANDS if promise in qpr(name, "--help").out} == BEAM_COMMANDS
    for name in BEAM_COMMANDS:
        place = ["--warehouse", "w", "--date", "2026-11-20"] if name in ("ingest", "nightly") else ["--output", "o"]
        given = {"clusters": ["x.csv"], "quora": ["x.tsv"], "index": ["--questions", "d", "--model", "m"]}.get(name, [])
        refused = qpr(name, *given, *place, "--", "--no-such-engine=1")
        assert (refused.code, refused.err.count("\n")) == (2, 1)
        assert "--no-such-engine" in refused.err
        assert "unexpected" not in refused.err
    assert "unexpected" in qpr("sample", "--dataset", "x", "--", "--runner=DirectRunner").err


def test_help_imports_no_engine_and_no_learning_library():
    heavy = ["apache_beam", "torch", "faiss", "sklearn", "matplotlib", "networkx"]
    code = """if True:
        import sys
        from jobs.cli import main
        try:
            main(["--help"])
        finally:
            sys.stderr.write(" ".join(name for name in sys.argv[1:] if name in sys.modules))
    """
    done = python(code, *heavy)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("error", [QprError("a.csv: is bad. Mend it"), UsageError("--x: is wrong. Leave it out")])
def test_an_error_of_the_user_is_one_line_and_an_exit_code(capsys, error):
    assert console.run_explained(Mock(side_effect=error), []) == (2 if isinstance(error, UsageError) else 1)
    out, err = capsys.readouterr()
    assert (out, err) == ("", f"error: {error}\n")


def test_a_usage_error_inside_the_engine_is_reported_without_the_engines_words(capsys):
    text = "Traceback …\nschemas.errors.QprError: a.csv: is bad. Mend it [while running 'Read-ptransform-1']"
    assert console.run_explained(Mock(side_effect=RuntimeError(text)), []) == 1
    assert capsys.readouterr().err == "error: a.csv: is bad. Mend it\n"


def test_a_defect_is_one_line_that_shows_how_to_see_more(capsys, monkeypatch):
    command = Mock(side_effect=KeyError("x"))
    monkeypatch.delenv("QPR_TRACEBACK", raising=False)
    assert console.run_explained(command, []) == 1
    assert capsys.readouterr().err == "error: KeyError: 'x'. This is a defect; set QPR_TRACEBACK=1 to see where\n"
    monkeypatch.setenv("QPR_TRACEBACK", "1")
    with pytest.raises(KeyError):
        console.run_explained(command, [])


@pytest.mark.parametrize(("error", "code"), [(UsageError("no such file"), 2), (FileNotFoundError(2, "gone", "a"), 1)])
def test_the_place_of_an_explained_failure_follows_its_line_if_a_person_looks_for_it(capsys, monkeypatch, error, code):
    monkeypatch.setenv("QPR_TRACEBACK", "1")
    assert console.run_explained(Mock(side_effect=error), []) == code
    line, head, *_, last = capsys.readouterr().err.splitlines()
    assert line.startswith("error: ")
    assert (head, type(error).__name__ in last) == ("Traceback (most recent call last):", True)


@pytest.mark.parametrize(("module", "extra"), sorted(EXTRA_OF_MODULE.items()))
def test_a_missing_library_is_answered_with_the_extra_that_brings_it(capsys, module, extra):
    error = ModuleNotFoundError(f"No module named '{module}.x'", name=f"{module}.x")
    assert console.run_explained(Mock(side_effect=error), ["train", "--dataset", "d"]) == 1
    assert f"`qpr train` needs {module}.x, which is not installed" in (err := capsys.readouterr().err)
    assert err.endswith(f"Run in a clone of question-paraphrase-retrieval: pip install '.[{extra}]'\n")


@pytest.mark.parametrize("extra", ["beam", "calibrate", "train", "index", "serve"])
def test_every_library_of_an_extra_has_an_answer_where_it_is_missing(extra):
    text = (ROOT / "setup.py").read_text()
    [listed] = re.findall(rf'^    "{extra}": \[(.*?)\],$', text, re.DOTALL | re.MULTILINE)
    needed = {name.lower().replace("_", "-") for name in re.findall(r'"([\w-]+)', listed)}
    modules: dict[str, set[str]] = {}
    for module, distributions in importlib.metadata.packages_distributions().items():
        for name in distributions:
            modules.setdefault(name.lower().replace("_", "-"), set()).add(module)
    assert needed
    assert [name for name in needed & modules.keys() if not modules[name] & EXTRA_OF_MODULE.keys()] == []


def test_a_missing_module_of_ours_is_not_hidden():
    error = ModuleNotFoundError("No module named 'pipelines.x'", name="pipelines.x")
    with pytest.raises(ModuleNotFoundError):
        console.run_explained(Mock(side_effect=error), [])


def test_stopping_a_command_states_that_nothing_was_lost(capsys):
    assert console.run_explained(Mock(side_effect=KeyboardInterrupt), []) == 130
    assert "earlier outputs are unchanged" in capsys.readouterr().err


def test_a_reader_that_goes_away_is_no_traceback():
    code = "import sys; from jobs.cli import main; main(['--help'])"
    read, write = os.pipe()
    os.close(read)
    with os.fdopen(write, "wb") as closed:
        done = subprocess.run(
            [sys.executable, "-c", code], stdout=closed, stderr=subprocess.PIPE, text=True, check=False
        )
    assert (done.returncode, done.stderr) == (1, "")


@pytest.mark.parametrize(
    ("redirection", "fault"),
    [
        (">/dev/full", "cannot read or write: No space left on device. Free some space, or name a folder with more"),
        (">&-", "standard output: is closed. Open it, such as by >/dev/null"),
    ],
    ids=["full", "closed"],
)
@pytest.mark.parametrize(
    ("arguments", "wrong_usage", "files"),
    [
        ("--version", "", []),
        ("train --help", "", []),
        ("simulate --output log.jsonl --events 9", "", ["log.jsonl"]),
        ("train --nope", "No such option: --nope. See `qpr train --help`", []),
    ],
)
def test_results_that_cannot_be_written_are_one_line_and_an_exit_code(
    tmp_path, redirection, fault, arguments, wrong_usage, files
):
    main = f"import sys; sys.path.insert(0, {str(ROOT)!r}); from jobs.cli import main; main()"
    command = shlex.join([sys.executable, "-c", main, *arguments.split()])
    environment = os.environ | {"PYTHONUNBUFFERED": "", "QPR_QUIET": "1"}
    pipes = {"stderr": subprocess.PIPE, "text": True, "cwd": tmp_path, "env": environment}
    done = subprocess.run(f"{command} {redirection}", shell=True, check=False, **pipes)
    assert (done.returncode, done.stderr) == (2 if wrong_usage else 1, f"error: {wrong_usage or fault}\n")
    assert [path.name for path in tmp_path.iterdir()] == files


@pytest.mark.parametrize(("arguments", "code"), [(["--version"], 0), (["train"], 2)])
def test_a_process_of_torchrun_is_not_aborted_while_python_ends(arguments, code):
    aborts_at_the_end = f"import atexit, os; atexit.register(os.abort); from jobs.cli import main; main({arguments})"
    done = python(aborts_at_the_end, WORLD_SIZE="2", RANK="0")
    assert (done.returncode, bool(done.stdout), bool(done.stderr)) == (code, code == 0, code == 2)
    assert python(aborts_at_the_end).returncode < 0  # otherwise nothing would have been tested


@pytest.mark.parametrize(("arguments", "code"), [(["--version"], 0), (["train"], 2)])
def test_the_console_script_ends_after_its_threads_and_exit_handlers_but_frees_nothing(tmp_path, arguments, code):
    program = f"""if True:
        import atexit, os, sys, tempfile, threading, time
        class Kept:
            def __del__(self):
                os.write(2, b"freed")
        kept = Kept()
        from jobs.cli import main
        def work():
            time.sleep(0.5)
            print("worked")
        try:
            main()
        finally:
            temporary = tempfile.TemporaryDirectory(dir={str(tmp_path)!r})
            threading.Thread(target=work).start()
            atexit.register(print, "handled")
    """
    done = python(program, *arguments)
    assert done.returncode == code
    assert done.stdout.endswith("worked\nhandled\n")
    assert "freed" not in done.stderr
    assert list(tmp_path.iterdir()) == []
    without_main = python(program.replace("            main()\n", "            pass\n"), *arguments)
    assert "freed" in without_main.stderr  # otherwise nothing would have been tested


def test_numbers_get_thousands_separators_and_markup_is_left_alone(capsys):
    console.emit({}, as_json=False, table=lambda: console.two_columns("t", {"rows": 1234567, "name": "x"}))
    console.say("[bold]as it is[/bold]")
    out, err = capsys.readouterr()
    assert "1,234,567" in out
    assert err == "[bold]as it is[/bold]\n"


def test_a_figure_without_a_value_is_not_measured(capsys):
    console.emit({}, as_json=False, table=lambda: console.two_columns("t", {"auc": None}))
    assert "not measured" in capsys.readouterr().out


def test_a_truth_value_is_yes_or_no(capsys):
    rows = {"replaces": True, "ended": False, "segments": 1}
    console.emit({}, as_json=False, table=lambda: console.two_columns("t", rows))
    cells = [line.split("│")[1:3] for line in capsys.readouterr().out.splitlines() if "│" in line]
    assert [[cell.strip() for cell in row] for row in cells] == [
        ["replaces", "yes"],
        ["ended", "no"],
        ["segments", "1"],
    ]


def test_a_progress_bar_is_silent_where_nobody_watches(capsys):
    with console.progress_bar("loss") as bar:
        task = bar.add_task("training", total=2, loss="")
        bar.update(task, advance=1, loss="0.5")
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize(("named", "place"), [((), "cannot read or write"), (("vectors.npy",), "vectors.npy")])
def test_a_full_disk_is_no_defect(capsys, named, place):
    assert console.run_explained(Mock(side_effect=OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), *named)), []) == 1
    message = "No space left on device. Free some space, or name a folder with more"
    assert capsys.readouterr().err == f"error: {place}: {message}\n"


@pytest.mark.parametrize(
    "error",
    [
        MemoryError("Unable to allocate 7.45 GiB"),
        MemoryError(),
        RuntimeError("[enforce fail at alloc_cpu.cpp:1] DefaultCPUAllocator: can't allocate memory: you tried"),
        RuntimeError("CUDA out of memory. Tried to allocate 2.00 GiB"),
    ],
)
def test_too_little_memory_is_no_defect(capsys, error):
    assert console.run_explained(Mock(side_effect=error), []) == 1
    assert re.match(r"error: not enough memory( \(.+\))?\. Use smaller inputs", capsys.readouterr().err)


@pytest.mark.parametrize("wrapped", [False, True])
@pytest.mark.parametrize(
    "message",
    [
        "offset overflow while concatenating arrays, consider casting input from `string` to `large_string` first.",
        "array cannot contain more than 2147483646 bytes, have 2147600000",
        "Result is too large to fit in string cast to large_ variant of type",
        "Result will not fit in a 32-bit binary-like array, convert to large type",
        "Result may exceed offset capacity for this type: 2148400000 > 2147483647. Convert inputs to a type that uses",
    ],
)
def test_more_text_than_a_column_can_have_is_no_defect(capsys, wrapped, message):
    def command():
        if wrapped:
            raise RuntimeError(f"Traceback …\npyarrow.lib.ArrowInvalid: {message} [while running 'Group/Concatenate']")
        raise pa.ArrowInvalid(message)

    assert console.run_explained(command, []) == 1
    assert re.fullmatch(r"error: a question, an answer .* 2 GiB of text\. Raise --shards.*\n", capsys.readouterr().err)


def test_json_has_the_warnings_of_its_command_alone(capsys):
    def warned():
        console.warn("no drop of 2026-11-20")
        console.emit({"days": 1}, as_json=True, table=str)

    documents = []
    for command in (warned, lambda: console.emit({"days": 2}, as_json=True, table=str)):
        assert console.run_explained(command, []) == 0
        documents.append(json.loads(capsys.readouterr().out))
    assert documents == [{"days": 1, "warnings": ["no drop of 2026-11-20"]}, {"days": 2, "warnings": []}]


def test_output_is_utf8_whatever_the_locale_and_a_path_that_is_no_text_is_escaped():
    code = """if True:
        from jobs.display.console import emit, run_explained, say
        def command():
            emit({"question": "café \\udce9"}, as_json=True, table=None)
            say("ü \\udce9")
        run_explained(command, [])
    """
    done = python(code, PYTHONIOENCODING="ascii", PYTHONUTF8="0")
    assert (json.loads(done.stdout), done.stderr) == ({"question": "café \udce9", "warnings": []}, "ü \\udce9\n")


def test_work_that_is_counted_is_one_line_where_nobody_watches(capsys):
    with console.counting("queries", total=2000) as show:
        assert capsys.readouterr() == ("", "queries: 2,000\n")
        show(2000)
    assert capsys.readouterr() == ("", "")


def test_work_that_is_counted_is_a_bar_on_a_terminal(monkeypatch):
    screen = io.StringIO()
    monkeypatch.setattr(console, "messages", rich.console.Console(file=screen, force_terminal=True, width=80))
    with console.counting("queries", total=20) as show:
        show(7)
    assert "queries" in screen.getvalue()
    assert "7/20" in screen.getvalue()


@pytest.mark.parametrize(
    ("name", "given", "expected"),
    [
        ("OMP_WAIT_POLICY", {}, "passive"),
        ("OMP_WAIT_POLICY", {"OMP_WAIT_POLICY": "active"}, "active"),
        ("OPENBLAS_THREAD_TIMEOUT", {}, "4"),
        ("OPENBLAS_THREAD_TIMEOUT", {"OPENBLAS_THREAD_TIMEOUT": "26"}, "26"),
    ],
)
def test_threads_wait_without_spinning_unless_set_otherwise(monkeypatch, name, given, expected):
    monkeypatch.delenv(name)
    code = f"""if True:
        import atexit, os
        atexit.register(lambda: print(os.environ["{name}"]))
        from jobs.cli import main
        main(["--version"])
    """
    assert python(code, **given).stdout.splitlines()[-1] == expected


def test_work_without_an_end_in_sight_is_reported_once_where_nobody_watches(capsys):
    with console.working("Reading 3 files"):
        assert capsys.readouterr() == ("", "Reading 3 files\n")
    assert capsys.readouterr() == ("", "")


def test_work_without_an_end_in_sight_is_shown_with_its_time_on_a_terminal(monkeypatch):
    screen = io.StringIO()
    monkeypatch.setattr(console, "messages", rich.console.Console(file=screen, force_terminal=True, width=80))
    with console.working("Reading [all] files"):
        progress.count(2_000, "row", "read")
    assert "Reading [all] files" in screen.getvalue()
    assert "0:00:00" in screen.getvalue()
    assert "2,000 rows read" in screen.getvalue()


def test_a_quiet_command_shows_no_work_on_a_terminal_either(monkeypatch):
    screen = io.StringIO()
    terminal = rich.console.Console(file=screen, force_terminal=True, width=80)
    monkeypatch.setattr(console, "messages", terminal)
    console.set_quiet(True)
    with console.working("Reading"), console.progress_bar() as bar:
        bar.add_task("training", total=2)
    assert screen.getvalue() == ""
