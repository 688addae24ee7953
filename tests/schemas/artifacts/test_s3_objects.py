import pytest

from schemas.artifacts import s3_objects, storage
from schemas.errors import QprError

client = pytest.importorskip("aiobotocore.client", reason="s3fs is not installed")
response = pytest.importorskip("aiobotocore.response", reason="s3fs is not installed")


@pytest.fixture
def requests(monkeypatch):
    """Return a list that gets the operation of each request to S3."""
    asked = []
    send = client.AioBaseClient._make_api_call

    async def listed(self, operation, given):
        asked.append(operation)
        return await send(self, operation, given)

    monkeypatch.setattr(client.AioBaseClient, "_make_api_call", listed)
    return asked


def test_an_object_is_read_by_one_request_and_a_large_one_in_parts(s3, requests, monkeypatch):
    for content in (b"", b"x", b"some bytes"):
        storage.write_bytes(f"{s3}/x", content)
        requests.clear()
        assert storage.read_bytes(f"{s3}/x") == content
        assert requests == ["GetObject"]
    monkeypatch.setattr(s3_objects, "_MOST_AT_ONCE", 9)
    file_system, _ = storage.locate(s3)
    monkeypatch.setattr(file_system, "default_block_size", 4)
    requests.clear()
    assert storage.read_bytes(f"{s3}/x") == b"some bytes"
    assert requests == ["GetObject", "HeadObject", *["GetObject"] * 3]


@pytest.mark.parametrize("times", [1, 100])
def test_an_answer_that_is_cut_off_is_asked_for_again(s3, requests, monkeypatch, times):
    storage.write_bytes(f"{s3}/x", b"some bytes")
    monkeypatch.setattr(storage.locate(s3)[0], "retries", 2)
    read, failed = response.StreamingBody.read, []

    async def cut_off(self, *given, **named):
        if len(failed) < times:
            failed.append(1)
            raise TimeoutError
        return await read(self, *given, **named)

    monkeypatch.setattr(response.StreamingBody, "read", cut_off)
    requests.clear()
    if times == 1:
        assert storage.read_bytes(f"{s3}/x") == b"some bytes"
    else:
        with pytest.raises(QprError, match=r"bucket/x: cannot connect to"):
            storage.read_bytes(f"{s3}/x")
    assert requests[:3] == ["GetObject", "HeadObject", "GetObject"]
