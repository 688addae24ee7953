"""What tests of several modules need: Hypothesis settings, the command line, small artefacts."""

from __future__ import annotations

import asyncio
import functools
import gc
import inspect
import io
import itertools
import json
import os
import sys
import tempfile
import types
import urllib.request
from typing import NamedTuple

import fsspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
import safetensors.numpy
import tokenizers
from fsspec.implementations.memory import MemoryFileSystem
from hypothesis import HealthCheck, settings

from model.encoders.cnn.settings import CnnSettings
from model.encoders.config import ModelConfig
from model.encoders.saved_model import save_model, weight_shapes
from model.encoders.subword.settings import SubwordSettings
from model.losses.sdml import SDMLLoss
from model.text.vocabulary import Vocabulary
from model.training.settings import TrainingSettings
from schemas.artifacts.writer import Output
from schemas.tables import CLUSTERS, PAIRS, QUESTIONS, conform
from schemas.text import hash64, question_id
from schemas.text_arrays import hash64_all, key_all
from tests.support.commands import run
from tests.support.frames import with_room

gc.set_threshold(50_000, 20, 100)  # as `qpr clusters` does; by default a tenth of the CPU time of the collection
_CACHE = tempfile.TemporaryDirectory(prefix="qpr-cache-")
os.environ["XDG_CACHE_HOME"] = _CACHE.name
os.environ.setdefault("OMP_WAIT_POLICY", "passive")  # threads that spin slow down whatever runs beside a test
os.environ.setdefault("OPENBLAS_THREAD_TIMEOUT", "4")
os.fsync = lambda _: None  # a tenth of the time of short commands; no test can see a loss of power

settings.register_profile(
    "repeatable",
    max_examples=60,  # by default 100; every run has the same ones
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
settings.load_profile("repeatable")


def pytest_collection_modifyitems(items):
    """Run tests that share what their module makes once in one worker; another would make it again.

    All get room for their frames. With several workers slow tests begin first, so that none ends alone.
    """
    if "PYTEST_XDIST_WORKER" in os.environ:
        items.sort(key=lambda item: item.get_closest_marker("slow") is None)
    for item in items:
        item.setup, item.runtest = with_room(item.setup), with_room(item.runtest)
        definitions = item._fixtureinfo.name2fixturedefs.values() if hasattr(item, "_fixtureinfo") else ()
        shared = any(fixtures[-1].scope == "module" for fixtures in definitions)
        if shared and not item.get_closest_marker("xdist_group"):
            item.add_marker(pytest.mark.xdist_group(item.nodeid.partition("::")[0]))


def pytest_collection_finish():
    """Leave what the libraries made out of garbage collection, which would look through it again and again."""
    gc.collect()
    gc.freeze()


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem):
    """Run an async test in an event loop of its own."""
    if inspect.iscoroutinefunction(pyfuncitem.obj):
        pyfuncitem.obj = functools.partial(_in_event_loop, pyfuncitem.obj)


def _in_event_loop(test, **fixtures):
    asyncio.run(asyncio.wait_for(test(**fixtures), 60))


class Outcome(NamedTuple):
    """What a command left behind."""

    code: int
    out: str
    err: str


@pytest.fixture
def qpr(capsys, monkeypatch):
    """Return a function that runs the console script here; a traceback on either stream fails the test."""
    monkeypatch.setenv("COLUMNS", "300")  # so that no message is wrapped
    monkeypatch.setenv("TERMINAL_WIDTH", "300")

    def captured(*arguments):
        code = run(*arguments)
        out, err = capsys.readouterr()
        assert "Traceback" not in out + err
        assert "This is a defect" not in err
        return Outcome(code, out, err)

    return captured


class StoreInMemory(MemoryFileSystem):
    """Stands for a store that outlives a command, which memory:// does not."""

    protocol = "store"
    store = {}  # noqa: RUF012
    pseudo_dirs = [""]  # noqa: RUF012

    @classmethod
    def _strip_protocol(cls, path):
        return super()._strip_protocol(path.replace("store://", "memory://", 1))


@pytest.fixture
def memory():
    """Give the URL of an empty folder of a store in memory."""
    fsspec.register_implementation("store", StoreInMemory, clobber=True)
    StoreInMemory.store.clear()
    StoreInMemory.pseudo_dirs[:] = [""]
    yield "store://bucket"
    StoreInMemory.store.clear()
    StoreInMemory.pseudo_dirs[:] = [""]


@pytest.fixture(scope="session")
def s3_server():
    """Give the URL of a server in this process that all tests with a bucket share: to stop one takes half a second."""
    pytest.importorskip("s3fs", reason="s3fs is not installed")
    server_module = pytest.importorskip("moto.server", reason="moto's server is not installed")
    server = server_module.ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    yield "http://{}:{}".format(*server.get_host_and_port())
    server.stop()


