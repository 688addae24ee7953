"""Connections whose clients send too much, too slowly or nothing, do not read, or are too many."""

import asyncio
import contextlib
import json
import signal
import socket
import time

import pytest
import uvloop
from starlette.responses import Response

from jobs.web import listening
from jobs.web.metrics import Metrics
from jobs.web.protection import connections
from jobs.web.protection.gate import Gate
from jobs.web.settings import Serving

GET = b"GET / HTTP/1.1\r\nHost: localhost\r\n"
POST = b"POST / HTTP/1.1\r\nHost: localhost\r\n"
LARGE = 20_000_000


async def application(scope, receive, send):
    """Respond with the size of the body, at ``/early`` before it is read, at ``/large`` with many bytes, or late.

    At ``/client`` it is the address of the client.
    """
    assert scope["type"] == "http"
    await asyncio.sleep({"/late": 0.1, "/later": 0.8}.get(scope["path"], 0))
    size, more = 0, scope["path"] != "/early"
    while more:
        message = await receive()
        size, more = size + len(message["body"]), message["more_body"]
    others = {"/large": b"x" * LARGE, "/client": scope["client"][0]}
    await Response(others.get(scope["path"], str(size)))(scope, receive, send)


class Client:
    def __init__(self, reader, writer):
        self.reader, self.writer = reader, writer

    async def send(self, *parts):
        for part in parts:
            if self.writer.is_closing():  # uvloop would raise a RuntimeError
                raise ConnectionResetError
            self.writer.write(part)
            await self.writer.drain()

    async def send_apart(self, parts):
        """Send parts that the server reads one by one."""
        for part in parts:
            await self.send(part)
            await asyncio.sleep(0.01)

    async def response(self):
        """Return status, headers and body of the next response."""
        head = (await self.reader.readuntil(b"\r\n\r\n")).decode().splitlines()
        headers = dict(line.lower().split(": ", 1) for line in head[1:] if line)
        return int(head[0].split()[1]), headers, await self.reader.readexactly(int(headers["content-length"]))

    async def asked(self, *parts):
        await self.send(*parts)
        return await self.response()

    async def ended(self, within=5.0):
        """Return all bytes until the server closes the connection."""
        try:
            return await asyncio.wait_for(self.reader.read(), within)
        except ConnectionResetError:
            return b""


@pytest.fixture
def served(monkeypatch):
    """Return a function that serves a scenario of clients; it returns counts of refusals and the seconds of the end."""
    monkeypatch.setattr(listening, "_TICKS", 1)
    ends, errors = [], []

    def serve(scenario, drain=0.3, **limits):
        metrics = Metrics(waiting=lambda: 0, opened=lambda: 1)
        gate = Gate(application, settings=Serving(log="none", limits=limits), metrics=metrics)

        async def main():
            asyncio.get_running_loop().set_exception_handler(lambda _, context: errors.append(context))
            with listening.listening("127.0.0.1", 0) as listener:
                port = listener.getsockname()[1]
                server = listening.Server(gate, "serving", drain=drain)
                running = asyncio.create_task(server.serve([listener]))
                while not server.started:
                    await asyncio.sleep(0.01)

                async def connect():
                    opened = Client(*await asyncio.open_connection("127.0.0.1", port))
                    ends.append(opened.writer.close)
                    return opened

                try:
                    await scenario(connect, server)
                finally:
                    server.should_exit = True
                    began = time.monotonic()
                    await running
                    seconds = time.monotonic() - began
                    await asyncio.sleep(0.1)  # clients are in this loop too
                    for end in ends:
                        end()
                return seconds

        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            seconds = runner.run(main())
        assert errors == []
        samples = next(iter(metrics.rejects.collect())).samples
        counted = [each for each in samples if each.name.endswith("_total") and each.value]
        return {each.labels["cause"]: each.value for each in counted}, seconds

    return serve


def test_a_head_that_never_ends_is_refused_at_64_kib(served):
    async def scenario(connect, _):
        endless, other = await connect(), await connect()
        await endless.send(GET, b"X: ", b"a" * 60_000)
        assert (await other.asked(GET, b"\r\n"))[0] == 200
        status, headers, body = await endless.asked(b"a" * 10_000)
        assert (status, headers["connection"], [*json.loads(body)]) == (431, "close", ["error"])
        assert await endless.ended() == b""
        assert (await other.asked(GET, b"\r\n"))[0] == 200

    assert served(scenario)[0]["head"] == 1


