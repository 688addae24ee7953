import pytest

from model.encoders.addresses import absolute_address, checked_address
from schemas.errors import QprError


@pytest.mark.parametrize(
    ("address", "of"),
    [
        ("models/quora", "index"),
        ("/data/models/quora", "s3://bucket/index"),
        ("st:models/minilm", "index"),
        ("st:/data/minilm", "gs://bucket/index"),
        ("s3://bucket/models/quora", "s3://bucket/index"),
    ],
)
def test_a_local_folder_and_one_on_the_same_store_may_be_followed(address, of):
    assert checked_address(address, of=of) == address


@pytest.mark.parametrize(
    "address",
    [
        "http://169.254.169.254/model",
        "https://elsewhere/model",
        "s3://other/model",
        "file:///etc",
        "local:/etc",
        "data:,x",
        "simplecache::http://elsewhere/model",
        "models::memory://x",
        "s3://bucket/x::memory://y",
        "st:http://elsewhere/model",
    ],
)
def test_another_store_is_refused(address):
    with pytest.raises(QprError, match=r"^s3://bucket/index: its settings lead to another store, '"):
        checked_address(address, of="s3://bucket/index")


def test_an_address_is_stored_so_that_it_is_found_from_any_working_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert absolute_address("models/quora") == f"{tmp_path}/models/quora"
    assert absolute_address("st:../minilm") == f"st:{tmp_path.parent}/minilm"
    for whole in ("/data/minilm", "st:/data/minilm", "s3://bucket/models/quora"):
        assert absolute_address(whole) == whole


@pytest.mark.parametrize("address", ["", " ", "st:", "a\nb", "\x1b[2J", "a\0"])
def test_what_is_no_address_is_refused(address):
    with pytest.raises(QprError, match=r"^index: its settings hold '.* as an address"):
        checked_address(address, of="index")
