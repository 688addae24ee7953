import numpy as np
import pytest

from jobs.workflows.index_changes.advice import Shape, imbalance
from model.index.shards import build_shard, open_shard, train


@pytest.mark.parametrize(
    ("shape", "reasons"),
    [
        (Shape(1, 0.0, 1.0, 1.0), []),
        (Shape(8, 0.19, 6.0, 2.0), []),
        (Shape(1, 0.2, 1.0, 1.0), ["20 % of the rows are deleted"]),
        (Shape(9, 0.0, 1.0, 1.0), ["it has 9 segments"]),
        (Shape(2, 0.0, 1.0, 1.0, 0.97, 0.98), []),
        (
            Shape(2, 0.0, 1.0, 1.0, 0.9699, 0.98),
            ["its recall@10 is 0.9699, 0.9800 when it was built, so its centroids should be trained again"],
        ),
        (
            Shape(2, 0.0, 6.1, 2.0),
            ["its longest list is 6.1 times the mean, 2.0 when it was built, so its centroids should be trained again"],
        ),
    ],
)
def test_compaction_is_advised_from_the_documented_bounds_on(shape, reasons):
    assert shape.reasons == reasons


def test_the_imbalance_is_that_of_the_lists_of_all_shards_together():
    near = np.random.default_rng(0).normal(size=(100, 4)).astype(np.float32)
    far = near + np.float32(99)
    trained = train("IVF2,Flat", np.concatenate([near, far]))
    one, two = (open_shard(build_shard(trained, vectors)) for vectors in (near, np.concatenate([near[:20], far[:30]])))
    assert imbalance([one]) == 2  # all 100 in one of two lists
    assert imbalance([one, two]) == pytest.approx(120 / 75)
    assert imbalance([open_shard(build_shard(train("Flat", near[:0]), near))]) == 1
