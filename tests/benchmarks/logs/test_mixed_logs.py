import numpy as np
import pyarrow as pa
import pytest

from benchmarks.logs.cluster_sources import Source
from benchmarks.logs.mixed_logs import mixed_log
from benchmarks.logs.silver_logs import ALONE
from schemas.text_arrays import hash64_all, key_all


@pytest.fixture
def source() -> Source:
    texts = [f"what about subject{number // 12} wording{number} of kind{number % 3}" for number in range(3_000)]
    clusters = [np.arange(3 * number, 3 * number + 3) for number in range(700)]
    array = pa.array(texts)
    words = [frozenset(text.split()) for text in texts]
    return Source(array, words, hash64_all(key_all(array)).to_numpy(), clusters, np.arange(2_100, 3_000))


def test_no_question_occurs_twice_and_no_cluster_has_two_answers(source: Source) -> None:
    for seed in range(6):
        log = mixed_log(source, np.random.default_rng(seed))
        assert len(np.unique(log.members["question_id"].to_numpy())) == len(log.members)
        answers = log.members["answer_id"].to_numpy()
        assert len(np.unique(log.gold)) == len(np.unique(np.stack([log.gold, answers]), axis=1).T)


def test_compositions_differ_and_a_seed_gives_the_same_log(source: Source) -> None:
    logs = [mixed_log(source, np.random.default_rng(seed)) for seed in range(6)]
    shares = [float((log.kind == ALONE).mean()) for log in logs]
    assert max(shares) - min(shares) > 0.2
    assert len({len(log.members) for log in logs}) > 3
    again = mixed_log(source, np.random.default_rng(3))
    assert again.members.equals(logs[3].members)
    assert np.array_equal(again.gold, logs[3].gold)
