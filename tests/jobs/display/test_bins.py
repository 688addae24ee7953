import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobs.display.bins import score_bins, size_bins
from pipelines.summary.histogram import Distribution


@pytest.mark.parametrize(
    ("least", "most", "labels"),
    [
        (2, 2, ["2"]),
        (2, 5, ["2", "3", "4", "5"]),
        (3, 6, ["3", "4", "5", "6 to 10"]),
        (7, 8, ["6 to 10"]),
        (40, 1_200, ["21 to 50", "51 to 100", "101 to 200", "201 to 500", "501 to 1,000", "1,001 to 2,000"]),
    ],
)
def test_sizes_are_told_one_by_one_and_then_by_more_and_more(least, most, labels):
    assert size_bins(least, most).labels == labels


def test_ticks_are_short():
    assert size_bins(1_000_000_000, 2_000_000_000).ticks == ["1G", "2G"]
    assert size_bins(400, 100_000).ticks == ["500", "1k", "2k", "5k", "10k", "20k", "50k", "100k"]


@given(st.lists(st.integers(1, 10**12), min_size=1, max_size=20))
def test_every_size_is_in_the_bin_whose_label_names_it(sizes):
    bins = size_bins(min(sizes), max(sizes))
    spans = [[int(end.replace(",", "")) for end in label.split(" to ")] for label in bins.labels]
    expected = [sum(span[0] <= size <= span[-1] for size in sizes) for span in spans]
    assert Distribution.of(np.array(sizes)).bins(bins.edges) == expected
    assert sum(expected) == len(sizes)
    assert expected[0] > 0 < expected[-1]
    assert len(bins.ticks) == len(bins.labels) <= 45


def test_scores_have_twenty_bins_and_a_tick_where_a_bin_begins():
    bins = score_bins()
    assert (bins.edges[0], bins.edges[6], bins.edges[-1], len(bins.labels)) == (0, 0.3, 1, 20)
    assert bins.labels[6] == "0.30 to 0.35"
    assert bins.ticks[6] == "0.3"
    assert [tick for tick in bins.ticks if tick] == ["0.1", "0.3", "0.5", "0.7", "0.9"]
