import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from pipelines.simulation.dataset_facts import ClusterFacts, _made_up_answers
from pipelines.simulation.generic_answers import GENERIC_ANSWERS, GENERIC_POOL, draw_generic
from pipelines.simulation.world import world
from schemas.errors import QprError

CLUSTERS = pa.table(
    {
        "cluster_id": pa.array([7, -3, 5], pa.int64()),
        "answer": pa.array(["Paris", None, "Rome"], pa.string()),
        "texts": pa.array(
            [["capital of france", "france capital"], ["pay my bill", "bill"], []], pa.list_(pa.string())
        ),
    }
)


def test_a_cluster_is_a_fact_and_its_texts_are_the_wordings():
    facts = ClusterFacts(CLUSTERS)
    assert len(facts) == 2  # cluster 5 has no text; -3 sorts before 7
    asked = np.array([0, 0, 1, 1])
    texts = facts.questions(asked, wording=np.array([0.0, 0.5, 0.49, 0.99]), alias=np.zeros(4, bool)).to_pylist()
    assert texts == ["pay my bill", "bill", "capital of france", "france capital"]
    assert facts.gold(asked).tolist() == [-3, -3, 7, 7]
    assert sorted(facts.popularity(np.random.default_rng(0)).tolist()) == [0, 1]


def test_the_datasets_answer_is_kept_and_a_missing_one_made_up():
    missing, paris = ClusterFacts(CLUSTERS).answers(np.array([0, 1])).to_pylist()
    assert paris == "Paris"
    assert missing.endswith(".")


def test_the_order_of_the_rows_does_not_matter():
    shuffled = ClusterFacts(CLUSTERS.take([2, 1, 0]))
    assert shuffled.gold(np.arange(2)).tolist() == ClusterFacts(CLUSTERS).gold(np.arange(2)).tolist()


def test_made_up_answers_are_all_different():
    assert pc.count_distinct(_made_up_answers(60_000)).as_py() == 60_000


def test_a_dataset_without_clusters_is_explained():
    with pytest.raises(QprError, match="holds no cluster"):
        ClusterFacts(CLUSTERS.slice(2))


@pytest.mark.parametrize("share", [0.0, 0.3, 1.0])
def test_a_share_of_the_facts_gets_a_generic_answer_of_a_suitable_kind(share):
    active = world().popularity(np.random.default_rng(1))[:20_000]
    picked = draw_generic(world(), active, share=share, rng=np.random.default_rng(2))
    assert (picked >= 0).mean() == pytest.approx(share, abs=0.02)
    kinds = world().generic(active, np.zeros(len(active)))
    for index, kind in list(zip(picked.tolist(), kinds.tolist(), strict=True))[:2_000]:
        assert index < 0 or GENERIC_POOL[index].as_py() in GENERIC_ANSWERS[kind]


def test_facts_of_a_dataset_get_generic_answers_of_every_kind():
    kinds = ClusterFacts(CLUSTERS).generic(np.zeros(5, np.int64), np.array([0.0, 0.2, 0.4, 0.6, 0.8]))
    assert set(kinds.tolist()) == set(GENERIC_ANSWERS)