@pytest.fixture
def s3(monkeypatch, s3_server):
    """Give the URL of an empty bucket."""
    urllib.request.urlopen(f"{s3_server}/moto-api/reset", data=b"")  # what earlier tests held
    monkeypatch.setenv("AWS_ENDPOINT_URL", s3_server)
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "testing")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    fsspec.get_filesystem_class("s3").clear_instance_cache()
    fsspec.filesystem("s3").mkdir("bucket")
    yield "s3://bucket"
    fsspec.get_filesystem_class("s3").clear_instance_cache()


@pytest.fixture(scope="module")
def folder(tmp_path_factory, request):
    """Return a folder that the tests of a module share: what the first of them makes, the others find there."""
    return tmp_path_factory.mktemp(request.module.__name__.rpartition(".")[2])


@pytest.fixture
def write_jsonl(tmp_path):
    """Return a function that writes rows to a JSON Lines file in the test's folder."""

    def write(name, rows):
        path = tmp_path / name
        path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
        return path

    return write


def parquet_bytes(table):
    sink = io.BytesIO()
    pq.write_table(table, sink)
    return sink.getvalue()


@pytest.fixture(scope="session")
def make_model():
    """Return a function that saves a model with random weights and returns its manifest."""

    def make(
        url,
        *,
        words=("pay", "bill", "cancel", "flight"),
        dimension=8,
        seed=0,
        distance="squared_euclidean",
        encoder="cnn",
    ):
        shapes = {
            "cnn": CnnSettings(embedding_dimension=6, windows=(3,), channels=10, dimension=dimension),
            "subword": SubwordSettings(dimension=dimension, ngram_bins=100),
        }
        config = ModelConfig(
            encoder=encoder,
            shape=shapes[encoder],
            words=len(words),
            hash_bins=50,
            training=TrainingSettings(loss=SDMLLoss(distance=distance)).stored(),
            dataset_digest="none",
        )
        random = np.random.default_rng(seed)
        weights = {name: random.normal(size=size).astype(np.float32) for name, size in weight_shapes(config).items()}
        output = Output(str(url), "model", overwrite=True)
        parts = (config, Vocabulary(words, hash_bins=50), weights)
        return save_model(
            output, parts=parts, metrics=[], files={}, pages={"README.md": b"card"}, inputs=[], counters={}
        )

    return make


@pytest.fixture
def make_dataset():
    """Return a function that saves a dataset: clusters are lists of texts of one split, ``alone`` are in none."""

    def make(url, clusters, *, split="test", alone=(), answers=True):
        output = Output(str(url), "dataset", overwrite=True)
        rows = [(text, f"c{number}") for number, texts in enumerate(clusters) for text in texts]
        rows += [(text, None) for text in alone]
        table = questions_table(rows, split=split, answers=answers)
        files = [output.write("questions/00000.parquet", parquet_bytes(table), table="questions", rows=len(table))]
        if clusters:
            table = clusters_table(clusters, split=split)
            files.append(
                output.write("clusters/00000.parquet", parquet_bytes(table), table="clusters", rows=len(table))
            )
        return output.publish(files, inputs=[], configuration={}, counters={})

    return make


def questions_table(rows, *, split, answers):
    texts = pa.array([text for text, _ in rows], pa.string())
    keys = key_all(texts)
    grouped = pa.array([None if name is None else hash64(name) for _, name in rows], pa.int64())
    answer = [None if name is None or not answers else f"answer {name}" for _, name in rows]
    columns = {
        "question_id": hash64_all(keys),
        "key": keys,
        "text": texts,
        "events": pa.array(range(1, len(rows) + 1), pa.int64()),
        "first_seen": pa.nulls(len(rows), pa.timestamp("us", tz="UTC")),
        "last_seen": pa.nulls(len(rows), pa.timestamp("us", tz="UTC")),
        "answer": pa.array(answer, pa.string()),
        "answer_id": pa.nulls(len(rows), pa.string()),
        "cluster_id": grouped,
        "split": pc.if_else(pc.is_null(grouped), None, split),
    }
    return conform(pa.table(columns), QUESTIONS)


def clusters_table(clusters, *, split):
    ids = [hash64_all(key_all(pa.array(texts, pa.string()))).to_pylist() for texts in clusters]
    members = [sorted(zip(of, texts, strict=True)) for of, texts in zip(ids, clusters, strict=True)]
    ones = [1.0] * len(clusters)
    columns = {
        "cluster_id": [hash64(f"c{number}") for number in range(len(clusters))],
        "answer_hash": [hash64(f"c{number}") for number in range(len(clusters))],
        "answer": [f"answer c{number}" for number in range(len(clusters))],
        "answer_id": pa.nulls(len(clusters), pa.string()),
        "split": [split] * len(clusters),
        "size": [len(texts) for texts in clusters],
        "events": [len(texts) for texts in clusters],
        "coherence": ones,
        "adjusted_coherence": ones,
        "idf_coherence": ones,
        "linkage_probability": pa.nulls(len(clusters), pa.float64()),
        "question_ids": [[i for i, _ in one] for one in members],
        "texts": [[text for _, text in one] for one in members],
    }
    return conform(pa.table(columns), CLUSTERS)


