import datetime

import pyarrow as pa

from jobs.workflows.erasure.days import erase_from_day
from pipelines.ingestion.days import ADDED, COUNTS, Day, is_of_earlier_release
from pipelines.intermediate import ASKED
from pipelines.privacy.erase import Erasure
from pipelines.writing.parquet import to_parquet
from schemas.artifacts.manifest import read_manifest
from schemas.artifacts.writer import Output
from schemas.tables import with_nulls
from schemas.text import question_id


def test_a_question_is_erased_from_a_day_of_an_earlier_release(memory):
    texts = ["how do i pay", "where am i"]
    columns = {"question_id": [*map(question_id, texts)], "key": texts, "text": texts, "events": [2, 3]}
    rows = with_nulls(ASKED, {name: pa.array(values) for name, values in columns.items()}).drop_columns([*ADDED])
    output = Output(memory, "day")
    file = output.write("asked/one.parquet", to_parquet(rows, COUNTS), table=COUNTS, rows=2)
    counters = {"rows_read": 5, "rows_kept": 5, "events": 5, "forms": 2}
    output.publish([file], inputs=[], configuration={}, counters=counters)
    erased = erase_from_day(memory, Erasure(frozenset({"where am i"})), None, dry_run=False)
    assert erased["rows"] == 3
    manifest = read_manifest(memory, "day")
    [left] = manifest.files
    assert (left.table, left.rows) == (COUNTS, 1)
    assert is_of_earlier_release(Day(datetime.date(2026, 11, 20), memory, manifest))  # so that a night warns of it
