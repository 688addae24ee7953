"""Causes of the errors that file systems raise, local and remote, with an advice for each.

error -> io_fault -> "no such file. Check the path", "cannot connect to HOST:PORT (reason). Check …", or None
URL -> url_fault -> "a path is empty. Name a file or folder", or None
"""

from __future__ import annotations

import errno
import os
import re
import socket
import sys
import urllib.parse
from collections.abc import Iterator

_NOT_REACHED = (ConnectionError, TimeoutError, socket.gaierror)
_ADVICE = "Check the address, that the server runs, and the network"

_FREE_SPACE = "Free some space, or name a folder with more"
_MOUNT = "Run this again; if that fails too, mount the folder again"
_ADVICE_OF_SYSTEM = {
    errno.ENOSPC: _FREE_SPACE,
    errno.EDQUOT: _FREE_SPACE,
    errno.EFBIG: "Raise the limit of file sizes, such as by `ulimit -f unlimited`",
    errno.EROFS: "Name a folder that can be written",
    errno.ESTALE: _MOUNT,
    errno.ENOTCONN: _MOUNT,
    errno.EIO: "Check the disk or the store, then run this again",
    errno.EBUSY: "It is in use or was replaced. Run this again",  # s3fs: replaced since its folder was listed
    errno.EMFILE: "Raise the limit of open files, such as by `ulimit -n 4096`",
}

_CUT_OFF = frozenset({"ClientPayloadError", "IncompleteReadError", "ResponseStreamingError"})
"""Errors of aiohttp and botocore for a body that is shorter than its header states."""

_TOO_MANY_REQUESTS = 429

_NO_BUCKET = "there is no such bucket. Create it, or correct the URL"

_NO_TEMPORARY = "No usable temporary directory"
"""Beginning of Python's message where none of the usual folders of temporary files can be written."""

_ARN = "arn:aws[a-z-]*:s3[a-z-]*:"
"""Beginning of the name that Amazon gives a bucket or an access point; a person or a key can be called ``arn``, too."""

_WITH_PASSWORD = re.compile(rf"(^|::)((?!git)[A-Za-z0-9+.-]+)://((?!{_ARN})[^/:]*):[^/]+@")
"""A URL with user and password; those of Git repositories have ``organization:repository@`` there."""

_WITH_SECRET = re.compile(rf"(^|::)(s3a?)://((?!{_ARN})[^/:]*):[^@]+@", re.IGNORECASE)
"""A URL of S3 with keys: half of all secret keys have a slash, and no bucket has a colon but in an ARN."""

_HEADER = '{"headers": {"Authorization": "Basic …"}}'
_KEYS = '{"key": "…", "secret": "…"}'
_SETTING_OF = {"http": _HEADER, "https": _HEADER, "s3": _KEYS, "s3a": _KEYS}
"""Values of the environment variables of fsspec that take the place of a password in a URL."""

_REMOTE = frozenset({"aiohttp", "azure", "botocore", "fsspec", "gcsfs", "google", "requests"})
"""The packages whose errors remote file systems raise: no credentials, no such host, no such bucket."""


def io_fault(error: Exception) -> str | None:
    """Return the cause of a failed read or write and an advice; None for errors that are no I/O errors."""
    return connection_fault(error) or _answer_of_store(error) or _path_fault(error)


def is_absence(error: BaseException | None) -> bool:
    """Return whether an error means that a store, which answered, has a bucket but no such file or folder in it."""
    if not isinstance(error, FileNotFoundError | NotADirectoryError):
        return False
    return not connection_fault(error) and _answer_of_store(error) != _NO_BUCKET


def connection_fault(error: BaseException) -> str | None:
    """Return the server that did not answer and an advice; None if an error has another cause.

    The libraries wrap the error of the socket in their own, and fsspec's HTTP file system wraps it in the
    `FileNotFoundError` of a missing file. A server's refusal to read, such as status 503, is wrapped too.
    """
    causes = list(_causes(error))
    for cause in causes:
        if _is_unreached(cause):
            return f"cannot connect to {_address(causes)} ({_reason(causes)}). {_ADVICE}"
        if type(cause).__name__ in _CUT_OFF:
            return "the server's answer was cut off. Check the network, then run this again"
        status = getattr(cause, "status", None) if type(cause).__name__ == "ClientResponseError" else None  # aiohttp's
        if isinstance(status, int) and status not in (404, 410):
            answer = f"{status} {getattr(cause, 'message', '')}".rstrip()
            return f"the server answered {answer}. Check the URL and your access to it"
    return None


def _causes(error: BaseException) -> Iterator[BaseException]:
    cause: BaseException | None = error
    while cause is not None:
        yield cause
        cause = cause.__cause__ or cause.__context__


def _is_unreached(error: BaseException) -> bool:
    """Return whether an error is a socket's, or that of a library which hides the socket's."""
    library = type(error).__module__.partition(".")[0]
    hidden = library in {"aiohttp", "botocore", "requests"} and "Connect" in type(error).__name__
    return hidden or (isinstance(error, _NOT_REACHED) and not isinstance(error, BrokenPipeError))


