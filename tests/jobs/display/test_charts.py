import xml.etree.ElementTree as ET

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobs.display.charts import HEIGHT, WIDTH, histogram, size_spans
from pipelines.summary.histogram import Distribution


def sizes(*values):
    return histogram("size", Distribution.of(np.array(values)))


def columns(plot):
    return next(group for group in ET.fromstring(plot.drawing).iter("g") if group.get("class") == "series columns")


def texts(plot):
    return [text.text for text in ET.fromstring(plot.drawing).iter("text")]


@pytest.mark.parametrize(
    ("smallest", "largest", "spans"),
    [
        (2, 2, [(2, 2)]),
        (2, 5, [(2, 2), (3, 3), (4, 4), (5, 5)]),
        (3, 6, [(3, 3), (4, 4), (5, 5), (6, 10)]),
        (7, 8, [(6, 10)]),
        (40, 1_200, [(21, 50), (51, 100), (101, 200), (201, 500), (501, 1_000), (1_001, 2_000)]),
    ],
)
def test_bins_of_sizes_widen(smallest, largest, spans):
    assert size_spans(smallest, largest) == spans


@given(st.lists(st.integers(1, 10**12), min_size=1, max_size=20))
def test_every_size_is_counted_in_the_bin_of_its_label(values):
    plot = sizes(*values)
    counted = {}
    for label, count, _ in plot.numbers.rows:
        span = [int(end.replace(",", "")) for end in label.split(" to ")]
        counted[label] = (int(count), sum(span[0] <= value <= span[-1] for value in values))
    assert all(count == expected for count, expected in counted.values())
    assert sum(count for count, _ in counted.values()) == len(values)


def test_heights_are_proportional_and_inside_the_drawing():
    plot = sizes(*[2] * 10, *[3] * 5, 5)
    drawn = [{name: float(rect.get(name)) for name in ("x", "y", "width", "height")} for rect in columns(plot)]
    assert [rect["height"] / drawn[0]["height"] for rect in drawn] == pytest.approx([1, 0.5, 0.1])
    assert len({round(rect["y"] + rect["height"], 6) for rect in drawn}) == 1  # one ground line
    assert all(0 <= rect["x"] <= WIDTH and rect["y"] + rect["height"] <= HEIGHT for rect in drawn)
    assert plot.numbers.rows == [("2", "10", "62.5 %"), ("3", "5", "31.2 %"), ("5", "1", "6.2 %")]


def test_one_cluster_among_a_billion_has_a_column_and_an_empty_bin_has_none():
    distribution = Distribution(1, np.array([2, 4]), np.array([10**9, 1]))
    assert len(columns(histogram("size", distribution))) == 2


def test_labels_are_short():
    assert texts(sizes(1_000_000_000, 2_000_000_000))[:2] == ["1G", "2G"]
    assert texts(sizes(450, 30_000))[:7] == ["500", "1k", "2k", "5k", "10k", "20k", "50k"]


def test_labels_of_many_bins_are_thinned_so_that_they_fit():
    ticks = texts(sizes(2, 10**9))[:29]
    assert [tick for tick in ticks if tick] == ["2", "5", "50", "500", "5k", "50k", "500k", "5M", "50M", "500M"]


def test_scores_have_twenty_bins_and_the_quartiles_in_words():
    plot = histogram("idf_coherence", Distribution.of(np.array([0.3, 0.31, 1.0]), steps=10_000))
    assert plot.numbers.rows == [("0.30 to 0.35", "2", "66.7 %"), ("0.95 to 1.00", "1", "33.3 %")]
    assert plot.quartiles == "min 0.300, 25 % 0.300, median 0.310, 75 % 1.000, max 1.000"
    assert [text for text in texts(plot)[:20] if text] == ["0", "0.25", "0.5", "0.75"]


def test_equal_values_give_equal_bytes():
    assert sizes(2, 3, 700).drawing == sizes(2, 3, 700).drawing
