import socket

import pytest

from tests.support import ports


def test_free_ports_are_distinct_and_none_is_one_that_the_system_gives_by_itself() -> None:
    with socket.create_server(("127.0.0.1", 0)) as given:
        assert given.getsockname()[1] in ports.given_ports()
    found = ports.free_ports(20)
    assert len(set(found)) == 20
    assert not set(found) & set(ports.given_ports())


def test_a_port_on_which_something_listens_is_not_free(monkeypatch: pytest.MonkeyPatch) -> None:
    [taken, other] = ports.free_ports(2)
    monkeypatch.setattr(ports, "given_ports", lambda: {*range(65_536)} - {taken, other})
    with socket.create_server(("127.0.0.1", taken)):
        assert ports.free_ports(1) == [other]


def test_where_the_system_gives_all_ports_by_itself_any_is_free(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ports, "given_ports", lambda: range(1024, 65_536))
    assert len(set(ports.free_ports(3))) == 3
