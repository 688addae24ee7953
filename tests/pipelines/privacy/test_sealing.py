import pytest

from pipelines.privacy.sealing import seal, unseal
from pipelines.privacy.users import UserKey
from schemas.errors import QprError

KEY, OTHER = UserKey(b"the key of the nights"), UserKey(b"the key of somebody else")


def test_content_comes_back_and_equal_content_gives_equal_bytes():
    sealed = seal(b"how do i pay", KEY)
    assert b"pay" not in sealed
    assert sealed == seal(b"how do i pay", KEY)
    assert sealed != seal(b"how do i pay", OTHER)
    assert unseal(sealed, KEY, name="f") == b"how do i pay"


@pytest.mark.parametrize("key", [OTHER, None])
def test_another_key_is_one_line(key):
    with pytest.raises(QprError, match=r"^f: .* key"):
        unseal(seal(b"how do i pay", KEY), key, name="f")


def test_a_changed_byte_is_found():
    sealed = bytearray(seal(b"how do i pay", KEY))
    sealed[-1] ^= 1
    with pytest.raises(QprError, match="cannot be opened"):
        unseal(bytes(sealed), KEY, name="f")
