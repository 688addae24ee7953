"""Files of judged requests."""

import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from jobs.workflows.certificates.requests_file import read_requests
from pipelines.reading.sources import only_file
from schemas.errors import QprError

ROW = {"question": "pay", "verdict": "right", "asked_at": "2026-11-30", "labeller": "Ada"}


def probabilities(file):
    return [request.probability for request in read_requests(only_file(str(file), option="--requests"))]


def jsonl(file, *cells):
    rows = [ROW | {"probability": cell} for cell in cells]
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return file


def test_probabilities_are_read_to_their_last_digit_whatever_the_format(tmp_path):
    exact = 0.037052162623979847
    assert probabilities(jsonl(tmp_path / "a.jsonl", exact, None, "", 1, " 0.5 ")) == [exact, None, None, 1, 0.5]
    pq.write_table(pa.Table.from_pylist([ROW | {"probability": exact}, ROW]), tmp_path / "a.parquet")
    assert probabilities(tmp_path / "a.parquet") == [exact, None]
    (tmp_path / "a.csv").write_text("question;verdict;asked_at;labeller;probability\npay;right;2026-11-30;Ada;0,25\n")
    assert probabilities(tmp_path / "a.csv") == [0.25]


@pytest.mark.parametrize("cell", ["abc", "NaN", "inf", "-0.1", "1.5", "97 %", True])
def test_a_cell_that_is_no_probability_is_refused_with_its_row(tmp_path, cell):
    file = jsonl(tmp_path / "a.jsonl", 0.5, cell)
    with pytest.raises(QprError, match=r"a\.jsonl: row 2: probability .* is no number from 0 to 1\. Correct the row"):
        probabilities(file)
