"""Ports of this machine for programs that take a port's number and no open socket.

number of ports -> free_ports -> ports on which nothing listens, and which the system gives to nobody by itself
"""

from __future__ import annotations

import contextlib
import random
import socket
from pathlib import Path

_GIVEN = Path("/proc/sys/net/ipv4/ip_local_port_range")


def given_ports() -> range:
    """Return the ports that the system gives to clients, and to servers that ask for any port."""
    first, last = map(int, _GIVEN.read_text().split())
    return range(first, last + 1)


def free_ports(count: int) -> list[int]:
    """Return ports on which nothing listens at this moment.

    They are drawn from those that the system gives to nobody, if there are any: one of the others may belong to a
    client of another test before the server that it is meant for has started.
    """
    given, high = given_ports(), range(10_000, 65_536)
    others = [port for port in high if port not in given]
    draw, found = random.SystemRandom(), list[int]()
    with contextlib.ExitStack() as stack:
        while len(found) < count:
            one, port = stack.enter_context(socket.socket()), draw.choice(others or high)
            with contextlib.suppress(OSError):  # something listens there
                one.bind(("127.0.0.1", port))
                found.append(port)
    return found
