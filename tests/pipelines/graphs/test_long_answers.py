"""An answer that many questions got is in memory once, whatever its length, on the whole way of a log."""

import numpy as np
import pyarrow as pa
import pytest

from pipelines.clusters.clustering import cluster, describe
from pipelines.clusters.settings import Gate
from pipelines.clusters.size_cap import cut_surplus
from pipelines.decontamination.evidence import mention
from pipelines.engine.shuffle import concatenate, split_by_shard
from pipelines.graphs.from_logs import name_and_settle
from pipelines.ingestion.days import merge_day
from pipelines.intermediate import ASKED
from pipelines.linkage.linker import read_linker
from pipelines.linkage.settings import Linking
from pipelines.privacy.settings import Privacy
from pipelines.questions.aggregation import as_memberships, assign_clusters
from pipelines.questions.memberships import replace_columns
from pipelines.questions.row_filters import validate
from pipelines.questions.settings import Ambiguity, Validation
from schemas.tables import QA_LOG, with_nulls
from tests.support.encoded_texts import allocations

QUESTIONS, BATCH = 3_000, 100
LONG = "".join(f"Step {number}. " for number in range(8_000))
WHOLE = QUESTIONS * len(LONG)  # 260 MB, of which a batch of the reader has 9


def shuffled(tables, key):
    return concatenate([part for table in tables for _, part in split_by_shard(table, key, 1)])


@pytest.fixture(scope="module")
def asked():
    draw = np.random.default_rng(5)
    words = [f"{a}{b}" for a in ("re", "un", "pro", "con") for b in ("port", "vert", "fold", "fuse", "vise")]
    texts = [f"{' '.join(draw.choice(words, 3))} {number}" for number in range(QUESTIONS)]
    batches = []
    for start in range(0, QUESTIONS, BATCH):
        rows = {"question": pa.array(texts[start : start + BATCH]), "answer": pa.array([LONG] * BATCH)}
        batches.append(validate(with_nulls(QA_LOG, rows), Validation()).asked)
    return shuffled(batches, "question_id")


@pytest.fixture(scope="module")
def settled(asked):
    outputs = [*name_and_settle((asked, None), Ambiguity(), Privacy())]
    return outputs[0], outputs[1].value, outputs[3].value


def test_rows_of_a_log_share_the_text(asked, settled):
    questions, members, _ = settled
    assert len(asked) == len(questions) == len(members) == QUESTIONS
    assert asked.schema.equals(ASKED)
    held_out = replace_columns(members, split=pa.repeat("test", QUESTIONS))
    for table in (asked, questions, members, merge_day(asked), mention(held_out)):
        assert table.combine_chunks().nbytes < WHOLE / 50
        assert table["answer"][QUESTIONS - 1].as_py() == LONG


@pytest.mark.parametrize("method", ["none", "boosted"])
def test_clusters_and_rejects_need_little_memory_for_the_text(settled, method):
    _, members, weights = settled
    linker = None if method == "none" else read_linker(Linking(method=method))
    with allocations() as held:
        found = cluster(members, Gate(min_coherence=0, max_cluster_size=200), weights, linker)
        described = describe(
            replace_columns(found.members, split=pa.repeat("train", len(found.members))), found.coherence
        )
    assert described["answer"].unique().to_pylist() in ([LONG], [])
    assert len(found.rejects) + len(found.members) == QUESTIONS
    assert held.max_memory() < WHOLE / 4  # a payload has 10,000 characters of it


def test_the_surplus_of_an_answer_needs_little_memory_for_the_text(settled):
    with allocations() as held:
        cut = cut_surplus(settled[1], 10)
    assert held.max_memory() < WHOLE / 50
    assert cut.members["answer"].unique().to_pylist() == [LONG]


def test_questions_get_their_clusters_without_copies_of_the_text(settled):
    with allocations() as held:
        assigned = assign_clusters(shuffled([as_memberships(settled[0])], "question_id"))
    assert held.max_memory() < WHOLE / 50
    assert assigned["answer"].unique().to_pylist() == [LONG]
