import csv
import io
import json
import sys

import pytest

from jobs.review.queues.clusters import ClusterQueue
from jobs.review.queues.interface import question_name
from jobs.workflows.erasure.text_files import erase_from_file
from jobs.workflows.verdicts.reviewed_clusters import read_reviewed
from pipelines.calibration.verdicts.verdict_file import cluster_name
from pipelines.privacy.erase import erasure_of
from schemas.artifacts.dataset import open_dataset
from schemas.errors import QprError
from schemas.text import hash64, question_id

HEAD = "verdict,judged,cluster_id,strays\n"
ONE = "c0000000000000001"
STRAY = f"wrong,stray,{ONE},q0000000000000009"


def write(tmp_path, text):
    (tmp_path / "verdicts.csv").write_text(text)
    return str(tmp_path / "verdicts.csv")


def test_right_and_unclear_clusters_are_not_rejected(tmp_path):
    rows = [
        "right,right,c0000000000000002,",
        "unclear,cannot tell,c0000000000000003,",
        "wrong,several,c0000000000000004,",
    ]
    more = [f"wrong,stray,{ONE},q0000000000000008", ",right,c0000000000000005,"]
    found = read_reviewed(write(tmp_path, HEAD + "\n".join([*rows, STRAY, *more])))
    strays = ((ONE, "q0000000000000008"), (ONE, "q0000000000000009"))
    assert (found.wrong, found.strays) == (("c0000000000000004",), strays)
    assert len(found.verdicts) == 64


def test_a_cluster_whose_marked_strays_were_erased_from_the_file_is_not_wrong(tmp_path):
    secret = "has my neighbour zibeline paid"
    other = f"wrong,stray,{ONE},{question_name(question_id(secret))}"
    file = write(tmp_path, HEAD + f"{other.replace(ONE, 'c0000000000000002')}\n{other}\n{STRAY}\n")
    before = read_reviewed(file)
    assert (before.wrong, len(before.strays)) == ((), 3)
    erase_from_file(file, erasure_of([secret], [], None), dry_run=False)
    after = read_reviewed(file)
    assert (after.wrong, after.strays) == ((), ((ONE, "q0000000000000009"),))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("verdict,question\nright,a\n", "cluster_id"),
        (HEAD + "wrong,several,p1,\n", "row 1: 'p1' is no name"),
        (HEAD + f"wrong,stray,{ONE},7\n", "row 1: '7' is no name"),
        (HEAD + f"maybe,,{ONE},\n", "verdict 'maybe' is unknown"),
        (HEAD + f"right,,{ONE},\nwrong,,{ONE},\n", f"rows 1 and 2 contradict each other about {ONE}: right, wrong"),
        (HEAD + f"{STRAY}\nwrong,several,{ONE},\n", "rows 1 and 2 contradict .*: stray, wrong. Keep one of them"),
        (HEAD + f"wrong,right,{ONE},\n", "row 1: verdict 'wrong' and judged 'right' contradict each other"),
    ],
    ids=["column", "cluster", "stray", "verdict", "two verdicts", "two kinds", "two columns"],
)
def test_a_file_that_is_no_export_is_refused(tmp_path, text, words):
    with pytest.raises(QprError, match=words):
        read_reviewed(write(tmp_path, text))


def clusters(url):
    rows = open_dataset(str(url)).table("clusters").to_pylist()
    return {row["cluster_id"]: sorted(row["texts"]) for row in rows}


def test_wrong_clusters_and_strays_stay_out_of_the_next_build(qpr, write_jsonl, tmp_path, monkeypatch):
    verbs = ("do", "can", "should", "may")
    rows = [
        {"question": f"how {verb} I pay my {thing}", "answer": f"in the {thing} app"}
        for thing in ("bill", "rent", "fine", "fee", "loan", "tax")
        for verb in verbs
    ]
    logs = write_jsonl("logs.jsonl", rows)
    assert qpr("clusters", logs, "--output", tmp_path / "one", "--quiet").code == 0
    before = clusters(tmp_path / "one")
    assert len(before) >= 4
    source = ("--dataset", tmp_path / "one", "--database", tmp_path / "review.db", "--reviewer", "Ada")
    monkeypatch.setattr(sys, "stdin", io.StringIO("ms1\n" + "r" * 20))
    assert qpr("review", *source).code == 0
    assert qpr("review", *source, "--export", tmp_path / "verdicts.csv").code == 0
    judged = {row["judged"]: row for row in csv.DictReader((tmp_path / "verdicts.csv").open())}
    ids = {kind: int(judged[kind]["cluster_id"][1:], 16) for kind in ("several", "stray")}
    ids = {kind: number - 2**64 if number >= 2**63 else number for kind, number in ids.items()}
    again = ("--output", tmp_path / "two", "--verdicts", tmp_path / "verdicts.csv", "--json", "--quiet")
    outcome = qpr("clusters", logs, *again)
    assert outcome.code == 0, outcome.err
    after = clusters(tmp_path / "two")
    assert ids["several"] not in after
    assert after.keys() == before.keys() - {ids["several"]}
    assert set(after[ids["stray"]]) < set(before[ids["stray"]])
    assert len(after[ids["stray"]]) == len(before[ids["stray"]]) - 1
    others = before.keys() - set(ids.values())
    assert {number: after[number] for number in others} == {number: before[number] for number in others}
    counters = json.loads(outcome.out)["counters"]
    assert counters["rejected_review_wrong_cluster"] == len(before[ids["several"]])
    assert counters["rejected_review_stray"] == 1
    kept = sum(counters.get(f"members_{split}", 0) for split in ("train", "validation", "test"))
    assert counters["members"] == kept + counters["members_rejected"]
    manifest = open_dataset(str(tmp_path / "two")).manifest
    assert manifest.configuration["assembly"]["reviewed"]["wrong"] == [judged["several"]["cluster_id"]]
    order = f"0:{manifest.configuration['assembly']['reviewed']['verdicts']}"
    queue = ClusterQueue(open_dataset(str(tmp_path / "two")), 0)
    expected = [cluster_name(number) for number in sorted(after, key=lambda number: hash64(f"{order}:{number}"))]
    assert [queue.item(place).name for place in range(len(after))] == expected
