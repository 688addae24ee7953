import asyncio

import pytest

from jobs.web.protection.joined_writes import JoinedWrites

HEAD = b"HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\n"


class Transport:
    def __init__(self):
        self.writes, self.closed = [], False

    def write(self, data):
        assert not self.closed
        self.writes.append(data)

    def writelines(self, parts):
        self.write(b"".join(parts))

    def close(self):
        self.closed = True

    abort = close

    def is_closing(self):
        return self.closed

    def get_write_buffer_size(self):
        return 7


def writes_of(*steps):
    """Return what is written by steps of an event loop, each a list of bytes or names of methods."""

    async def main():
        transport = Transport()
        joined = JoinedWrites(transport, asyncio.get_running_loop())
        for step in steps:
            for each in step:
                joined.write(each) if isinstance(each, bytes) else getattr(joined, each)()
            await asyncio.sleep(0)
        return transport.writes, transport.closed, joined.get_write_buffer_size()

    return asyncio.run(main())


@pytest.mark.parametrize(
    ("steps", "writes"),
    [
        ([[HEAD, b"body"]], [HEAD + b"body"]),
        ([[HEAD, b"bo", b"dy"]], [HEAD + b"bo", b"dy"]),
        ([[HEAD, b"body"], [HEAD, b"body"]], [HEAD + b"body", HEAD + b"body"]),
        ([[HEAD, b"body", HEAD, b"body"]], [HEAD + b"body", HEAD + b"body"]),
        ([[HEAD, HEAD]], [HEAD + HEAD]),
        ([[HEAD], [b"late"]], [HEAD, b"late"]),
        ([[HEAD]], [HEAD]),
        ([[HEAD + b"body"]], [HEAD + b"body"]),
        ([[b"5\r\nbytes\r\n"]], [b"5\r\nbytes\r\n"]),
    ],
)
def test_a_head_is_written_with_what_follows_in_the_same_step_or_after_it(steps, writes):
    assert writes_of(*steps) == (writes, False, 7)


@pytest.mark.parametrize(("end", "writes"), [("close", [HEAD]), ("abort", [])])
def test_a_head_is_written_before_a_connection_is_closed_and_not_where_it_is_aborted(end, writes):
    assert writes_of([HEAD, end]) == (writes, True, 7)
