import itertools

import numpy as np
import pyarrow as pa
import pytest

from model.exports.qdrant import upload
from schemas.errors import QprError
from schemas.tables import ANSWER_ID, ID_TABLE, with_nulls

qdrant_client = pytest.importorskip("qdrant_client", reason="needs the extra qdrant")

ROWS = 520


def vectors(seed):
    return np.random.default_rng(seed).normal(size=(ROWS, 3)).astype(np.float32)


def table(seed=0):
    ids = np.random.default_rng(seed).integers(-(2**63), 2**63, ROWS)
    columns = {
        "question_id": pa.array(ids),
        "text": [f"question {i}" for i in range(ROWS)],
        "answer": [None, *["yes"] * (ROWS - 1)],
        "cluster_id": pa.array([-(2**62), *[None] * (ROWS - 1)], pa.int64()),
        "events": pa.array([3] * ROWS),
    }
    known = with_nulls(ID_TABLE, columns)
    column = pa.FixedSizeListArray.from_arrays(pa.array(vectors(seed).reshape(-1)), 3)
    return known.append_column(ANSWER_ID, pa.nulls(ROWS, pa.string())).append_column("vector", column)


@pytest.fixture
def client(tmp_path):
    opened = qdrant_client.QdrantClient(path=str(tmp_path / "qdrant"))
    yield opened
    opened.close()


def fill(client, *, version="a", rows=None, overwrite=False):
    return upload(rows or [table()], client, alias="faq", version=version, dimension=3, overwrite=overwrite)


def test_all_questions_are_found_by_vector_with_their_payload(client):
    assert fill(client) == "faq-a"
    assert client.count("faq").count == ROWS
    [hit] = client.query_points("faq", query=vectors(0)[0].tolist(), limit=1).points
    first = table()["question_id"][0].as_py()
    assert (hit.id, hit.score) == (first % 2**64, pytest.approx(0, abs=1e-6))
    assert hit.payload == {
        "question_id": str(first), "text": "question 0", "answer": None, "answer_id": None,
        "cluster_id": str(-(2**62)), "events": 3,
    }  # fmt: skip


def test_an_upload_that_fails_leaves_the_old_version_to_readers_and_can_be_repeated(client):
    fill(client)

    def broken():
        yield table(seed=1)
        raise ConnectionError

    with pytest.raises(ConnectionError):
        fill(client, version="b", rows=broken(), overwrite=True)
    assert client.query_points("faq", query=vectors(0)[0].tolist(), limit=1).points[0].payload["text"] == "question 0"
    assert fill(client, version="b", rows=itertools.chain([table(seed=1)]), overwrite=True) == "faq-b"
    assert client.query_points("faq", query=vectors(1)[9].tolist(), limit=1).points[0].payload["text"] == "question 9"
    assert client.count("faq").count == ROWS


def test_another_version_needs_leave_and_the_same_one_is_not_filled_again(client):
    fill(client)
    with pytest.raises(QprError, match="faq: points to collection faq-a"):
        fill(client, version="b")
    assert fill(client, rows=iter([])) == "faq-a"
    assert client.count("faq").count == ROWS


def test_a_collection_of_the_name_is_never_touched(client):
    vector = qdrant_client.models.VectorParams(size=3, distance=qdrant_client.models.Distance.DOT)
    client.create_collection("faq", vectors_config=vector)
    with pytest.raises(QprError, match="is a collection of Qdrant, not an alias"):
        fill(client, overwrite=True)
