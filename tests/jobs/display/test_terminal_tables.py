import io

import rich.console

from jobs.display.terminal_tables import dataset_tables
from schemas.artifacts.manifest import Manifest


def printed(manifest, width=80):
    screen = io.StringIO()
    rich.console.Console(file=screen, width=width).print(dataset_tables("out/[bold]d", manifest))
    return screen.getvalue()


def manifest(counters, distributions=None):
    return Manifest(
        kind="dataset",
        run_id="20260101T000000Z-000000",
        created="now",
        seconds=2.0,
        inputs=[],
        configuration={},
        counters=counters,
        distributions=distributions or {},
        files=[],
    )


def test_a_person_reads_rows_questions_splits_clusters_and_the_rest():
    five = dict.fromkeys(("min", "q1", "median", "q3", "max"), 0.25)
    counters = {
        "rows_read": 3_000,
        "rows_kept": 3_000,
        "pairs_train": 7,
        "rejected_size_x": 5,
        "members": 9,
        "groups": 4,
    }
    text = printed(manifest(counters, {"coherence": five}))
    assert text.startswith("out/[bold]d: 2.0 s, 1,500 rows/s\n")
    lines = {" ".join(line.split()) for line in text.splitlines()}
    assert {
        "read 3,000 100.0 %",
        "size x 5 55.6 %",
        "train 0 0 7 0.0 %",
        "paraphrase groups found 4",
    } <= lines
    assert "coherence (paper) 0.250 0.250 0.250 0.250 0.250" in lines
    assert max(map(len, text.splitlines())) <= 80


def test_a_run_without_counters_is_no_error():
    assert "Split" in printed(manifest({}))


def test_very_large_counts_are_never_cut():
    counters = {"rows_read": 10**15, "rows_kept": 10**15, "clusters_train": 10**14, "members_train": 10**14}
    text = printed(manifest(counters | {"pairs_train": 10**15}), width=60)
    assert "1,000,000,000,000,000" in text
    assert "…" not in text
