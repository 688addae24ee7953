import mmap

import numpy as np

from model.encoders.subword.mapped_table import release


def resident_kb(path):
    """Return the kB of a file that are resident in this process."""
    inside, total = False, 0
    with open("/proc/self/smaps") as file:
        for line in file:
            if "-" in line.split()[0]:
                inside = line.rstrip().endswith(str(path))
            elif inside and line.startswith("Rss:"):
                total += int(line.split()[1])
    return total


def test_pages_of_a_mapped_file_are_given_back_and_read_again(tmp_path):
    path = tmp_path / "table"
    path.write_bytes(np.arange(2**20, dtype=np.int32).tobytes())
    with path.open("rb") as file:
        content = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
    table = np.frombuffer(content[2**12 :], np.int32).reshape(-1, 16)[1:]
    before = table.copy()
    assert resident_kb(path) > 4_000
    assert release(table)
    assert resident_kb(path) == 0
    assert np.array_equal(table, before)


def test_memory_of_no_file_is_left_alone():
    table = np.ones((4, 4))
    assert not release(table)
    assert not release(np.frombuffer(b"abcd", np.uint8))
    assert table.sum() == 16
