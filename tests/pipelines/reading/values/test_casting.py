import datetime
import decimal
import math

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.reading.headers.columns import TIMESTAMP
from pipelines.reading.values.casting import (
    cast_values,
    choose_convention,
    is_castable,
    numbers_of_text,
    times_of_text,
)
from pipelines.reading.values.times import times_of_numbers

NOON = datetime.datetime(2024, 3, 1, 12, 0, 0, tzinfo=datetime.UTC)  # 1,709,294,400 s since 1970


def values(array, kind):
    cast = cast_values(array, kind)
    assert cast.type == kind
    return cast.to_pylist()


@pytest.mark.parametrize(
    ("array", "expected"),
    [
        (pa.array([42, None]), ["42", None]),
        (pa.array([True, False]), ["true", "false"]),
        (pa.array([1.5]), ["1.5"]),
        (pa.array(["a"], pa.large_string()), ["a"]),
        (pa.array([b"a"], pa.binary()), ["a"]),
        (pa.array(["a", "b", "a"]).dictionary_encode(), ["a", "b", "a"]),
        (pa.array(["a", None], pa.string_view()), ["a", None]),
        (pa.array([b"a"], pa.binary_view()), ["a"]),
        (pa.nulls(2), [None, None]),
    ],
)
def test_columns_of_text_are_converted_to_text(array, expected):
    assert values(array, pa.string()) == expected


@pytest.mark.parametrize("kind", [pa.float16(), pa.float32(), pa.float64()])
def test_a_whole_number_has_one_text_as_integer_and_as_floating_point(kind):
    numbers = [0, 12, -7, 2_000, None]
    numbers += [] if kind == pa.float16() else [16_777_215]
    numbers += [360_012_345_678, -(2**53) + 1] if kind == pa.float64() else []
    assert values(pa.array(numbers).cast(kind), pa.string()) == values(pa.array(numbers), pa.string())
    assert values(pa.array([-0.0, 0.5]).cast(kind), pa.string()) == ["0", "0.5"]


def test_a_number_beyond_the_integers_of_floating_point_keeps_its_text():
    assert values(pa.array([2.0**53, 1e300, 0.1]), pa.string()) == ["9.007199254740992e+15", "1e+300", "0.1"]


@pytest.mark.parametrize("kind", [pa.float16(), pa.float32(), pa.float64()])
def test_a_stored_number_that_is_not_finite_is_no_text(kind):
    assert values(pa.array([2.5, math.nan, math.inf, -math.inf, None], kind), pa.string()) == ["2.5", *[None] * 4]


@pytest.mark.parametrize(
    "array",
    [
        pa.array([0.25, 3.0, math.nan, math.inf, None]),
        pa.array(["0.25", "3", "nan", "-inf", None]),
        pa.array(["0.25", " 3 ", "", "many", None]),
        pa.array([decimal.Decimal("0.25"), decimal.Decimal(3), None, None, None]),
    ],
)
def test_a_number_that_cannot_be_read_or_is_not_finite_is_null(array):
    assert values(array, pa.float64()) == [0.25, 3.0, None, None, None]


@pytest.mark.parametrize(
    "text",
    [
        "2024-03-01T12:00:00Z",
        "2024-03-01 12:00",
        "2024-03-01T14:00:00.000+02:00",
        "20240301T120000Z",
        "1709294400",
        "1709294400.0",
        "1709294400000",
        "1709294400000000",
        "1709294400000000000",
        " 2024-03-01T12:00:00 ",
        "Fri, 01 Mar 2024 13:00:00 +0100",
    ],
)
def test_a_time_is_read_the_same_alone_and_beside_one_that_cannot_be(text):
    assert values(pa.array([text]), TIMESTAMP) == [NOON]
    assert values(pa.array([text, "yesterday", "", None, text]), TIMESTAMP) == [NOON, None, None, None, NOON]


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
@pytest.mark.parametrize("zone", [None, "UTC", "Europe/Berlin"])
def test_stored_timestamps_of_any_unit_and_zone_name_the_same_moment(unit, zone):
    stored = pa.array([NOON.replace(tzinfo=None)], pa.timestamp(unit)).cast(pa.timestamp(unit, zone))
    assert values(stored, TIMESTAMP) == [NOON]


def test_nanoseconds_are_cut_and_dates_are_midnight():
    assert values(pa.array([1_999], pa.timestamp("ns")), TIMESTAMP)[0].microsecond == 1
    midnight = NOON.replace(hour=0)
    assert values(pa.array([NOON.date()], pa.date32()), TIMESTAMP) == [midnight]
    assert values(pa.array(["2024-03-01"]), TIMESTAMP) == [midnight]


