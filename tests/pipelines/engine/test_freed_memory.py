from __future__ import annotations

import ctypes
import platform
import subprocess
import sys

import pytest

from pipelines.engine.freed_memory import give_back_freed_memory, keep_freed_memory, trim_freed_memory

FAULTS = """
import resource, sys
import numpy as np
from pipelines.engine.freed_memory import keep_freed_memory
if sys.argv[1] == "keep":
    assert keep_freed_memory()
np.ones(2**21)
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for _ in range(20):
    np.ones(2**21)  # 16 MiB
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="glibc alone has the option")
def test_memory_that_was_freed_is_not_taken_from_the_system_again():
    faults = [
        int(subprocess.run([sys.executable, "-c", FAULTS, how], capture_output=True, text=True, check=True).stdout)
        for how in ("keep", "give")
    ]
    assert faults[0] < 0.1 * faults[1]


KEPT = """
import numpy as np
from pipelines.engine.freed_memory import give_back_freed_memory, keep_freed_memory, trim_freed_memory

def resident_mb():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096 / 2**20

keep_freed_memory()
arrays = [np.ones(2**17) for _ in range(300)]  # of 1 MiB
last = np.ones(10)
del arrays
print(resident_mb())
give_back_freed_memory()
print(resident_mb())
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="glibc alone keeps it")
def test_freed_memory_is_given_back():
    ended = subprocess.run([sys.executable, "-c", KEPT], capture_output=True, text=True, check=True)
    kept, given_back = map(float, ended.stdout.split())
    assert kept > 300 > given_back + 150


def test_a_library_without_the_options_is_left_as_it_is(monkeypatch):
    monkeypatch.setattr(ctypes, "CDLL", lambda _: object())
    assert not keep_freed_memory()
    give_back_freed_memory()


def test_arrow_takes_its_memory_from_the_c_library():
    code = """if True:
        import pyarrow as pa
        from pipelines.engine.freed_memory import share_freed_memory
        share_freed_memory()
        print(pa.default_memory_pool().backend_name)
    """
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "system\n"


TRIMMED = """
import numpy as np
from pipelines.engine.freed_memory import keep_freed_memory, trim_freed_memory

keep_freed_memory()
arrays = [np.ones(2**17) for _ in range(300)]  # of 1 MiB
last = np.ones(10)
assert not trim_freed_memory(above=2**28)
del arrays
assert not trim_freed_memory(above=2**29)
assert trim_freed_memory(above=2**28)
assert not trim_freed_memory(above=2**60)
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="glibc alone keeps it")
def test_memory_is_trimmed_where_much_was_freed():
    subprocess.run([sys.executable, "-c", TRIMMED], check=True)


def test_another_library_is_not_trimmed(monkeypatch):
    monkeypatch.setattr(ctypes, "CDLL", lambda _: object())
    assert not trim_freed_memory(above=0)
