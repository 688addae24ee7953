"""Token files, and addresses that need one."""

import contextlib

import pytest

from jobs.web.protection.tokens import checked_token, is_local
from schemas.errors import QprError, UsageError


@pytest.mark.parametrize(("host", "local"), [
    ("127.0.0.1", True), ("127.1.2.3", True), ("::1", True), ("localhost", True),
    ("0.0.0.0", False), ("::", False), ("192.168.1.2", False), ("localhost.example", False), ("", False),
])  # fmt: skip
def test_only_loopback_addresses_need_no_token(host, local):
    assert is_local(host) is local
    if local:
        assert checked_token(host, None) is None
    else:
        with pytest.raises(UsageError, match="--token-file"):
            checked_token(host, None)


def test_the_token_is_the_text_of_the_file(tmp_path):
    path = tmp_path / "token"
    path.write_text("a-token-of-24-characters\n")
    path.chmod(0o600)
    assert checked_token("0.0.0.0", str(path)) == "a-token-of-24-characters"


@pytest.mark.parametrize(("characters", "is_enough"), [(15, False), (16, True)])
def test_a_token_has_at_least_16_characters(tmp_path, characters, is_enough):
    path = tmp_path / "token"
    path.write_text("x" * characters)
    path.chmod(0o600)
    with contextlib.nullcontext() if is_enough else pytest.raises(QprError, match="at least 16 characters"):
        assert checked_token("0.0.0.0", str(path)) == "x" * characters


@pytest.mark.parametrize(("content", "mode", "message"), [
    (b"a-token-of-24-characters", 0o644, "everybody can read"),
    (b"a-token-of-24-characters", 0o602, "everybody can read or change"),
    (b"", 0o600, "is empty"), (b"\n \n", 0o600, "is empty"), (b"short", 0o600, "at least 16"),
    (b"two words of a long token", 0o600, "one word"), ("ä-token-of-24-characters".encode(), 0o600, "ASCII"),
])  # fmt: skip
def test_a_bad_token_file_is_refused(tmp_path, content, mode, message):
    path = tmp_path / "token"
    path.write_bytes(content)
    path.chmod(mode)
    with pytest.raises(QprError, match=message):
        checked_token("127.0.0.1", str(path))


def test_a_missing_token_file_is_refused(tmp_path):
    with pytest.raises(QprError, match="No such file"):
        checked_token("0.0.0.0", str(tmp_path / "none"))
    with pytest.raises(QprError, match="directory"):
        checked_token("0.0.0.0", str(tmp_path))
