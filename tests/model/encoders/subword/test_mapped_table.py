import gc
import mmap
import os
from contextlib import suppress

import numpy as np

from model.encoders.subword.inference import BagEncoder
from model.encoders.subword.mapped_table import TableRows, release
from model.encoders.subword.row_ids import Subwords
from model.text.vocabulary import Vocabulary
from schemas.artifacts.verified_files.files import MappedFile


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


def mapped_table(path):
    """Return a table behind a header, mapped from a file that is replaced afterwards, and a copy of it."""
    table = np.random.default_rng(0).normal(size=(2**14, 64)).astype(np.float16)
    path.write_bytes(b"head" * 16 + table.tobytes())
    with path.open("rb") as file:
        content = memoryview(MappedFile.of(file))
    path.rename(path.with_name("old"))
    path.write_bytes(b"another file")
    return np.frombuffer(content[64:], table.dtype).reshape(table.shape), table


def test_rows_of_a_mapped_file_are_read_without_pages_of_it(tmp_path):
    mapped, table = mapped_table(tmp_path / "table")
    numbers = [0, 2**14 - 1, 77, 77]
    assert TableRows(mapped).of(numbers).tobytes() == table[numbers].tobytes()
    assert TableRows(mapped[5:]).of([0]).tobytes() == table[5].tobytes()
    assert TableRows(mapped).of([]).shape == (0, 64)
    assert resident_kb(tmp_path / "old") == 0


def test_rows_of_other_tables_are_read_from_memory(tmp_path):
    mapped, table = mapped_table(tmp_path / "table")
    for other in (table, mapped.T, mapped[:, 3:9]):
        assert TableRows(other).of([1, 0]).tobytes() == other[[1, 0]].tobytes()


def test_questions_alone_make_no_page_of_the_table_resident(tmp_path):
    subwords = Subwords(Vocabulary(("what", "is"), hash_bins=3), (3, 4), 2**14 - 5)
    mapped, table = mapped_table(tmp_path / "table")
    texts = ["what is a mapped file", "a question with other words", "is it"]
    vectors = BagEncoder("digest", subwords, mapped, 0.5).encode(texts)
    assert vectors.tobytes() == BagEncoder("digest", subwords, table, 0.5).encode(texts).tobytes()
    assert resident_kb(tmp_path / "old") == 0


def open_descriptors(path):
    """Return how many descriptors of this process hold a file open; the other files of the process do not count."""
    targets = []
    for descriptor in os.listdir("/proc/self/fd"):
        with suppress(FileNotFoundError):  # the descriptor by which the folder itself was listed
            targets.append(os.readlink(f"/proc/self/fd/{descriptor}"))
    return targets.count(str(path))


def test_the_descriptor_is_closed_with_the_last_view(tmp_path):
    mapped, _ = mapped_table(tmp_path / "table")
    rows = TableRows(mapped)
    del mapped
    assert rows.of([3]).shape == (1, 64)
    assert open_descriptors(tmp_path / "old") > 0
    del rows
    gc.collect()
    assert open_descriptors(tmp_path / "old") == 0
