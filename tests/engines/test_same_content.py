import pytest

pytestmark = pytest.mark.engine
ONE_WORKER = pytest.mark.xdist_group("engines-of-logs")  # each worker starts engines of its own
OTHER_WORKER = pytest.mark.xdist_group("engines")

HERE = ["every_bundle_twice", "multi_processing", "job_service", "prism", "spark_local"]
"""Engines whose workers are this installation."""

ELSEWHERE = [
    pytest.param("job_service_elsewhere", marks=pytest.mark.slow),
    pytest.param("spark_cluster", marks=pytest.mark.slow),
]
"""Engines whose workers live in an environment that holds Beam and our staged package and nothing else; and FAISS, for
indexes."""


@pytest.mark.parametrize("engine", [*HERE, *ELSEWHERE])
@pytest.mark.parametrize(
    "command", [pytest.param("clusters", marks=ONE_WORKER), pytest.param("quora", marks=OTHER_WORKER)]
)
def test_a_dataset_is_the_same_on_every_engine(written, command, engine):
    digest, counters = written(command, "in_memory")
    assert written(command, engine) == (digest, counters)
    assert counters["rows_read"] == (10_060 if command == "clusters" else 6_000)
    assert counters["rows_rejected"] >= 60
    assert len(set(digest.values())) == 4  # no table is empty, so none is equal to another


@OTHER_WORKER
@pytest.mark.parametrize("engine", [*HERE, *ELSEWHERE])
def test_an_index_is_the_same_to_the_byte_on_every_engine(written, engine, request):
    if engine in [one.values[0] for one in ELSEWHERE]:
        request.getfixturevalue("faiss_beside")
    digest, counters = written("index", "in_memory")
    assert written("index", engine) == (digest, counters)
    assert counters["questions_indexed"] > 2_500
