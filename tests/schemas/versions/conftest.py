import functools
import http.server
import threading

import pytest


@pytest.fixture
def over_http(tmp_path):
    """Return the URL of the test's folder on a server that only reads."""
    pytest.importorskip("aiohttp", reason="fsspec reads HTTP with aiohttp")
    handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=tmp_path)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))  # seconds that its end takes
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()