BOUNDS = [datetime.datetime(1, 1, 1), datetime.datetime(9999, 12, 31, 23, 59, 59)]  # as Arrow has them


@pytest.mark.parametrize("zone", [None, "UTC"])
@pytest.mark.parametrize(("unit", "beyond"), [("s", 2**62), ("s", 1), ("ms", 10**16), ("ms", 1), ("us", 1)])
def test_stored_timestamps_outside_of_the_years_1_to_9999_are_null(unit, beyond, zone):
    first, last = pa.array(BOUNDS, pa.timestamp(unit)).cast(pa.int64()).to_pylist()
    steps = {"s": 1, "ms": 1_000, "us": 1_000_000}[unit]
    stored = pa.array([first - beyond, first, last, last + steps - 1 + beyond, None]).cast(pa.timestamp(unit, zone))
    expected = [None, *(bound.replace(tzinfo=datetime.UTC) for bound in BOUNDS), None, None]
    assert values(stored, TIMESTAMP) == expected
    texts = values(stored, pa.string())
    assert [text and text[:4] for text in texts] == [None, "0001", "9999", None, None]


@pytest.mark.parametrize(("kind", "per_day"), [(pa.date32(), 1), (pa.date64(), 86_400_000)])
def test_stored_dates_outside_of_the_years_1_to_9999_are_null(kind, per_day):
    first, last = pa.array([bound.date() for bound in BOUNDS], pa.date32()).cast(pa.int32()).to_pylist()
    days = pa.array([(first - 1) * per_day, first * per_day, last * per_day, (last + 1) * per_day])
    stored = (days.cast(pa.int32()) if kind == pa.date32() else days).cast(kind)
    assert [time and time.year for time in values(stored, TIMESTAMP)] == [None, 1, 9999, None]


@pytest.mark.parametrize("text", ["9999-12-31T23:59:59-10:00", "0001-01-01T00:00:00+10:00", "0000-06-01"])
def test_a_text_outside_of_the_years_1_to_9999_is_no_time(text):
    assert values(pa.array([text]), TIMESTAMP) == values(pa.array([text, "?"]), TIMESTAMP)[:1] == [None]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("20240301", "2024-03-01"),
        (" 19000101 ", "1900-01-01"),
        ("21001231", "2100-12-31"),
        ("20230229", None),  # no day of the calendar
        ("18991231", "1970-08-08"),
        ("21010101", "1970-09-01"),
        ("20241301", "1970-08-23"),
        ("20240300", "1970-08-23"),
        ("020240301", "1970-08-23"),
        ("20240301.0", "1970-08-23"),
    ],
)
def test_eight_digits_that_are_a_date_are_no_number_of_seconds(text, expected):
    for beside in ("2024-03-01", "1709294400", "?"):
        time = times_of_text(pa.array([text, beside]))[0].as_py()
        assert (time and time.date().isoformat()) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("46082", "2026-03-01T00:00:00"),
        (" 46082,475694444 ", "2026-03-01T11:25:00"),
        ("46082.9999999", "2026-03-02T00:00:00"),
        ("36526", "2000-01-01T00:00:00"),
        ("73050,5", "2099-12-31T12:00:00"),
        ("36525", "1970-01-01T10:08:45"),
        ("73051", "1970-01-01T20:17:31"),
        ("046082", "1970-01-01T12:48:02"),
        ("-46082", "1969-12-31T11:11:58"),
        ("46082,4,7", None),
    ],
)
def test_the_day_number_of_a_spreadsheet_is_no_number_of_seconds(text, expected):
    for beside in ("2024-03-01", "1709294400", "46081", "?"):
        time = times_of_text(pa.array([text, beside]))[0].as_py()
        assert (time and time.replace(tzinfo=None).isoformat()) == expected
    assert times_of_numbers(pa.array([46082.0]))[0].as_py().year == 1970


@pytest.mark.parametrize(
    ("number", "year"), [(0, 1970), (99_999_999_999, 5138), (100_000_000_000, 1973), (-1e9, 1938), (1e17, 1973)]
)
def test_the_size_of_a_number_decides_its_unit(number, year):
    assert times_of_numbers(pa.array([float(number)]))[0].as_py().year == year


@pytest.mark.parametrize("number", [math.nan, math.inf, 1e300, -99_999_999_999.0])  # the last is before the year 1
def test_a_number_out_of_reach_is_no_time(number):
    assert times_of_numbers(pa.array([number])).to_pylist() == [None]
    assert times_of_text(pa.array([str(number)])).to_pylist() == [None]


