import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from schemas.compiled import FEWEST, FEWEST_OF_FURTHER, SWITCH, load_loops
from tests.support.engine_servers import ROOT

NAME = "loops_of_a_test"


@pytest.fixture
def loops(tmp_path, monkeypatch):
    """Make a module of loops that is not loaded yet, and return its file."""
    file = tmp_path / f"{NAME}.py"
    file.write_text("VALUE = 1")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delenv(SWITCH, raising=False)
    monkeypatch.delitem(sys.modules, "numba", raising=False)
    yield file
    sys.modules.pop(NAME, None)


def test_few_rows_load_nothing_but_use_loops_that_are_loaded(loops):
    assert load_loops(NAME, FEWEST - 1) is None
    assert NAME not in sys.modules
    assert load_loops(NAME, FEWEST).VALUE == 1
    assert load_loops(NAME, 0).VALUE == 1


def test_further_loops_are_loaded_for_fewer_rows(loops, monkeypatch):
    monkeypatch.setitem(sys.modules, "numba", sys)
    assert load_loops(NAME, FEWEST_OF_FURTHER - 1) is None
    assert load_loops(NAME, FEWEST_OF_FURTHER).VALUE == 1


def test_the_switch_turns_off_loading_and_use(loops, monkeypatch):
    monkeypatch.setenv(SWITCH, "0")
    assert load_loops(NAME, FEWEST) is None
    assert NAME not in sys.modules
    monkeypatch.delenv(SWITCH)
    load_loops(NAME, FEWEST)
    monkeypatch.setenv(SWITCH, "0")
    assert load_loops(NAME, FEWEST) is None


def test_loops_without_their_compiler_are_asked_for_once(loops):
    loops.write_text("import no_such_compiler")
    assert load_loops(NAME, FEWEST) is None
    loops.write_text("VALUE = 1")
    assert load_loops(NAME, FEWEST) is None


def test_a_thread_waits_for_a_module_that_another_one_loads(loops):
    loops.write_text("import time; time.sleep(0.3); VALUE = 1")
    with ThreadPoolExecutor(4) as pool:
        assert [*pool.map(lambda _: load_loops(NAME, FEWEST).VALUE, range(4))] == [1] * 4


def test_loops_are_compiled_where_no_folder_can_keep_their_machine_code(tmp_path):
    pytest.importorskip("numba")
    (tmp_path / "kept.py").write_text(
        "from schemas.compiled import compile_loop\n@compile_loop\ndef double(number):\n    return 2 * number\n"
    )
    code = "import numba.core.caching as c; c.FunctionCache._impl_class._locator_classes = []\n"
    code += f"import sys; sys.path.append({str(tmp_path)!r}); import kept; print(kept.double(21), type(kept.double))"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.stdout.split()[0] == "42", done.stderr
    assert "CPUDispatcher" in done.stdout


RACE = """
import importlib.util, sys
from pathlib import Path
import numpy as np

def process():
    spec = importlib.util.spec_from_file_location("kept", Path(sys.argv[1]) / "kept.py")
    sys.modules["kept"] = module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.double

first, second, later = process(), process(), process()
files, other = first._cache._cache_file, second._cache._cache_file
read, write = other._load_index, files._save_data

def write_late(name, content):
    other._load_index = dict  # the second one has read an empty list before the first one wrote its own
    second(21)
    other._load_index = read
    write(name, content)

files._save_data = write_late
first(21.0)
print(later(21), later(21.0))
"""


def test_processes_that_compile_a_loop_for_different_types_at_once_leave_the_right_machine_code(tmp_path):
    pytest.importorskip("numba")
    (tmp_path / "kept.py").write_text(
        "from schemas.compiled import compile_loop\n@compile_loop\ndef double(number):\n    return 2 * number\n"
    )
    command = [sys.executable, "-c", RACE, str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.stdout.split() == ["42", "42.0"], done.stderr
    assert [*tmp_path.glob("__pycache__/*.nbc")]  # otherwise nothing would have been tested
