"""A store that fails on purpose, and small inputs for every command that writes."""

import contextlib
import importlib.resources
import json
import os

import fsspec
import numpy as np
import pyarrow as pa
import pytest
from fsspec.implementations.memory import MemoryFileSystem

from jobs.workflows.verdicts.stored_evidence import decisive_settings
from model.reranking.reranker import RerankerSettings, weight_shapes
from model.reranking.saved_reranker import save_reranker
from model.reranking.term_statistics import WordCounts
from pipelines.calibration.verdicts.evidence import gather_evidence
from pipelines.calibration.verdicts.judged_blocks import Judged
from pipelines.calibration.verdicts.population import Population
from pipelines.graphs.settings import ClustersConfig
from pipelines.linkage.comparison.pair_features import NAMES
from schemas import __version__
from schemas.artifacts.writer import Output
from tests.faults import damages as of
from tests.faults.damage_lists import SCORES
from tests.support.commands import run
from tests.support.kill_commands import write_pairs


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
    folder = tmp_path_factory.mktemp("inputs")
    for arguments in (
        ("simulate", "--output", folder / "logs.parquet", "--events", 600),
        ("clusters", folder / "logs.parquet", "--output", folder / "dataset", "--shards", 1),
    ):
        assert run(*arguments) == 0
    write_pairs(folder / "pairs.tsv", seed=1, count=300)
    make_model(str(folder / "model"))
    return folder


@pytest.fixture
def arguments_of(inputs):
    """Return a function: name of a command that writes, its output -> the arguments."""
    tiny = ("--epochs", 1, "--dimension", 8, "--vocabulary-size", 100, "--hash-bins", 10)
    given = {
        "simulate": ("--events", 50),
        "clusters": (inputs / "logs.parquet", "--shards", 1),
        "quora": (inputs / "pairs.tsv", "--shards", 1, "--held-out-pairs", 20),
        "train": ("--dataset", inputs / "dataset", *tiny),
        "index": ("--questions", inputs / "dataset", "--model", inputs / "model", "--shards", 1),
    }
    return lambda name, output: (name, *given[name], "--output", output, "--overwrite")


WORDS = ("pay", "bill", "cancel", "flight")


def clusters():
    about = [(split, n) for split in ("train", "validation", "test") for n in range(10)]
    return [(split, [f"pay {split} bill {n}", f"cancel {split} flight {n}", f"bill {split} {n}"]) for split, n in about]


@pytest.fixture(scope="session")
def built(tmp_path_factory):
    """Return a folder for one of each artefact, built by the first test."""
    return tmp_path_factory.mktemp("whole")


@pytest.fixture
def whole(built, qpr, make_model, make_training_data):
    if not (built / "calibration").exists():
        make_training_data(built / "dataset", clusters())
        make_model(built / "cnn", words=WORDS)
        make_model(built / "subword", words=WORDS, encoder="subword")
        index = ("index", "--questions", built / "dataset", "--model", built / "cnn", "--shards", 2, "--output")
        assert qpr(*index, built / "index", "--factory", "IVF2,PQ4x4fs,RFlat", "--probes", 1).code == 0
        save(built / "reranker", of.digest_of(next((built / "index").glob("*/model"))))
        calibration(built / "calibration")
        verdicts(built / "verdicts")
        (built / "questions.txt").write_text("pay my bill\ncancel\n")
        rows = [{"question": text, "answer": split} for split, texts in clusters() for text in texts]
        (built / "logs.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return built


def save(url, model_digest):
    settings = RerankerSettings(model_digest=model_digest, depth=5, hidden=4, questions=90, mean_length=4.0)
    random = np.random.default_rng(0)
    weights = {name: random.normal(size=size).astype(np.float32) for name, size in weight_shapes(settings).items()}
    weights["deviation"] = np.ones_like(weights["deviation"])
    counts = WordCounts(WORDS, np.array([9, 9, 9, 9]), 90, 4.0)
    save_reranker(Output(str(url), "reranker"), settings, counts, weights, inputs=[], counters={})


def calibration(url):
    output = Output(str(url), "calibration")
    shipped = importlib.resources.files("pipelines.linkage.scoring") / "learned"
    text = (shipped / "boosted-words.txt").read_text().split("\nTree=20\n")[0]
    described = {"kind": "boosted", "cosine": False, "features": NAMES, "threshold": 0.5, "least_of_two": 0.5}
    weights = json.dumps({**described, "trees": text}).encode() + b"\n"
    points = [{"threshold": 0.1 * n, "precision": 0.09 * n, "recall": 1 - 0.1 * n} for n in range(1, 10)]
    curves = json.dumps({"counts": {}, "threshold": 0.5, "curves": dict.fromkeys(SCORES, points)}).encode()
    files = [output.write("weights.json", weights, table="weights")]
    files.append(output.write("calibration.json", curves, table="curves"))
    output.publish(files, inputs=[], configuration={}, counters={})


def verdicts(url):
    """Write a calibration by 144 verdicts, all of them right."""
    judged = Judged(np.tile(np.linspace(0.4, 0.9, 6), (18, 1)), np.ones((18, 6), bool), np.zeros((18, 2), bool), 144, 0)
    sizes, none = np.full(20, 2), np.zeros(0, np.int64)
    population = Population(
        np.arange(20), np.linspace(0.9, 0.4, 20), sizes, none, none, none, pa.array([]), pa.array([])
    )
    configuration = decisive_settings(ClustersConfig().model_dump(mode="json"))
    evidence = gather_evidence(
        judged, population, dataset="d", inputs=[], columns={}, release=__version__, configuration=configuration
    )
    output = Output(str(url), "calibration")
    file = output.write("verdicts.json", evidence.model_dump_json().encode(), table="verdicts")
    output.publish([file], inputs=[], configuration={}, counters={})