@pytest.mark.parametrize("more", [
    b"X: " + b"a" * 66_000 + b"\r\n", b"X: a\r\n" * 20_000, b"GET /" + b"a" * 66_000 + b" HTTP/1.1\r\n"
])  # fmt: skip
def test_a_complete_head_beyond_64_kib_is_refused(served, more):
    async def scenario(connect, _):
        client = await connect()
        client.writer.write((b"" if more.startswith(b"GET") else GET) + more + b"\r\n")
        assert (await client.ended()).startswith((b"HTTP/1.1 431", b""))
        assert (await (await connect()).asked(GET, b"X: " + b"a" * 60_000 + b"\r\n\r\n"))[0] == 200

    assert served(scenario)[0]["head"] == 1


def test_refusals_before_the_application_have_the_headers_of_all_responses(served, monkeypatch):
    monkeypatch.setattr(connections, "HEAD_S", 0.4)

    async def scenario(connect, _):
        status, headers, _ = await (await connect()).asked(GET, b"\r\n")
        assert (status, headers["x-content-type-options"], "server" in headers) == (200, "nosniff", False)
        for part, refusal in ((b"no request\r\n\r\n", 400), (GET, 408), (GET + b"X: " + b"a" * 70_000, 431)):
            status, others, _ = await (await connect()).asked(part)
            assert (status, headers.keys() - others.keys()) == (refusal, set())
            assert others["cross-origin-resource-policy"] == "same-origin"

    served(scenario)


def test_a_body_and_requests_behind_one_another_are_no_head(served):
    async def scenario(connect, _):
        client, body = await connect(), b"x" * 300_000
        request = POST + b"Content-Length: 300000\r\n\r\n" + body
        await client.send(request * 2 + GET + b"\r\n")
        assert [(await client.response())[2] for _ in range(3)] == [b"300000", b"300000", b"0"]
        chunks = b"".join(b"1;%s\r\nx\r\n" % (b"e" * 100) for _ in range(5000))
        status, _, size = await client.asked(POST, b"Transfer-Encoding: chunked\r\n\r\n", chunks, b"0\r\nA: b\r\n\r\n")
        assert (status, size) == (200, b"5000")

    assert served(scenario)[0] == {}


