import re
from unittest.mock import Mock

import apache_beam as beam
import pyarrow as pa
import pytest

from pipelines.engine.runner import parse_options
from pipelines.graphs.publish import run_and_publish
from pipelines.graphs.settings import ClustersConfig, QuoraConfig
from pipelines.reading.sources import Source
from pipelines.writing.parquet import to_parquet
from pipelines.writing.reported import Written
from pipelines.writing.run_report import WriteReport
from schemas.artifacts import storage
from schemas.artifacts.dataset import open_dataset
from schemas.artifacts.manifest import read_manifest, read_verified
from schemas.artifacts.writer import Output, write_file
from schemas.errors import QprError
from schemas.tables import TABLES

GOOD = {"rows_read": 10, "events": 9, "rows_rejected": 1, "rejected_validate_no_word": 1}
GOOD |= {"groups": 5, "members": 9, "members_judged": 8, "rejected_ambiguity_ambiguous": 1}
GOOD |= {"members_train": 4, "members_test": 3, "members_rejected": 2, "clusters_train": 1}
REJECTS = pa.table(
    {
        "stage": ["size"] * 7 + ["validate"],
        "reason": ["single_question"] * 7 + ["no_word"],
        "score": pa.nulls(8, pa.float64()),
        "payload": [f'{{"question": "q{n}", "answer": "a"}}' for n in range(7)] + ["raw"],
    }
).cast(TABLES["rejected"])


CONFIG = ClustersConfig()


def page_of(summary):
    return f"fault: {summary.fault}".encode()


def publish(url, counts, *, before=lambda: None, ratio=0.1, overwrite=False, config=CONFIG, page=page_of):
    def build(pipeline, run_url):
        before()
        file = write_file(run_url, "rejected/a.parquet", to_parquet(REJECTS, "rejected"), table="rejected")
        pipeline | beam.Create([Written(file, {}), Written(None, counts)]) | WriteReport(run_url)

    return run_and_publish(
        build,
        output=Output(url, "dataset", overwrite=overwrite),
        sources=[Source("log.csv", 7, "csv")],
        configuration=config,
        options=parse_options([]),
        max_reject_ratio=ratio,
        page=page,
    )


def test_a_run_whose_accounts_are_right_is_published(memory):
    manifest = publish(memory, GOOD)
    assert read_manifest(memory, "dataset") == manifest
    assert manifest.counters == GOOD | {"rows_kept": 9}
    assert [(source.url, source.bytes) for source in manifest.inputs] == [("log.csv", 7)]
    assert storage.children(memory) == [manifest.run_id, "manifest.json"]
    assert storage.children(f"{memory}/{manifest.run_id}") == [
        "leakage.json",
        "rejected",
        "report.html",
    ]  # no report.json
    assert [file.table for file in manifest.files] == ["leakage", "rejected", "reports"]


def test_the_page_is_made_of_what_was_found_and_its_times_are_in_no_digest(memory):
    told = []

    def page(summary):
        told.append(summary)
        return f"{len(told)}. page".encode()

    first = publish(memory, GOOD, page=page)
    again = publish(memory, GOOD, page=page, overwrite=True)
    assert read_verified(memory, again.of("reports")[0]) == b"2. page"
    assert first.digest == again.digest
    assert (told[0].url, told[0].run_id, told[0].fault) == (memory, first.run_id, None)
    assert told[0].counters == first.counters
    assert told[0].configuration == CONFIG.model_dump(mode="json")
    assert [source.url for source in told[0].inputs] == ["log.csv"]
    assert told[0].leakage["check"]["found"] == 0
    assert 0 < told[0].seconds <= first.seconds


def test_a_page_that_cannot_be_made_leaves_the_old_dataset_and_nothing_else(memory):
    old = publish(memory, GOOD)
    with pytest.raises(QprError, match="no page"):
        publish(memory, GOOD, page=Mock(side_effect=QprError("no page")), overwrite=True)
    assert storage.children(memory) == [old.run_id, "manifest.json"]


@pytest.mark.parametrize(
    "wrong", [{"events": 8}, {"rows_rejected": 2}, {"members": 8}, {"members_test": 4}, {"members_judged": 9}]
)
def test_a_row_or_member_lost_or_doubled_is_not_published_and_leaves_nothing(memory, wrong):
    with pytest.raises(QprError, match="the engine lost or doubled rows"):
        publish(memory, GOOD | wrong)
    assert storage.children(memory) == []


def test_a_question_that_leaked_is_not_published_and_leaves_nothing(memory):
    old = publish(memory, GOOD)
    with pytest.raises(QprError, match="1 question of validation or test found again in an earlier split"):
        publish(memory, GOOD | {"leakage.check.found": 1}, overwrite=True)
    assert storage.children(memory) == [old.run_id, "manifest.json"]
    assert read_manifest(memory) == old


def test_a_row_of_two_questions_makes_two_events(memory):
    assert publish(memory, GOOD | {"events": 18}, config=QuoraConfig()).counters["rows_kept"] == 9


