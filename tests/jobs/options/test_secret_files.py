import pytest

from jobs.options.secret_files import VARIABLE, read_user_key
from pipelines.privacy.users import UserKey
from schemas.errors import QprError, UsageError

SECRET = "a key of sixteen"


def test_a_file_comes_before_the_environment_and_none_is_allowed(tmp_path, monkeypatch):
    monkeypatch.delenv(VARIABLE, raising=False)
    assert read_user_key(None) is None
    monkeypatch.setenv(VARIABLE, SECRET)
    assert read_user_key(None) == UserKey(SECRET.encode())
    (tmp_path / "key").write_text(f"{SECRET} two\n")
    (tmp_path / "key").chmod(0o600)
    assert read_user_key(str(tmp_path / "key")) == UserKey(f"{SECRET} two".encode())


def test_a_short_key_is_refused_without_showing_it(tmp_path, monkeypatch):
    (tmp_path / "key").write_text("hunter2\n")
    (tmp_path / "key").chmod(0o600)
    monkeypatch.setenv(VARIABLE, "hunter2")
    for file in (None, str(tmp_path / "key")):
        with pytest.raises(UsageError, match=r"has 7 bytes; a key has at least 16\. Make one with") as refused:
            read_user_key(file)
        assert "hunter2" not in str(refused.value)
    with pytest.raises(QprError, match="no such file"):
        read_user_key(str(tmp_path / "none"))


@pytest.mark.parametrize(("mode", "is_private"), [(0o600, True), (0o440, True), (0o644, False), (0o602, False)])
@pytest.mark.parametrize("scheme", ["", "file://"])
def test_a_key_that_everybody_can_read_is_refused(tmp_path, mode, is_private, scheme):
    path = tmp_path / "user.key"
    path.write_text(SECRET)
    path.chmod(mode)
    if is_private:
        assert read_user_key(f"{scheme}{path}") == UserKey(SECRET.encode())
    else:
        with pytest.raises(QprError, match=r"everybody can read or change this user key\. Run: chmod 600"):
            read_user_key(f"{scheme}{path}")
