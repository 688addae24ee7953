import pytest

from jobs.nightly.reporting import frozen_test
from schemas.artifacts.manifest import read_manifest
from schemas.versions.version import Artefact
from tests.support.small_versions import make_version

CLUSTERS = [["pay it", "pay"], ["cancel it", "cancel"]]


@pytest.mark.parametrize("clusters", [0, 1, 2])
def test_a_test_set_of_fewer_than_two_clusters_is_replaced_by_that_of_the_night(make_training_data, tmp_path, clusters):
    warehouse, night = str(tmp_path), Artefact(path="datasets/night", digest="0" * 64)
    split = [("test", texts) for texts in CLUSTERS[:clusters]] + [("train", ["find it", "find"])]
    url = make_training_data(str(tmp_path / "datasets" / "first"), split)
    first = Artefact(path="datasets/first", digest=read_manifest(url, "dataset").digest)
    before = make_version(warehouse, "one", test=first)
    assert frozen_test(warehouse, night, before) == (first if clusters == 2 else night)
    assert frozen_test(warehouse, night, before, is_new=True) == frozen_test(warehouse, night, None) == night