def test_a_request_to_change_the_protocol_keeps_its_body(served):
    """Java's HttpClient sends the first request of each connection so."""
    upgrade = b"Connection: Upgrade, HTTP2-Settings\r\nHTTP2-Settings: AAEAAEAA\r\nUpgrade: h2c\r\n"

    async def scenario(connect, _):
        client = await connect()
        for body in (
            b"Content-Length: 5\r\n\r\nabcde",
            b"Transfer-Encoding: chunked\r\n\r\n2\r\nab\r\n3\r\ncde\r\n0\r\n\r\n",
        ):
            request = POST + upgrade + body
            for parts in ([request], [bytes([each]) for each in request], [request * 300]):
                await client.send(*parts)
                for _ in range(len(parts[0]) // len(request) or 1):
                    assert (await client.response())[::2] == (200, b"5")
        assert (await client.asked(GET, upgrade, b"\r\n"))[::2] == (200, b"0")
        closing = await connect()
        await closing.send(GET, upgrade.replace(b"Upgrade,", b"Upgrade, close,", 1), b"\r\n", GET, b"\r\n")
        assert (await closing.ended()).count(b"HTTP/1.1") == 1  # bytes after the last request are ignored
        assert (await client.asked(GET, upgrade, b"Host: localhost\r\n\r\n"))[0] == 400
        assert await client.ended() == b""

    assert served(scenario)[0] == {"http": 1}


@pytest.mark.parametrize("line", [
    b"CONNECT localhost:80", b"GET http://localhost", b"GET http://localhost:99999/", b"GET http://[::1/"
])  # fmt: skip
def test_an_address_without_a_path_is_refused_and_its_connection_closed(served, line):
    async def scenario(connect, _):
        client = await connect()
        assert (await client.asked(GET, b"\r\n"))[0] == 200
        status, headers, body = await client.asked(line, b" HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert (status, headers["connection"]) == (400, "close")
        fault = "this server is no proxy" if line.startswith(b"CONNECT") else "the address of the request is invalid"
        assert json.loads(body)["error"].startswith(fault)
        assert await client.ended() == b""

    assert served(scenario)[0] == {"http": 1}


def test_trailers_that_never_end_are_refused(served):
    async def scenario(connect, _):
        client = await connect()
        await client.send(POST, b"Transfer-Encoding: chunked\r\n\r\n", b"1\r\nx\r\n0\r\n", b"A: b\r\n" * 100_000)
        assert (await client.ended()).startswith((b"HTTP/1.1 431", b""))

    assert served(scenario)[0]["head"] == 1


def test_bytes_that_are_no_request_get_400_as_json(served):
    async def scenario(connect, _):
        status, headers, body = await (await connect()).asked(b"\x16\x03\x01\x00\r\n\r\n")
        assert (status, headers["content-type"], headers["connection"]) == (400, "application/json", "close")
        assert json.loads(body) == {"error": "this is no HTTP request"}

    assert served(scenario)[0] == {"http": 1}


@pytest.mark.parametrize(
    "address", ["/search?q=café".encode(), "/café".encode("latin-1"), b"/search?q=\x01", b"search"]
)
def test_an_address_with_other_characters_gets_400_with_what_to_do(served, address):
    async def scenario(connect, _):
        status, headers, body = await (await connect()).asked(GET.replace(b"/", address, 1) + b"\r\n")
        assert (status, headers["connection"]) == (400, "close")
        assert json.loads(body)["error"].startswith("the address of the request is invalid; write characters")

    assert served(scenario)[0] == {"http": 1}


def test_a_request_with_two_hosts_gets_400(served):
    async def scenario(connect, _):
        for first, second in ((b"evil.example", b"localhost"), (b"localhost", b"localhost")):
            request = b"GET / HTTP/1.1\r\nHost: " + first + b"\r\nhost: " + second + b"\r\n\r\n"
            status, _, body = await (await connect()).asked(request)
            assert (status, json.loads(body)) == (400, {"error": "the request has more than one Host header"})
        assert (await (await connect()).asked(GET + b"\r\n"))[0] == 200

    assert served(scenario)[0] == {"http": 2}


def test_a_head_request_has_the_headers_of_a_get_request_and_no_body(served):
    async def scenario(connect, _):
        client = await connect()
        _, expected, _ = await client.asked(GET + b"\r\n")
        await client.send(GET.replace(b"GET", b"HEAD") + b"\r\n", GET + b"Connection: close\r\n\r\n")
        head, _, rest = (await client.ended()).partition(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 200 ")
        assert f"content-length: {expected['content-length']}" in head.decode().lower()
        assert rest.startswith(b"HTTP/1.1 200 ")

    assert served(scenario)[0] == {}


def test_connections_without_a_complete_head_are_closed_in_time(served, monkeypatch):
    monkeypatch.setattr(connections, "HEAD_S", 1.5)

    async def drip(client):
        with contextlib.suppress(OSError):
            while True:
                await client.send(b"X: a\r\n")
                await asyncio.sleep(0.05)

    async def scenario(connect, _):
        silent, half, slow, second, idle = [await connect() for _ in range(5)]
        await half.send(GET)
        for client in (slow, second, idle):
            assert (await client.asked(GET, b"\r\n"))[0] == 200
        await second.send(b"\r\n", GET)
        await slow.send(GET)
        began = time.monotonic()
        await asyncio.wait_for(drip(slow), 10)  # later bytes of a head gain no time
        assert time.monotonic() - began < 10
        assert await silent.ended() == b""
        for late in (half, second):
            assert (await late.response())[0] == 408
            assert await late.ended() == b""
        await asyncio.sleep(2.0)
        assert (await idle.asked(GET, b"\r\n"))[0] == 200  # between requests it may wait

    assert served(scenario)[0] == {"head": 3}


LATE = GET.replace(b"/", b"/late", 1) + b"\r\n"
EARLY = POST.replace(b"/", b"/early", 1)
BODY = b"Transfer-Encoding: chunked\r\n\r\n"


@pytest.mark.parametrize(
    "parts",
    [[LATE, GET], [LATE + GET], [LATE + LATE + b"G"], [GET + b"\r\nGET /"], [LATE, *[bytes([each]) for each in GET]]],
    ids=["after", "with", "two", "none runs", "by bytes"],
)
def test_a_head_that_begins_before_an_earlier_response_has_to_end_in_time(served, monkeypatch, parts):
    monkeypatch.setattr(connections, "HEAD_S", 0.4)

    async def scenario(connect, _):
        client = await connect()
        await client.send_apart(parts)
        statuses = [
            (await asyncio.wait_for(client.response(), 5))[0] for _ in range(b"".join(parts).count(b"\r\n\r\n"))
        ]
        assert {*statuses} == {200}
        assert (await asyncio.wait_for(client.response(), 5))[0] == 408
        assert await client.ended() == b""

    assert served(scenario)[0] == {"head": 1}


def test_the_time_of_a_head_does_not_begin_while_earlier_requests_have_no_response(served, monkeypatch):
    monkeypatch.setattr(connections, "HEAD_S", 0.3)

    async def scenario(connect, _):
        client = await connect()
        await client.send(GET + b"\r\n" + GET.replace(b"/", b"/later", 1) + b"\r\n" + GET)
        await asyncio.sleep(0.7)
        await client.send(b"\r\n")
        assert [(await client.response())[0] for _ in range(3)] == [200] * 3

    assert served(scenario)[0] == {}


def test_a_body_may_take_longer_than_a_head_or_an_idle_connection(served, monkeypatch):
    monkeypatch.setattr(connections, "HEAD_S", 0.4)
    monkeypatch.setattr(listening, "_IDLE_S", 0.5)

    async def scenario(connect, _):
        client = await connect()
        assert (await client.asked(GET, b"\r\n"))[0] == 200
        await client.send(POST, b"Content-Length: 10\r\n\r\n")
        for _ in range(10):
            await asyncio.sleep(0.1)
            await client.send(b"x")
        assert (await client.response())[::2] == (200, b"10")

    assert served(scenario)[0] == {}


def test_a_connection_is_idle_for_75_s_at_most_also_after_a_body_that_ended_after_its_response(served, monkeypatch):
    assert listening._IDLE_S == 75
    monkeypatch.setattr(listening, "_IDLE_S", 0.4)

    async def scenario(connect, _):
        plain, early = await connect(), await connect()
        assert (await plain.asked(GET, b"\r\n"))[0] == 200
        assert (await early.asked(EARLY, b"Content-Length: 10\r\n\r\n"))[0] == 200
        await early.send(b"1234567890")
        assert await plain.ended(3) == await early.ended(3) == b""

    assert served(scenario)[0] == {}


def test_trailers_are_no_part_of_the_next_head(served):
    async def scenario(connect, _):
        client, field = await connect(), b"A: " + b"a" * 40_000 + b"\r\n"
        await client.send_apart([POST + BODY, b"1\r\nx\r\n", b"0\r\n" + field, b"\r\n"])
        assert (await client.response())[::2] == (200, b"1")
        await client.send_apart([GET + field, b"\r\n"])
        assert (await client.response())[0] == 200

    assert served(scenario)[0] == {}


def test_a_damaged_body_after_its_response_is_refused(served):
    async def scenario(connect, _):
        client = await connect()
        assert (await client.asked(EARLY, BODY))[0] == 200
        assert (await client.asked(b"no size\r\n"))[0] == 400
        assert await client.ended() == b""

    assert served(scenario)[0] == {"http": 1}


def test_headers_of_proxies_are_ignored(served):
    """With one address of a client in each request it could send any number of them."""

    async def scenario(connect, _):
        request = GET.replace(b"/", b"/client", 1) + b"X-Forwarded-For: 203.0.113.9\r\n\r\n"
        assert (await (await connect()).asked(request))[2] == b"127.0.0.1"

    served(scenario)


def test_a_port_is_free_again_as_soon_as_its_server_has_ended():
    with listening.listening("127.0.0.1", 0) as listener:
        port = listener.getsockname()[1]
        listener.listen()
        with socket.create_connection(("127.0.0.1", port)) as client:
            listener.accept()[0].close()  # the end that closes first is the one that waits
            assert client.recv(1) == b""
    with listening.listening("127.0.0.1", port) as listener:
        listener.listen()


def test_the_handlers_of_signals_are_those_of_before_when_the_server_has_ended(served):
    """A signal while it releases its leases is one of the command, which ends cleanly."""
    numbers = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
    before = {number: signal.signal(number, lambda *_: None) for number in numbers}
    given = [signal.getsignal(number) for number in numbers]
    try:

        async def scenario(_, server):
            assert not {*given} & {signal.getsignal(number) for number in numbers}
            assert server.config.backlog == connections.MOST_CONNECTIONS

        served(scenario)
        assert [signal.getsignal(number) for number in numbers] == given
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def test_a_body_that_ends_after_its_response_leaves_the_connection_open(served, monkeypatch):
    monkeypatch.setattr(connections, "HEAD_S", 0.4)

    async def scenario(connect, _):
        early, stuck = await connect(), await connect()
        for client in (early, stuck):
            head = POST.replace(b"/", b"/early", 1)
            assert (await client.asked(head, b"Content-Length: 10\r\n\r\n"))[0] == 200
            await client.send(b"12345")
        await asyncio.sleep(0.1)
        await early.send(b"67890")
        await asyncio.sleep(0.6)
        assert (await early.asked(GET, b"\r\n"))[0] == 200
        assert await stuck.ended() == b""

    served(scenario)


def test_more_connections_than_allowed_get_503_as_json_and_many_more_are_closed(served, monkeypatch):
    monkeypatch.setattr(connections, "MOST_CONNECTIONS", 2)
    monkeypatch.setattr(connections, "_SURPLUS", 1)

    async def scenario(connect, _):
        first, second, third, fourth = [await connect() for _ in range(4)]
        assert await fourth.ended() == b""
        status, headers, body = await third.asked(GET, b"\r\n")
        assert (status, headers["retry-after"], headers["connection"]) == (503, "1", "close")
        assert [*json.loads(body)] == ["error"]
        assert (await first.asked(GET, b"\r\n"))[0] == (await second.asked(GET, b"\r\n"))[0] == 200

    assert served(scenario)[0] == {"connections": 1}


def test_a_response_that_nobody_reads_is_dropped_and_a_slow_reader_gets_all(served, monkeypatch):
    monkeypatch.setattr(connections, "STALLED_S", 0.8)
    request = GET.replace(b"/", b"/large", 1) + b"\r\n"

    async def scenario(connect, server):
        unread, slow = await connect(), await connect()
        await unread.send(request)
        await slow.send(request)
        received = 0
        while received < LARGE:
            part = await slow.reader.read(400_000)
            assert part
            received += len(part)
            await asyncio.sleep(0.03 if received < LARGE // 2 or received > LARGE // 2 + 400_000 else 0.4)
        assert len(server.server_state.connections) == 1
        assert len(await unread.ended()) < LARGE

    assert served(scenario)[0] == {"stalled": 1}


@pytest.mark.parametrize("drain", [0, 0.4, 1.9])
def test_a_request_that_runs_at_the_end_of_the_drain_gets_503(served, capfd, drain):
    responses = []

    async def scenario(connect, _):
        client = await connect()
        await client.send(POST, b"Content-Length: 10\r\n\r\n1")
        await asyncio.sleep(0.1)
        responses.append(asyncio.create_task(client.ended(10)))

    causes, seconds = served(scenario, drain)
    assert causes == {"ending": 1}
    assert drain <= seconds < drain + 1.5
    received = responses[0].result()
    assert received.startswith(b"HTTP/1.1 503"), received
    assert b"connection: close" in received.lower()
    err = capfd.readouterr().err
    assert "Traceback" not in err
    assert err.count("\n") == 2, err  # the greeting, and one about the end


@pytest.mark.parametrize(
    ("parts", "statuses"),
    [
        ([LATE + b"garbage\r\n\r\n"], [200, 400]),
        ([LATE, b"garbage\r\n\r\n", b"more"], [200, 400]),
        ([LATE + LATE + b"\x00\x01" * 50], [200, 200, 400]),
        ([LATE, b"GET / HTTP/1.1\r\nX: " + b"x" * 70_000], [200, 431]),
        ([LATE, GET + b"X: " + b"x" * 70_000 + b"\r\n\r\n"], [200, 431]),
        ([LATE + POST + BODY + b"no size\r\n"], [200, 400]),
        ([LATE + LATE + POST + BODY + b"no size\r\n"], [200, 200, 400]),
        ([POST + BODY + b"no size\r\n"], [400]),
        ([POST + BODY + b"3\r\nabc\r\n", b"no size\r\n"], [400]),
        ([GET + b"\r\ngarbage\r\n\r\n"], [200, 400]),
    ],
)
def test_refused_bytes_after_a_request_do_not_take_the_place_of_its_response(served, capfd, parts, statuses):
    async def scenario(connect, _):
        client = await connect()
        await client.send_apart(parts)
        for status in statuses:
            given, headers, body = await asyncio.wait_for(client.response(), 5)
            assert given == status
            assert {200: b"0", 400: b"this is no HTTP request", 431: b"is larger than 64 KiB"}[status] in body
        assert headers["connection"] == "close"
        assert await client.ended() == b""

    refused = served(scenario)[0]
    assert refused.get("http", 0) + refused.get("head", 0) == 1
    if statuses[0] == 200:  # the application does not get a request whose body was refused before
        assert capfd.readouterr().err == "serving\n"


@pytest.mark.parametrize(
    ("parts", "statuses"),
    [
        ([GET + b"\r\n"], [200]),
        ([LATE], [200]),
        ([LATE + GET + b"\r\n" + LATE], [200, 200, 200]),
        ([POST + b"Content-Length: 3\r\n\r\n", b"abc"], [200]),
        ([LATE + b"garbage\r\n\r\n"], [200, 400]),
        ([LATE, GET], [200]),
        ([LATE + POST + b"Content-Length: 3\r\n\r\nab"], [200, 400]),
        ([GET + b"\r\n", b"", GET], [200]),
        ([], []),
        ([GET], []),
        ([POST + b"Content-Length: 3\r\n\r\nab"], [400]),
    ],
)
def test_a_client_that_sends_no_more_gets_the_responses_to_its_complete_requests(served, parts, statuses):
    async def scenario(connect, server):
        client = await connect()
        await client.send_apart(parts)
        client.writer.write_eof()
        assert [(await asyncio.wait_for(client.response(), 5))[0] for _ in statuses] == statuses
        assert await client.ended() == b""
        await asyncio.sleep(0.05)
        assert not server.server_state.connections

    served(scenario)


def test_a_client_that_sends_no_more_and_does_not_read_holds_no_connection(served, monkeypatch):
    monkeypatch.setattr(connections, "STALLED_S", 0.5)

    async def scenario(connect, server):
        client = await connect()
        await client.send(GET.replace(b"/", b"/large", 1) + b"\r\n")
        client.writer.write_eof()
        await asyncio.sleep(1.5)
        assert not server.server_state.connections

    assert served(scenario)[0] == {"stalled": 1}


def test_a_client_that_takes_few_bytes_at_a_time_is_not_stalled(served, monkeypatch):
    """The system takes more of a response only after the client has taken megabytes of it."""
    monkeypatch.setattr(connections, "STALLED_S", 0.5)

    async def scenario(_, server):
        with socket.socket() as narrow:
            narrow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            narrow.connect(server.servers[0].sockets[0].getsockname())
            narrow.sendall(GET.replace(b"/", b"/large", 1) + b"\r\n")
            for _ in range(40):
                await asyncio.sleep(0.05)
                with contextlib.suppress(BlockingIOError):
                    narrow.recv(4096, socket.MSG_DONTWAIT)
            assert len(server.server_state.connections) == 1

    assert served(scenario)[0] == {}


def test_a_late_head_behind_a_response_that_nobody_reads_is_counted_once(served, monkeypatch):
    monkeypatch.setattr(connections, "HEAD_S", 0.3)
    monkeypatch.setattr(connections, "STALLED_S", 1.0)

    async def scenario(connect, server):
        client = await connect()
        await client.send(GET.replace(b"/", b"/large", 1) + b"\r\n" + GET)
        await asyncio.sleep(2.0)
        assert not server.server_state.connections

    assert served(scenario)[0] == {"head": 1, "stalled": 1}
