import collections
import importlib
import random

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from benchmarks.pipelines.clusters import PEERS, difference
from benchmarks.pipelines.peers.rules import MAX_PAIRS
from schemas.artifacts.dataset import open_dataset
from schemas.tables import TABLES
from tests.support.commands import run

FORMS = [
    "What is {}?",
    "what is {}",
    "WHAT  IS {} ??",
    "So: was ist {}",
    "{} とは何？",
    "{} – c'est quoi",
    "¿qué es {}",
]


@pytest.fixture(scope="module")
def log(tmp_path_factory):
    """Return a log with texts of several scripts, leaks, a cluster over the limit and one with too many pairs."""
    chance = random.Random(1)
    things = ["a cat", "Straße", "la niña", "東京", "x²", "naïveté", *(f"thing {n}" for n in range(150))]
    rows = [(chance.choice(FORMS).format(t), f"It is {t}.") for t in things for _ in range(9)]
    rows += [(q.upper(), a.upper()) for q, a in chance.choices(rows, k=200)]
    rows += [(q, chance.choice(rows)[1]) for q, _ in chance.choices(rows, k=60)]  # questions with several answers
    rows += [(f"how many are {n}", "many") for n in range(1_030)]
    rows += [(f"{' '.join('abcdefghijklmnopqrst')} {n}", "letters") for n in range(160)]  # 12,720 pairs, c = 21 / 180
    rows += [(f"{n} {n + 1000} {n + 2000}", "unlike") for n in range(30)]
    rows += [("who is alone", "one")]
    chance.shuffle(rows)
    times = pa.array(range(len(rows)), pa.int64()).cast(pa.timestamp("us", tz="UTC"))
    path = tmp_path_factory.mktemp("log") / "log.parquet"
    pq.write_table(
        pa.table({"question": [q for q, _ in rows], "answer": [a for _, a in rows], "timestamp": times}), path
    )
    return path


@pytest.fixture(scope="module")
def dataset(log):
    output = str(log.parent / "ours")
    assert run("clusters", log, "--output", output, "--coherence", "paper") == 0
    return open_dataset(output)


@pytest.mark.parametrize("name", PEERS)
def test_every_peer_writes_the_same_tables(log, dataset, tmp_path, name):
    importlib.import_module(f"benchmarks.pipelines.peers.{name}").main(str(log), str(tmp_path / name))
    assert difference(dataset, tmp_path / name) == ""
    reasons = set(dataset.table("rejected")["reason"].to_pylist())
    assert reasons >= {"over_max_cluster_size", "incoherent", "in_train", "single_question"}
    assert max(collections.Counter(dataset.table("pairs")["cluster_id"].to_pylist()).values()) == MAX_PAIRS


@pytest.mark.parametrize("name", TABLES)
def test_one_changed_value_is_noticed_in_any_table(dataset, tmp_path, name):
    changed = {"questions": "events", "clusters": "idf_coherence", "pairs": "question_id_2", "rejected": "score"}
    for table_name in TABLES:
        table = dataset.table(table_name)
        if table_name == name:
            column = pc.add(table[changed[name]], 1)
            table = table.set_column(table.column_names.index(changed[name]), changed[name], column)
        (tmp_path / "other").mkdir(exist_ok=True)
        pq.write_table(table, tmp_path / "other" / f"{table_name}.parquet")
    assert difference(dataset, tmp_path / "other") == name
