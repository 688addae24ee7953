import pytest

from benchmarks.retrieval.servers.load import get, open_loop
from benchmarks.retrieval.servers.processes import peer_server, server


def test_a_server_without_an_index_shows_its_error(tmp_path):
    with (
        pytest.raises(SystemExit, match=r"did not start:\n.*nothing: not an index"),
        server([str(tmp_path / "nothing")]),
    ):
        pass


def test_a_plain_server_without_an_index_is_not_waited_for(tmp_path):
    nothing = peer_server("plain_server", str(tmp_path / "nothing"))
    with pytest.raises(SystemExit, match="plain_server did not start"), nothing:
        pass


def test_the_latencies_of_a_server_that_looks_for_nothing_are_measured():
    with peer_server("constant_server") as (port, _):
        outcome = open_loop(port, [get("/search", "where is it?")] * 20, 200, 0)
    assert outcome.statuses == {200: 20}
    assert 0 < outcome.cells()["p50_ms"] <= outcome.cells()["p99_ms"] < 1000
