import apache_beam as beam
import pytest

from pipelines.engine.runner import parse_options, run
from pipelines.writing.reported import BroadAnswer, JudgedAnswer, Written
from pipelines.writing.run_report import WriteReport, check_sum, read_report
from schemas.artifacts import storage
from schemas.artifacts.manifest import File, Source
from schemas.artifacts.writer import Output
from schemas.errors import QprError


def test_files_and_sums_of_counts_come_back_and_the_report_is_gone(memory):
    output = Output(memory, "dataset")
    file = File(path="20260101T000000Z-000000/a", table="pairs", rows=1, bytes=2, sha256="0" * 64)
    written = [Written(None, {"rows_read": 3}), Written(file, {"pairs": 1}), Written(None, {"rows_read": 4})]
    source = Source(url="a.csv", bytes=3, digest="1")
    broad, judged = [BroadAnswer("Sorry", 9, 8)], [JudgedAnswer("Paris", "entity", 12, 0.25)]
    written += [Written(None, {}, source), Written(None, {}, broad_answers=broad, judged_answers=judged)]
    run(lambda pipeline: pipeline | beam.Create(written) | WriteReport(output.run_url), parse_options([]))
    report = read_report(output)
    assert report.files == [file]
    assert report.counters == {"rows_read": 7, "pairs": 1}
    assert report.sources == [source]
    assert (report.broad_answers, report.judged_answers) == (broad, judged)
    assert storage.children(output.run_url) == []


def test_a_run_that_wrote_nothing_reports_nothing(memory):
    output = Output(memory, "dataset")
    run(lambda pipeline: pipeline | beam.Create([]) | WriteReport(output.run_url), parse_options([]))
    assert read_report(output).counters == {}


def test_parts_that_add_up_pass_and_missing_counters_are_zero():
    check_sum({"rows_read": 5, "rows_kept": 3, "rows_rejected": 2}, "rows_read", "rows_kept", "rows_rejected")
    check_sum({"rows_read": 3, "rows_kept": 3}, "rows_read", "rows_kept", "rows_rejected")
    check_sum({}, "rows_read", "rows_kept")


@pytest.mark.parametrize("kept", [2, 4])
def test_a_lost_or_doubled_row_stops_the_run(kept):
    counters = {"rows_read": 1_003, "rows_kept": 1_000 + kept, "rows_rejected": 0}
    message = rf"1,003 rows_read but 1,00{kept} rows_kept \+ 0 rows_rejected = 1,00{kept}; the engine lost or doubled"
    with pytest.raises(QprError, match=message):
        check_sum(counters, "rows_read", "rows_kept", "rows_rejected")
