"""Tables keep all rows that do not mention an erased question, with their bytes."""

import csv
import gzip

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobs.workflows.erasure.tables import erase_rows
from jobs.workflows.erasure.text_files import erase_from_file
from pipelines.privacy.erase import erasure_of
from pipelines.privacy.mentions import Mentions
from pipelines.reading.lines import MAX_ROW_BYTES
from schemas.artifacts import storage
from schemas.errors import QprError

SECRET = "Who is zibeline?"
ERASURE = erasure_of([SECRET, "zibeline"], [], None)


def erase(tmp_path, content, file="a.csv", erasure=ERASURE):
    """Return the number of removed rows, and the bytes of the file afterwards."""
    path = str(tmp_path / file)
    storage.write_bytes(path, gzip.compress(content) if file.endswith(".gz") else content)
    outcome = erase_from_file(path, erasure, dry_run=False)
    after = storage.read_bytes(path)
    return outcome["rows"], gzip.decompress(after) if file.endswith(".gz") else after


@pytest.mark.parametrize("delimiter", [b",", b";", b"\t", b"|"])
@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
@pytest.mark.parametrize("start", [b"", b"\xef\xbb\xbf", b"\xef\xbb\xbfsep=%s\n"])
def test_rows_that_stay_keep_their_quotes_delimiters_and_line_ends(tmp_path, delimiter, end, start):
    kept = [b"question,note,n", b'"how; do | I ""pay""","fine",1', b"", b'plain,"",2', b"a,b,3"]
    gone = [b'"%s","a",4' % SECRET.encode(), b"Zibeline,x,5"]
    lines = [line.replace(b",", delimiter) for line in [*kept[:2], gone[0], *kept[2:], gone[1]]]
    beginning = start.replace(b"%s", delimiter).replace(b"\n", end)
    content = beginning + end.join(lines) + end
    after = beginning + end.join(line.replace(b",", delimiter) for line in kept) + end
    assert erase(tmp_path, content) == (2, after)
    assert erase(tmp_path, after) == (0, after)


def test_a_quote_that_is_never_closed_removes_no_other_row(tmp_path):
    content = b'question,n\n"who is zibeline?,1\nhow do i pay,2\n"zibeline,3\nwhere is my card,4\n'
    assert erase(tmp_path, content) == (2, b"question,n\nhow do i pay,2\nwhere is my card,4\n")


def test_a_question_behind_a_quote_that_is_never_closed_is_reported(tmp_path):
    content = b'question,n\n"who is\nzibeline?,1\nhow do i pay,2\n'
    with pytest.raises(QprError, match=r"a\.csv: cannot be read .*never closed\)\. Correct the file"):
        erase(tmp_path, content, erasure=erasure_of([SECRET], [], None))
    assert storage.read_bytes(str(tmp_path / "a.csv")) == content


def test_a_cell_of_several_lines_is_one_row(tmp_path):
    content = b'question,n\n"so:\nwho is zibeline",1\n"how\ndo i\npay",2\n'
    assert erase(tmp_path, content, "a.csv.gz") == (1, b'question,n\n"how\ndo i\npay",2\n')


def test_a_cell_longer_than_a_row_of_a_log_may_be_stays():
    limit = csv.field_size_limit(1_000)
    try:
        content = f"question,n\n{'x' * MAX_ROW_BYTES}x,1\n{SECRET},2\n"
        assert erase_rows(content, Mentions(ERASURE), "csv") == (content.removesuffix(f"{SECRET},2\n"), 1)
    finally:
        csv.field_size_limit(limit)


@pytest.mark.parametrize(
    ("header", "removed"), [("zibeline,n", 0), ("who is zibeline?,n", 1), ("zibeline,größe", 1), ("zibeline", 1)]
)
def test_a_first_row_stays_if_its_cells_are_names_of_columns(header, removed):
    rows = "how do i pay,1\n"
    after = rows if removed else f"{header}\n{rows}"
    assert erase_rows(f"{header}\n{rows}", Mentions(ERASURE), "csv") == (after, removed)


def test_a_name_leaves_a_row_whose_other_cells_stay(tmp_path):
    [name, _] = sorted(Mentions(ERASURE).names)
    content = b'question;strays\r\n"a; b";q0 %s\r\nc;q1\r\n' % name.encode()
    assert erase(tmp_path, content) == (0, b'question;strays\r\n"a; b";q0\r\nc;q1\r\n')


CELLS = st.text(alphabet='ab ,;"\n\t\r', max_size=6)


@given(st.lists(st.lists(CELLS, min_size=2, max_size=3), min_size=1, max_size=6))
def test_a_table_without_the_question_stays_as_it_is(rows):
    text = "\n".join(",".join(row) for row in rows)
    assert erase_rows(text, Mentions(ERASURE), "csv") == (text, 0)


@given(st.lists(st.tuples(st.booleans(), st.text(alphabet='ab ,;"\n\t', max_size=6)), min_size=1, max_size=6))
def test_exactly_the_rows_with_the_question_go(tmp_path_factory, rows):
    path = tmp_path_factory.getbasetemp() / "any.csv"
    written = [[SECRET if has_it else "else", cell] for has_it, cell in rows]
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([["question", "note"], *written])
    assert erase_from_file(str(path), ERASURE, dry_run=False)["rows"] == sum(has_it for has_it, _ in rows)
    with path.open(newline="") as file:
        assert list(csv.reader(file)) == [["question", "note"], *(row for row in written if row[0] != SECRET)]
