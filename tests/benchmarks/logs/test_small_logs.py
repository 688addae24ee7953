"""Small logs in other letters, and the log of marked pairs, to learn from."""

import gzip
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from benchmarks.labels.learning.learning_sets import marked_log
from benchmarks.labels.learning.tree_fitting import examples
from benchmarks.logs.cluster_sources import Source
from benchmarks.logs.silver_logs import silver_of_known
from benchmarks.logs.small_logs import SCRIPTS, small_logs
from pipelines.linkage.comparison.agreement_features import AGREEMENT
from pipelines.linkage.comparison.pair_features import NAMES
from schemas.text import question_id

OPENINGS = ("what is", "which is", "who has", "tell me")
TEXTS = [f"{opening} number {number}" for number in range(60) for opening in OPENINGS]


@pytest.fixture
def source() -> Source:
    clusters = [np.arange(4 * number, 4 * number + 4) for number in range(55)]
    ids = np.array([question_id(text) for text in TEXTS])
    return Source(
        pa.array(TEXTS), [frozenset(text.lower().split()) for text in TEXTS], ids, clusters, np.arange(220, 240)
    )


def test_each_script_gets_logs_with_its_letters_and_the_same_clusters(source: Source) -> None:
    logs = {log.name: log for log in small_logs(source, seed=0)}
    assert len(logs) == 6 * len(SCRIPTS)
    for script, letter in (("thai", "ก"), ("cyrillic", "а"), ("hangul", "가"), ("han", "一")):
        text = "".join(question for question, _ in logs[f"small-asked-{script}-0"].rows)
        assert any(letter <= character < chr(ord(letter) + 11_200) for character in text)
        assert not any("a" <= character <= "z" for character in text)
    assert all(len({judged.group for judged in log.judged}) > 20 for log in logs.values())


def test_pairs_of_a_small_log_have_all_features(source: Source) -> None:
    log = silver_of_known(next(small_logs(source, seed=0)))
    found = examples(log, seed=0)
    assert found.features.shape == (len(found.same), len(NAMES) + len(AGREEMENT))
    assert 0 < found.same.mean() < 1
    assert found.weight.sum() == pytest.approx(1)


def test_clusters_of_a_pair_that_was_marked_share_an_answer(source: Source, tmp_path: Path) -> None:
    path = tmp_path / "pairs.tsv.gz"
    rows = ["id\tqid1\tqid2\tquestion1\tquestion2\tis_duplicate", f"0\t1\t2\t{TEXTS[0]}\t{TEXTS[4]}\t0"]
    rows.append(f"1\t3\t4\t{TEXTS[8]}\t{TEXTS[12]}\t1")
    path.write_bytes(gzip.compress("\n".join(rows).encode()))
    log = marked_log(source, path, clusters=20, seed=0)
    names, answer = np.unique(log.members["answer_id"].to_numpy(), return_inverse=True)
    sizes = np.bincount(answer)
    assert sorted(sizes.tolist())[-2:] == [4, 8]
    assert len(names) == len(sizes)
    assert len(np.unique(log.gold[answer == np.argmax(sizes)])) == 2
