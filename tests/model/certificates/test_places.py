import pytest

from model.certificates.places import places, places_url, remember
from schemas.artifacts.conditional_writes import replace
from schemas.errors import QprError


def test_places_of_certificates_stay_beside_the_index_each_once(tmp_path, monkeypatch):
    index = str(tmp_path / "index")
    assert places(index) == ()
    monkeypatch.chdir(tmp_path)
    for certificate in ("one", str(tmp_path / "one"), "memory://two", "one"):
        remember(index, certificate)
    assert places(f"{index}/") == (str(tmp_path / "one"), "memory://two")
    assert [path.name for path in tmp_path.iterdir()] == ["index.certificates.json"]


def test_a_place_that_another_process_adds_in_the_same_moment_stays(tmp_path, monkeypatch):
    index, others = str(tmp_path / "index"), iter(["memory://b"])
    remember(index, "memory://a")

    def replace_second(*arguments, **options):
        for other in others:
            remember(index, other)
        replace(*arguments, **options)

    monkeypatch.setattr("schemas.artifacts.conditional_writes.replace", replace_second)
    remember(index, "memory://c")
    assert places(index) == ("memory://a", "memory://b", "memory://c")


def test_a_damaged_file_is_refused(tmp_path):
    index = str(tmp_path / "index")
    (tmp_path / "index.certificates.json").write_text('{"certificates": 1}')
    with pytest.raises(QprError, match=f"{places_url(index)}: damaged: .*Restore it from a copy"):
        places(index)
