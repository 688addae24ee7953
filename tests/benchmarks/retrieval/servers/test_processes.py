import pytest

from benchmarks.retrieval.servers.processes import plain_server, server


def test_a_server_without_an_index_shows_its_error(tmp_path):
    with (
        pytest.raises(SystemExit, match=r"did not start:\n.*nothing: not an index"),
        server([str(tmp_path / "nothing")]),
    ):
        pass


def test_a_plain_server_without_an_index_is_not_waited_for(tmp_path):
    with pytest.raises(SystemExit, match="the plain server did not start"), plain_server(str(tmp_path / "nothing")):
        pass
