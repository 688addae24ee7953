"""Rows that a request may find, against loops over the rows."""

import datetime

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from model.index.rows.row_filters import EXACT_ROWS, RowFilters, probes_within
from schemas.errors import QprError, UsageError
from schemas.filters import VALID_UNTIL, FilterColumns

START = datetime.datetime(2026, 11, 23, tzinfo=datetime.UTC)
MOMENT = st.integers(-3, 3).map(lambda hours: START + datetime.timedelta(hours=hours))
ROW = st.tuples(st.sampled_from("xy"), st.sampled_from(["de", "en", "fr"]), st.none() | MOMENT, st.booleans())


@given(st.lists(st.lists(ROW, min_size=1, max_size=8), min_size=1, max_size=3), MOMENT)
def test_masks_are_those_of_a_loop(shards, now):
    schema = pa.schema([("b", pa.string()), ("a", pa.string()), VALID_UNTIL])
    tables = [
        pa.table(
            [pa.array(part, field.type) for part, field in zip([*zip(*rows, strict=True)][:3], schema, strict=True)],
            schema=schema,
        )
        for rows in shards
    ]
    live = [np.array([row[3] for row in rows], bool) for rows in shards]
    filters = RowFilters(FilterColumns(("a", "b"), "ends"), tables, live)
    known = [row for rows in shards for row in rows if row[3]]
    assert filters.values == {"a": tuple(sorted({r[1] for r in known})), "b": tuple(sorted({r[0] for r in known}))}
    for a in filters.values["a"]:
        for b in filters.values["b"]:
            masks = filters.masks(filters.checked({"b": b, "a": a}), filters.period(now))
            assert [mask.tolist() for mask in masks] == [
                [row[:2] == (b, a) and (row[2] is None or now < row[2]) and row[3] for row in rows] for rows in shards
            ]
    with pytest.raises(UsageError, match="no question has the a 'it'"):
        filters.checked({"a": "it", "b": "x"})


def test_a_period_ends_with_an_end():
    second = datetime.timedelta(seconds=1)
    table = pa.table([pa.array([START, START + second, None], VALID_UNTIL.type)], schema=pa.schema([VALID_UNTIL]))
    filters = RowFilters(FilterColumns((), "ends"), [table], [None])
    moments = [START - second / 1000, START, START + second / 2, START + second]
    assert [filters.period(moment) for moment in moments] == [0, 1, 1, 2]
    assert [int(filters.masks((), period)[0].sum()) for period in range(3)] == [3, 2, 1]


def filters_of_columns(count):
    """Return the filters of eight rows, each with a value of its own in every column."""
    names = tuple(f"column{number}" for number in range(count))
    table = pa.table({name: [*"abcdefgh"] for name in names})
    return RowFilters(FilterColumns(names, None), [table], [None])


@pytest.mark.parametrize("columns", [1, 10, 11, 20])
def test_many_columns_distinguish_rows(columns):
    filters = filters_of_columns(columns)
    found = [filters.masks([value] * columns, 0)[0].tolist() for value in "abcdefgh"]
    assert found == np.eye(8, dtype=bool).tolist()


def test_more_combinations_of_values_than_a_number_has_are_refused():
    with pytest.raises(QprError, match="column20: too many combinations of values"):
        filters_of_columns(21)


def test_all_lists_are_searched_for_few_rows_and_more_than_usual_for_a_share():
    assert probes_within(0, most=0, allowed=5, rows=10) == 0
    assert probes_within(3, most=64, allowed=EXACT_ROWS, rows=10**6) == 64
    assert probes_within(3, most=64, allowed=500_000, rows=10**6) == 6
    assert probes_within(40, most=64, allowed=500_000, rows=10**6) == 64
    assert probes_within(3, most=64, allowed=10**6, rows=10**6) == 3


@pytest.mark.parametrize(("probes", "most", "rows"), [(91, 2**16, 536_489), (64, 2**16, 14_000), (12, 610, 50_000)])
def test_probes_grow_as_rows_end_until_an_exact_search_costs_less(probes, most, rows):
    found = [probes_within(probes, most=most, allowed=allowed, rows=rows) for allowed in range(rows, -1, -7)]
    assert found[:2] == [probes, probes + 1]
    assert found == sorted(found)
    assert found[-1] == probes_within(probes, most=most, allowed=rows // 100, rows=rows) == most
    last = max(probes for probes in found if probes < most)
    compared = last * max(rows / most, 25)
    assert compared == pytest.approx(rows * probes / last, rel=0.1)  # as many as an exact search compares
