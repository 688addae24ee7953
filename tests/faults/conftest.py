"""A store that fails on purpose, and small inputs for every command that writes."""

import contextlib
import os

import fsspec
import pytest
from fsspec.implementations.memory import MemoryFileSystem

from benchmarks.kill_commands import write_pairs


class FaultyFileSystem(MemoryFileSystem):
    """Memory that fails the n-th operation of a kind; as in an object store, a write that fails changes nothing."""

    protocol = "faulty"
    store = {}  # noqa: RUF012
    pseudo_dirs = [""]  # noqa: RUF012
    kind, number, error, answer_lost, count = None, 0, 0, False, 0

    @classmethod
    def _strip_protocol(cls, path):
        return super()._strip_protocol(path.replace("faulty://", "memory://", 1))

    @classmethod
    def failed(cls):
        return cls.number and cls.count >= cls.number

    @classmethod
    def _fail(cls, kind):
        if kind == cls.kind:
            cls.count += 1
            if cls.count == cls.number:
                raise OSError(cls.error, os.strerror(cls.error))

    def _open(self, path, mode="rb", **options):
        writes = "r" not in mode
        if writes and self.answer_lost:
            done = super()._open(path, mode, **options)
        self._fail("write" if writes else "read")
        return done if writes and self.answer_lost else super()._open(path, mode, **options)

    def cat_file(self, path, start=None, end=None, **options):
        self._fail("read")
        return super().cat_file(path, start=start, end=end, **options)

    def rm(self, path, recursive=False, maxdepth=None):
        self._fail("remove")
        return super().rm(path, recursive=recursive, maxdepth=maxdepth)


@pytest.fixture
def faulty():
    """Give a context manager in which the n-th operation of a kind fails; the store is empty at first."""
    fsspec.register_implementation("faulty", FaultyFileSystem, clobber=True)
    FaultyFileSystem.store.clear()
    FaultyFileSystem.pseudo_dirs[:] = [""]

    @contextlib.contextmanager
    def failing(kind, number, error, *, answer_lost=False):
        system = FaultyFileSystem
        system.kind, system.number, system.error, system.answer_lost, system.count = kind, number, error, answer_lost, 0
        try:
            yield system
        finally:
            system.kind = None

    yield failing
    FaultyFileSystem.store.clear()


@pytest.fixture
def stored():
    """Return a function that gives all files of the faulty store."""
    return lambda: {path: bytes(file.getvalue()) for path, file in FaultyFileSystem.store.items()}


@pytest.fixture(scope="session")
def inputs(tmp_path_factory, make_model):
    """Write logs, pairs, a dataset and a model and return their folder."""
    from jobs.cli import main

    folder = tmp_path_factory.mktemp("inputs")
    for arguments in (
        ("simulate", "--output", folder / "logs.parquet", "--events", 600),
        ("clusters", "--logs", folder / "logs.parquet", "--output", folder / "dataset", "--shards", 1),
    ):
        with pytest.raises(SystemExit) as stopped:
            main([str(argument) for argument in arguments])
        assert not stopped.value.code
    write_pairs(folder / "pairs.tsv", seed=1, count=300)
    make_model(str(folder / "model"))
    return folder


@pytest.fixture
def arguments_of(inputs):
    """Return a function: name of a command that writes, its output -> the arguments."""
    tiny = ("--epochs", 1, "--dimension", 8, "--vocabulary-size", 100, "--hash-bins", 10)
    given = {
        "simulate": ("--events", 50),
        "clusters": ("--logs", inputs / "logs.parquet", "--shards", 1),
        "quora": ("--pairs", inputs / "pairs.tsv", "--shards", 1, "--held-out-pairs", 20),
        "train": ("--dataset", inputs / "dataset", *tiny),
        "index": ("--questions", inputs / "dataset", "--model", inputs / "model", "--shards", 1),
    }
    return lambda name, output: (name, *given[name], "--output", output, "--overwrite")
