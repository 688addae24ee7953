import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from schemas.ragged import lists_of, most_frequent, pairs_in_runs, ranks_in_runs, runs_of, sort_distinct, starts_of_runs

rows = st.lists(st.tuples(st.integers(-3, 3), st.text("abß", max_size=2), st.integers(1, 4)), max_size=30)


def columns(rows):
    kinds = (pa.int64(), pa.string(), pa.int64())
    return [pa.array([row[i] for row in rows], kind) for i, kind in enumerate(kinds)]


def naive(rows):
    totals = {}
    for group, value, weight in rows:
        of_group = totals.setdefault(group, {})
        of_group[value] = of_group.get(value, 0) + weight
    return {g: min(of, key=lambda value: (-of[value], value.encode())) for g, of in sorted(totals.items())}


@given(rows)
def test_the_heaviest_value_of_each_group_wins_and_of_equally_heavy_ones_the_smallest(rows):
    found = most_frequent(*columns(rows))
    assert dict(zip(found["group"].to_pylist(), found["value"].to_pylist(), strict=True)) == naive(rows)
    assert found["group"].to_pylist() == sorted({g for g, _, _ in rows})


@given(rows, st.randoms())
def test_the_order_of_rows_does_not_matter(rows, random):
    shuffled = random.sample(rows, len(rows))
    assert most_frequent(*columns(rows)).equals(most_frequent(*columns(shuffled)))


def test_weights_count_not_rows():
    found = most_frequent(*columns([(1, "often", 5), (1, "rows", 2), (1, "rows", 2), (2, "b", 1), (2, "a", 1)]))
    assert found["value"].to_pylist() == ["often", "a"]  # 5 > 2 + 2; a tie goes to the smaller


def test_a_null_is_a_value_like_any_other_and_loses_a_tie():
    groups, weights = pa.array([1, 2, 2, 3, 3]), pa.array([1, 5, 1, 1, 1])
    found = most_frequent(groups, pa.array([None, None, "a", None, "a"], pa.string()), weights)
    assert found["value"].to_pylist() == [None, None, "a"]


@given(st.lists(st.tuples(st.integers(0, 3), st.none() | st.sampled_from("abc"), st.integers(1, 3))), st.integers(0, 2))
def test_a_dictionary_array_has_the_same_values_as_an_array_of_its_texts(rows, start):
    groups, values, weights = (column[start:] for column in columns(rows))
    found = most_frequent(groups, columns(rows)[1].dictionary_encode()[start:], weights)
    assert pa.types.is_dictionary(found["value"].type)
    assert found.to_pydict() == most_frequent(groups, values, weights).to_pydict()


@given(st.lists(st.integers(0, 3)).map(sorted))
def test_runs_start_where_the_value_changes(values):
    starts = starts_of_runs(np.array(values, np.int64)).tolist()
    assert starts == [i for i, value in enumerate(values) if i == 0 or values[i - 1] != value]


@given(st.lists(st.integers(0, 3)).map(sorted))
def test_runs_have_sizes_and_their_rows_ranks(values):
    starts, sizes = runs_of(np.array(values, np.int64))
    assert sizes.tolist() == [values.count(value) for value in sorted(set(values))]
    assert ranks_in_runs(starts, len(values)).tolist() == [values[:i].count(value) for i, value in enumerate(values)]


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2))))
def test_a_run_of_several_columns_starts_where_any_changes(rows):
    one, two = np.array(sorted(rows), np.int64).reshape(-1, 2).T
    assert starts_of_runs(one, two).tolist() == [sorted(rows).index(row) for row in sorted(set(rows))]


@given(st.lists(st.integers(-3, 3)))
def test_distinct_values_ascend(values):
    assert sort_distinct(np.array(values, np.int64)).tolist() == sorted(set(values))


def test_values_are_cut_at_the_starts_of_runs():
    chunked = pa.chunked_array([["a", "b"], ["c"]])
    assert lists_of(chunked, np.array([0, 1])).to_pylist() == [["a"], ["b", "c"]]
    assert lists_of(pa.array([], pa.string()), np.zeros(0, np.int64)).to_pylist() == []


def test_pairs_within_runs_are_counted():
    assert pairs_in_runs(np.array([0, 1, 2, 3, 100_000])).tolist() == [0, 0, 1, 3, 4_999_950_000]
