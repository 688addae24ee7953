import csv
import io
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.reading.csv_records import records
from pipelines.reading.lines import MAX_ROW_BYTES


def read(content, delimiter=","):
    return [(r.reason or r.cells, r.raw) for r in records(iter(io.BytesIO(content)), delimiter=delimiter)]


cells = st.text(st.sampled_from('ab",\t\n\r é'), max_size=6)
tables = st.integers(2, 4).flatmap(lambda width: st.lists(st.lists(cells, min_size=width, max_size=width), min_size=1))


@given(table=tables, delimiter=st.sampled_from([",", "\t"]), end=st.sampled_from(["\n", "\r\n"]))
def test_whatever_the_csv_module_writes_is_read_back(table, delimiter, end):
    text = io.StringIO(newline="")
    csv.writer(text, delimiter=delimiter, lineterminator=end, quoting=csv.QUOTE_ALL).writerows(table)
    found = read(text.getvalue().encode(), delimiter)
    assert [row for row, _ in found] == table
    assert b"".join(raw for _, raw in found) == text.getvalue().encode()


@given(st.lists(st.sampled_from([b"a,b", b'"', b'x,"y', b'"q",z', b",", b"\xff,1", b'a"b,c', b'""",""']), max_size=12))
def test_every_line_lies_in_exactly_one_record_whatever_the_quotes(lines):
    content = b"h,i\n" + b"".join(line + b"\n" for line in lines)
    assert b"".join(raw for _, raw in read(content)) == content


def test_blank_lines_are_no_records():
    assert [row for row, _ in read(b"\nh,i\n\n1,2\n  \n\r\n3,4\n")] == [["h", "i"], ["1", "2"], ["3", "4"]]


def test_an_empty_cell_is_a_row_where_there_is_one_column():
    assert [row for row, _ in read(b'h\n""\n \n1\n\n')] == [["h"], [""], [" "], ["1"]]


@pytest.mark.parametrize("line", [b"1\n", b"1,2,3\n", b"1,2,\n", b"1\r2,3\n"])
def test_another_number_of_cells_is_ragged(line):
    assert read(b"h,i\n" + line + b"3,4\n")[1:] == [("ragged_row", line), (["3", "4"], b"3,4\n")]


def test_an_open_quote_costs_its_own_line_only():
    content = b'h,i\n1,"2\n3,4\n5,6\n'
    assert read(content)[1:] == [
        ("unbalanced_quote", b'1,"2\n'),
        (["3", "4"], b"3,4\n"),
        (["5", "6"], b"5,6\n"),
    ]


def test_two_open_quotes_do_not_take_the_lines_between_them_along():
    found = read(b'h,i\n1,"2\n3,4\n5,"6\n7,8\n')
    assert [row for row, _ in found[1:]] == ["unbalanced_quote", ["3", "4"], "unbalanced_quote", ["7", "8"]]


def test_a_long_file_with_an_open_quote_is_read_on_after_a_megabyte():
    rows = [b"%d,some words\n" % i for i in range(150_000)]  # 2.6 MB
    start = time.process_time()
    found = read(b'h,i\n1,"2\n' + b"".join(rows))
    assert [row for row, _ in found[1:3]] == ["unbalanced_quote", ["0", "some words"]]
    assert len(found) == 2 + len(rows)
    assert time.process_time() - start < 5


def test_lines_that_close_one_quote_and_open_another_take_no_square_of_their_number_in_time():
    line = b'x","y\n'  # opens a quote by itself, and leaves one open inside quotes
    start = time.process_time()
    found = read(b"h,i\n" + line * 20_000)  # 20,000^2 / 2 = 200 million lines, a minute or two
    assert {row for row, _ in found[1:]} == {"unbalanced_quote"}
    assert len(found) == 20_001
    assert time.process_time() - start < 10


def test_a_line_over_the_limit_is_rejected_also_inside_quotes():
    long = b"x" * (MAX_ROW_BYTES + 1)
    assert [row for row, _ in read(b"h,i\n" + long + b"\n1,2\n")[1:]] == ["row_too_long", ["1", "2"]]
    found = read(b'h,i\n1,"2\n' + long + b"\n3,4\n")
    assert [row for row, _ in found[1:]] == ["unbalanced_quote", "row_too_long", ["3", "4"]]


def test_a_cell_may_be_longer_than_the_csv_module_allows_by_itself():
    wide = b"x" * 500_000
    assert read(b"h,i\n1," + wide + b"\n")[1][0] == ["1", wide.decode()]


def test_bytes_that_are_not_utf8_spoil_their_record_only():
    found = read(b'h,i\n1,"\xff\n2"\n3,\xc3\xa4\n')
    assert [row for row, _ in found[1:]] == ["invalid_utf8", ["3", "ä"]]