def test_a_run_that_breaks_leaves_the_old_dataset_and_nothing_else(memory):
    old = publish(memory, GOOD)
    with pytest.raises(OSError, match="disk on fire"):
        publish(memory, GOOD, before=Mock(side_effect=OSError("disk on fire")), overwrite=True)
    assert storage.children(memory) == [old.run_id, "manifest.json"]
    assert read_manifest(memory) == old


def test_the_old_dataset_can_be_read_while_its_replacement_is_made(memory):
    old = publish(memory, GOOD)
    seen = []
    new = publish(memory, GOOD, before=lambda: seen.append(open_dataset(memory).manifest), overwrite=True)
    assert seen == [old]
    assert open_dataset(memory).manifest == new


@pytest.mark.parametrize(
    ("counts", "message"),
    [
        (GOOD | {"events": 8, "rows_rejected": 2}, r"2 of 10 rows rejected, more than --max-reject-ratio 0\.1"),
        (GOOD | {"positive_edges": 0}, "no positive pair: none of 9 usable rows marks two different questions"),
        ({n: c for n, c in GOOD.items() if n != "clusters_train"}, "no cluster was left of 9 questions in 5 groups"),
    ],
)
def test_a_run_that_is_worth_nothing_is_not_published_but_its_rejects_stay(memory, counts, message):
    with pytest.raises(QprError, match=f"{message}.*Read what was rejected in {memory}/.*/rejected or see"):
        publish(memory, counts)
    [run_id] = storage.children(memory)
    assert storage.children(f"{memory}/{run_id}") == ["leakage.json", "rejected", "report.html"]
    assert re.search(f"fault: .*{message}", storage.read_bytes(f"{memory}/{run_id}/report.html").decode())
    assert publish(memory, GOOD).counters["rows_kept"] == 9  # and they do not stand in the way of the next run


@pytest.mark.parametrize(
    ("counts", "message"),
    [({}, "log.csv: there is no row"), ({"rows_read": 4, "events": 4, "positive_edges": 0}, "none of 4 usable rows")],
)
def test_a_run_that_rejected_nothing_and_is_worth_nothing_leaves_nothing(memory, counts, message):
    with pytest.raises(QprError, match=message) as raised:
        publish(memory, counts)
    assert "Read what was rejected" not in str(raised.value)
    assert storage.children(memory) == []


def test_the_most_frequent_reasons_that_rows_were_rejected_for_are_reported(memory):
    reasons = {f"rejected_validate_{name}": n for name, n in {"a": 1, "b": 3, "c": 2, "d": 2}.items()}
    with pytest.raises(QprError, match=r"Most were validate_b \(3\), validate_c \(2\), validate_d \(2\)\."):
        publish(memory, GOOD | reasons | {"events": 2, "rows_rejected": 8, "rejected_size_single_question": 99})


@pytest.mark.parametrize(
    ("sources", "shards"),
    [
        ([], 1),
        ([Source("a.csv", 1, "csv")], 1),
        ([Source("a.csv", 64 * 2**20, "csv")], 2),  # 64 MB / 32 MB
        ([Source("a.csv", 64 * 2**20 + 1, "csv")], 3),
        ([Source("a.csv.gz", 64 * 2**20, "csv", "gzip")], 10),  # unpacks to about five times its size
        ([Source("a.parquet", 64 * 2**20, "parquet")], 8),  # four times
        ([Source("a.csv", 32 * 2**20, "csv"), Source("b.csv", 32 * 2**20, "csv")], 2),
        ([Source("a.csv", 2**60, "csv")], 4096),
    ],
)
def test_a_shard_is_near_32_mb_of_text(sources, shards):
    assert ClustersConfig().for_files(sources).shards == shards
    assert ClustersConfig(shards=7).for_files(sources).shards == 7


def test_a_refused_run_names_the_option_to_change_and_shows_five_rejects(memory):
    lost = {"rejected_size_single_question": 7, "clusters_train": 0}
    with pytest.raises(
        QprError,
        match=r"two questions, .*signatures and quoted messages.*\(--column answer_id=NAME\)\. A FAQ .*`qpr index`",
    ) as raised:
        publish(memory, GOOD | lost)
    first, *examples = str(raised.value).split("\n")
    assert first.endswith("/report.html")
    assert examples == [f"  size, single question: q{n} -> a" for n in range(5)]


def test_rejects_that_the_user_asked_for_do_not_count_against_the_ratio(memory):
    asked = {"rejected_validate_ignored_answer": 5, "rejected_validate_no_word": 1, "rows_rejected": 6, "events": 4}
    with pytest.raises(QprError, match=r"1 of 5 rows rejected, more .* Most were validate_no_word \(1\)\."):
        publish(memory, GOOD | asked)
    assert publish(memory, GOOD | asked, ratio=0.2).counters["rows_rejected"] == 6
