"""Reading of whole S3 objects by one request each.

s3fs file system, path -> read_object -> bytes

For a whole object s3fs asks for its size first, to read parts of a large one side by side. For most files of an
artefact that request takes as long as the object itself.
"""

from __future__ import annotations

from typing import Any, Final

_MOST_AT_ONCE: Final = 2**23
"""Bytes of the largest object that is read by one request."""


def read_object(file_system: Any, path: str) -> bytes:
    """Return an object.

    Args:
        file_system: s3fs's.
        path: bucket and key.

    Raises:
        OSError: as of s3fs's ``cat_file``.
    """
    from fsspec.asyn import sync

    bucket, key, version = file_system.split_path(path)
    terms = {"VersionId": version} if version else {}
    answer = file_system.call_s3("get_object", Bucket=bucket, Key=key, **terms)
    content = sync(file_system.loop, _small_body, answer)
    return bytes(file_system.cat_file(path)) if content is None else content


async def _small_body(answer: dict[str, Any]) -> bytes | None:
    """Return the body of an answer; None if it is large, or was cut off: s3fs repeats such a request."""
    try:
        return bytes(await answer["Body"].read()) if answer["ContentLength"] <= _MOST_AT_ONCE else None
    except Exception:  # noqa: BLE001, of asyncio, aiohttp or botocore
        return None
    finally:
        answer["Body"].close()