def _answer_of_store(error: Exception) -> str | None:
    """Return the words of an S3 store that refused a request, and an advice; None for a missing object."""
    response = getattr(error.__cause__, "response", None) or {}
    answer = response.get("Error", {})
    code, message = answer.get("Code"), answer.get("Message")
    is_head = getattr(error.__cause__, "operation_name", None) == "HeadBucket"  # such an answer has no body with a code
    if code == "NoSuchBucket" or (is_head and code == "404"):
        return _NO_BUCKET
    if not message or isinstance(error, FileNotFoundError | FileExistsError):
        return None
    status = response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)
    is_busy = status == _TOO_MANY_REQUESTS or status >= 500
    advice = "Run this again later" if is_busy else "Check the URL, the credentials and what they permit"
    return f"the store answered {code}: {message.rstrip('.')}. {advice}"


def _address(causes: list[BaseException]) -> str:
    """Return the server as the library names it: an endpoint that is configured is not part of the URL."""
    for cause in causes:
        host, port = getattr(cause, "host", None), getattr(cause, "port", None)
        if host and port:
            return f"{host}:{port}"
    for cause in causes:
        if endpoint := getattr(cause, "kwargs", {}).get("endpoint_url"):
            return str(endpoint)
    return "the server"


def _reason(causes: list[BaseException]) -> str:
    """Return the message of the innermost error: the socket's, if the library keeps it."""
    error = [cause for cause in causes if _is_unreached(cause)][-1]
    if isinstance(error, ConnectionRefusedError):
        return "connection refused"
    return getattr(error, "strerror", None) or str(error) or type(error).__name__


def system_fault(error: OSError) -> str:
    """Return the message of the operating system, with an advice where there is one."""
    message = error.strerror or str(error)
    if message.startswith(_NO_TEMPORARY):
        return "no folder of temporary files can be written. Name one in the environment variable TMPDIR"
    advice = _ADVICE_OF_SYSTEM.get(error.errno or 0)
    return f"{message.rstrip('.')}. {advice}" if advice else message


def url_fault(url: str) -> str | None:
    """Return the fault of a path or URL that cannot be used, and an advice; None for others.

    It is empty, is not UTF-8, which a manifest cannot contain, is a web address that cannot be parsed, or has a
    password, which manifests, reports and lists of processes would show. The fault does not show the password.
    """
    if not url.strip():
        return "a path is empty. Name a file or folder"
    try:
        url.encode()
    except UnicodeEncodeError:
        return f"{url!a}: {_undecoded_fault(url)}"
    return _password_fault(url) or _address_fault(url)


def _undecoded_fault(path: str) -> str:
    """Return the fault of a path with bytes that Python could not decode, and an advice.

    Args:
        path: with a surrogate in place of each of these bytes.
    """
    try:
        os.fsencode(path).decode()
    except UnicodeError:
        return "the path is not UTF-8. Rename the file or folder"
    encoding = sys.getfilesystemencoding()
    return f"the path is UTF-8, which this locale, with {encoding}, does not have. Set LC_ALL=C.UTF-8 or PYTHONUTF8=1"


def _path_fault(error: Exception) -> str | None:
    """Return the fault of a path and an advice; None for other errors."""
    match error:
        case FileNotFoundError() if not (error.strerror or "").startswith(_NO_TEMPORARY):
            return "no such file. Check the path"
        case IsADirectoryError():
            return "is a folder, not a file"
        case PermissionError():
            return "permission denied"
        case FileExistsError() | NotADirectoryError():
            return "a part of this path is a file, not a folder"
        case OSError():
            return system_fault(error)
        case _ if type(error).__module__.partition(".")[0] in _REMOTE:
            message = " ".join(str(error).split())  # some of botocore have several lines
            return f"{type(error).__name__}: {message}. Check the URL and your access to it"
        case _:
            return None


def _password_fault(url: str) -> str | None:
    if (match := _WITH_PASSWORD.search(url) or _WITH_SECRET.search(url)) is None:
        return None
    protocol = match[2]
    place = _WITH_SECRET.sub(_without_password, _WITH_PASSWORD.sub(_without_password, url))
    setting = _SETTING_OF.get(protocol.lower(), '{"password": "…"}')
    advice = f"Leave it out, and set the environment variable FSSPEC_{protocol.upper()}='{setting}'"
    return f"{place}: a URL with a password would show it in manifests and reports. {advice}"


def _address_fault(url: str) -> str | None:
    """Return the fault of a web address among the parts of a URL that cannot be parsed, and an advice."""
    for part in url.split("::"):
        if part.lower().startswith(("http://", "https://")):
            try:
                _ = urllib.parse.urlsplit(part).port
            except ValueError as error:
                return f"{url}: is no valid address ({error}). Check its host, port and brackets"
    return None


def _without_password(match: re.Match[str]) -> str:
    start, protocol, user = match.groups()
    return f"{start}{protocol}://{'' if _SETTING_OF.get(protocol.lower()) is _KEYS else f'{user}@'}"