def test_distinct_numbers_since_1970_are_converted_at_once(monkeypatch):
    calls = []
    monkeypatch.setattr(
        "pipelines.reading.values.times.times_of_numbers",
        lambda numbers: calls.append(len(numbers)) or times_of_numbers(numbers),
    )
    texts = [str(1_709_294_400 + second) for second in range(1_000)]
    times = times_of_text(pa.array([*texts, "01.03.2024 12:00", "?", None, "nan"])).to_pylist()
    assert times == [*(NOON + datetime.timedelta(seconds=n) for n in range(1_000)), NOON, None, None, None]
    assert calls == [1_003]


@given(st.datetimes(min_value=datetime.datetime(1, 1, 2), max_value=datetime.datetime(9999, 12, 30)))
def test_whatever_python_writes_is_read_back(moment):
    plain = moment.isoformat()
    assert times_of_text(pa.array([plain]))[0].as_py() == moment.replace(tzinfo=datetime.UTC)
    assert times_of_text(pa.array([plain, "?"])) == pa.array([moment.replace(tzinfo=datetime.UTC), None], TIMESTAMP)


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1))
def test_numbers_survive_being_text_on_both_paths(numbers):
    texts = [repr(number) for number in numbers]
    assert numbers_of_text(pa.array(texts)).to_pylist() == numbers
    assert numbers_of_text(pa.array([*texts, "?"])).to_pylist() == [*numbers, None]


def test_only_what_can_be_cast_is_castable():
    text, time = pa.string(), TIMESTAMP
    assert is_castable(pa.dictionary(pa.int32(), pa.string()), time)
    assert is_castable(pa.bool_(), text)
    assert is_castable(pa.timestamp("ns", "Europe/Berlin"), time)
    assert is_castable(pa.timestamp("ns"), text)
    assert not is_castable(pa.timestamp("ns"), pa.float64())
    assert not is_castable(pa.bool_(), time)
    assert not is_castable(pa.time64("us"), time)
    assert not is_castable(pa.list_(pa.string()), text)


def never():
    raise AssertionError("no value is ambiguous")


@pytest.mark.parametrize(
    ("texts", "usual", "other", "undecided"),
    [
        (["1,234", "0,89"], [1234, 0.89], [1.234, 0.89], [1234, 0.89]),
        (["1.234", "0.89"], [1.234, 0.89], [1234, 0.89], [1.234, 0.89]),  # Arrow can cast these
    ],
)
def test_an_ambiguous_number_is_read_by_the_convention(texts, usual, other, undecided):
    assert numbers_of_text(pa.array(texts), lambda: False).to_pylist() == usual
    assert numbers_of_text(pa.array(texts), lambda: True).to_pylist() == other
    assert numbers_of_text(pa.array(texts)).to_pylist() == undecided


def test_an_ambiguous_date_is_read_by_the_convention_and_null_without_one():
    texts = pa.array(["01/02/2025", "31/12/2025", None])
    days = [NOON.replace(2025, month, day, 0) for month, day in ((2, 1), (1, 2), (12, 31))]
    assert times_of_text(texts, lambda: False).to_pylist() == [days[0], days[2], None]
    assert times_of_text(texts, lambda: True).to_pylist() == [days[1], days[2], None]
    assert times_of_text(texts).to_pylist() == [None, days[2], None]


@pytest.mark.parametrize("texts", [["0.5", "1", "12.5"], ["0,5", "12"], ["0.5", "?"], ["1234.567"]])
def test_the_convention_of_unambiguous_numbers_is_not_asked_for(texts):
    assert numbers_of_text(pa.array(texts), never).null_count == texts.count("?")


def test_the_convention_of_unambiguous_dates_is_not_asked_for():
    assert times_of_text(pa.array(["31.12.2025", "01.02.2025", "2025-01-02", "05/05/2025"]), never).null_count == 0


@pytest.mark.parametrize(
    ("batches", "kind", "expected"),
    [
        ([["0.5", "1,234"]], pa.float64(), False),
        ([["0,5", "1.234"]], pa.float64(), True),
        ([["1,234", "12"], ["0,5"]], pa.float64(), True),
        ([["0,5"], ["0.5", "0.6"]], pa.float64(), True),  # the first batch with a vote decides
        ([["0,5", "0.5", "0.6"]], pa.float64(), False),  # by its majority
        ([["0,5", "0.5"]], pa.float64(), False),
        ([["1,234", None, "?"]], pa.float64(), None),
        ([["01/02/2025", "13/02/2025"]], TIMESTAMP, False),
        ([["01/02/2025"], ["02/13/2025"]], TIMESTAMP, True),
        ([["01/02/2025", "1.2.2025"]], TIMESTAMP, False),
        ([["01/02/2025", "2025-01-02", "1709294400"]], TIMESTAMP, None),
    ],
)
def test_values_with_one_interpretation_decide_the_convention(batches, kind, expected):
    assert choose_convention([pa.array(texts) for texts in batches], kind) is expected