@pytest.fixture
def make_training_data():
    """Return a function that saves clusters, given as (split, texts), their questions and pairs; it returns the URL."""

    def make(url, clusters):
        listed, pairs = [], []
        for number, (split, texts) in enumerate(clusters, start=1000):
            known = dict(sorted((question_id(text), text) for text in texts))
            scores = {"coherence": 1.0, "adjusted_coherence": 1.0, "idf_coherence": 1.0}
            questions = {"question_ids": list(known), "texts": list(known.values())}
            sizes = {"size": len(known), "events": len(known)}
            listed.append({"cluster_id": number, "answer_hash": number, "split": split, **scores, **questions, **sizes})
            pairs += [(i, s, j, t, number) for (i, s), (j, t) in itertools.combinations(known.items(), 2)]
        named = [dict(zip(PAIRS.names, pair, strict=True)) for pair in pairs]
        output = Output(str(url), "dataset", overwrite=True)
        asked = [
            questions_table([(text, f"c{number}") for text in texts], split=split, answers=True)
            for number, (split, texts) in enumerate(clusters)
        ]
        tables = {
            "clusters": pa.Table.from_pylist(listed, CLUSTERS),
            "pairs": pa.Table.from_pylist(named, PAIRS),
            "questions": pa.concat_tables(asked) if asked else QUESTIONS.empty_table(),
        }
        files = [
            output.write(f"{name}/00000.parquet", parquet_bytes(table), table=name, rows=len(table))
            for name, table in tables.items()
        ]
        output.publish(files, inputs=[], configuration={}, counters={})
        return str(url)

    return make


@pytest.fixture
def tokens(tmp_path):
    """Return a folder as somebody may have published it: four pieces, a row of three numbers each, a licence."""
    folder = tmp_path / "published"
    folder.mkdir()
    vocabulary = {"<unk>": 0, "pay": 1, "b": 2, "##ill": 3}
    tokenizer = tokenizers.Tokenizer(tokenizers.models.WordPiece(vocabulary, unk_token="<unk>"))
    tokenizer.save(str(folder / "tokenizer.json"))
    (folder / "tokenizer_config.json").write_text('{"model_max_length": 512}')  # configures, cuts nothing
    (folder / "LICENSE").write_text("Do as you like.")
    rows = np.arange(12, dtype=np.float16).reshape(4, 3)
    safetensors.numpy.save_file({"embedding.weight": rows}, str(folder / "rows.safetensors"))
    return folder


@pytest.fixture(scope="session")
def tiny_sentences(tmp_path_factory):
    """Return the folder of a random BERT of two layers with the words of a few questions; skips without the package."""
    pytest.importorskip("sentence_transformers", reason="needs the extra transformers")
    import torch
    import transformers
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import Pooling, Transformer

    parts, folder = tmp_path_factory.mktemp("bert"), tmp_path_factory.mktemp("sentences")
    listed = "[PAD] [UNK] [CLS] [SEP] [MASK] pay cancel find change bill rent card flight how do i my the want to ? ##s"
    (parts / "vocab.txt").write_text(listed.replace(" ", "\n") + "\n")
    transformers.BertTokenizerFast.from_pretrained(str(parts)).save_pretrained(str(parts))
    sizes = {"hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2, "num_attention_heads": 4}
    config = transformers.BertConfig(vocab_size=22, max_position_embeddings=24, **sizes)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        transformers.BertModel(config).save_pretrained(str(parts))
    bert = Transformer(str(parts))
    SentenceTransformer(modules=[bert, Pooling(32)]).save(str(folder), create_model_card=False)
    (folder / "README.md").write_text("---\ntags: [bert]\nlicense: mit\n---\nlicense: none of this\n")
    return folder


class LetterModel:
    """Stands for a model of sentence-transformers: counts of a few letters, and what it was loaded with."""

    def __init__(self, folder, **options):
        self.options = options

    def get_embedding_dimension(self):
        return 4

    def encode(self, texts, *, batch_size, normalize_embeddings, show_progress_bar):
        assert normalize_embeddings
        assert not show_progress_bar
        counts = np.array([[1e-9 + text.count(letter) for letter in "payP"] for text in texts], np.float32)
        return counts / np.linalg.norm(counts, axis=1, keepdims=True)


@pytest.fixture
def sentence_transformer(tmp_path, monkeypatch):
    """Give the address of a model of sentence-transformers, and a package that loads it."""
    folder = tmp_path / "sentences"
    folder.mkdir()
    (folder / "modules.json").write_text("[]")
    monkeypatch.setitem(sys.modules, "sentence_transformers", types.SimpleNamespace(SentenceTransformer=LetterModel))
    return f"st:{folder}"
