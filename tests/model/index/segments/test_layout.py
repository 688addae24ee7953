import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from model.index.segments.layout import deleted_rows, folder_of, in_order, place_of, segment_of, tombstones
from schemas.artifacts.manifest import File

RUNS = ("20200101T000000Z-ffffff", "20200101T000000Z-000000")


def file(run, folder, name):
    path = "/".join(filter(None, [RUNS[run], folder, "shards", name]))
    return File(path=path, table="shards", rows=1, bytes=1, sha256="0" * 64)


def test_the_first_segment_comes_first_whatever_the_names_of_runs():
    first = [file(0, folder_of(0), f"0000{number}-of-00002.faiss") for number in (0, 1)]
    second = file(1, folder_of(1), "00000-of-00001.faiss")
    tenth, ten_thousandth = (file(1, folder_of(number), "00000-of-00001.faiss") for number in (10, 10_000))
    assert in_order([ten_thousandth, second, first[1], tenth, first[0]]) == [*first, second, tenth, ten_thousandth]
    assert [segment_of(one.path) for one in (*first, second, ten_thousandth)] == [0, 0, 1, 10_000]


def test_a_shard_and_its_id_table_have_one_place():
    path = f"{RUNS[0]}/segments/0003/shards/00001-of-00004.faiss"
    assert place_of(path) == place_of(f"s3://bucket/index/{RUNS[1]}/segments/0003/ids/00001-of-00004.arrow")
    assert place_of(path) != place_of(path.replace("0003", "0004"))


@given(st.lists(st.lists(st.booleans(), min_size=1, max_size=40), min_size=1, max_size=5))
def test_deleted_rows_are_read_as_they_were_written(masks):
    content = tombstones([np.array(mask) for mask in masks])
    read = deleted_rows(content, [len(mask) for mask in masks], deleted=sum(map(sum, masks)))
    assert [mask.tolist() for mask in read] == masks


@pytest.mark.parametrize(
    ("content", "counts", "deleted", "fault"),
    [
        (b"\x01", [9], 1, "holds 1 bytes, 2 are expected"),
        (b"\x01\x00\x00", [9], 1, "holds 3 bytes, 2 are expected"),
        (b"\x01\x02", [9], 2, "has bits beyond the rows"),
        (b"\x03", [8], 1, "holds 2 deleted rows, the manifest lists 1"),
        (b"", [8], 0, "holds 0 bytes, 1 are expected"),
    ],
)
def test_tombstones_that_do_not_fit_are_refused(content, counts, deleted, fault):
    with pytest.raises(ValueError, match=fault):
        deleted_rows(content, counts, deleted=deleted)
