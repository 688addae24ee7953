import pickle

import pyarrow as pa
import pytest

from pipelines.privacy.users import UserKey, as_text, hash_questions, hash_users

KEY, OTHER = UserKey(b"k" * 16), UserKey(b"l" * 100)
IDS = pa.chunked_array([["ann", None, "bob"], ["ann", " ", ""]], pa.string())


@pytest.mark.parametrize("key", [None, KEY, OTHER], ids=["none", "short", "long"])
def test_equal_ids_have_equal_hashes_and_missing_ones_none(key):
    hashes = hash_users(IDS, key).to_pylist()
    assert hashes[0] == hashes[3] != hashes[2]
    assert [value is None for value in hashes] == [False, True, False, False, True, True]
    assert hash_users(pa.array([], pa.string()), key).to_pylist() == []


def test_the_hash_depends_on_the_key_and_the_purpose():
    ids = pa.array(["ann"])
    values = [hash_users(ids, key)[0].as_py() for key in (None, KEY, OTHER, UserKey(b"k" * 17))]
    assert len({*values, hash_questions(ids, KEY)[0].as_py()}) == 5


def test_a_hash_is_the_same_in_every_release():
    assert as_text(hash_users(pa.array(["ann", None]), KEY)).to_pylist() == ["1e1295f7bdf80c5f", None]


def test_a_key_is_not_shown_and_travels_to_workers():
    assert "kkk" not in repr(KEY) + str(KEY)
    assert pickle.loads(pickle.dumps(KEY)) == KEY
    with pytest.raises(ValueError, match=r"^has 15 bytes; a key has at least 16$"):
        UserKey(b"s" * 15)
