import csv
import json
import pathlib
import tempfile

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jobs.review.exchange import export_verdicts
from jobs.review.opinions import is_shared, opinions, outcome
from jobs.review.queues.interface import STRAY, UNCLEAR, VERDICTS
from jobs.review.session import Review
from jobs.review.store import VerdictStore
from jobs.review.tally import tally
from schemas.errors import QprError
from tests.support.csv_files import write_csv
from tests.support.fake_queue import FakeQueue
from tests.support.merged_verdicts import merge_file

QUEUE = FakeQueue(6)

TEXT = st.one_of(
    st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\0"), max_size=20),
    st.text("'=+-@\t\r\n1", max_size=4),
)

STEPS = st.lists(
    st.tuples(
        st.integers(0, 5),
        st.sampled_from(["Ada", "=cmd|calc", "'@Eve"]),
        st.sampled_from([*VERDICTS["clusters"].values(), "undo"]),
        TEXT,
    ),
    max_size=12,
)


def judge(store, steps, queue=QUEUE):
    review = Review(queue, store)
    for place, person, verdict, note in steps:
        if verdict == "undo":
            store.undo(person, session="s")
        else:
            strays = [queue.items[place].lines[0].name] if verdict == STRAY else []
            review.judge(queue.items[place].name, verdict, reviewer=person, strays=strays, note=note)


def found(store):
    return set(store.verdicts()), set(store.undone())


def outcomes(store):
    grouped = opinions(store.verdicts())
    return {item: outcome(people, shared=is_shared(item, 0)).verdict for item, people in grouped.items()}


def exported(store, folder, ending, queue=QUEUE):
    """Return the name of an exported file; Parquet is made of the rows of JSON Lines."""
    written = str(folder / f"verdicts.{'jsonl' if ending == 'parquet' else ending}")
    export_verdicts(store, queue, written, overwrite=True)
    if ending != "parquet" or not pathlib.Path(written).read_text():
        return written
    rows = [json.loads(line) for line in pathlib.Path(written).read_text().splitlines()]
    pq.write_table(pa.Table.from_pylist(rows), folder / "verdicts.parquet")
    return str(folder / "verdicts.parquet")


@settings(deadline=None, max_examples=40)
@given(steps=STEPS.filter(bool), ending=st.sampled_from(["csv", "jsonl", "parquet"]))
def test_a_database_that_merges_its_own_export_stays_as_it_is(steps, ending):
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        with (
            VerdictStore(f"{name}/one.db", QUEUE.source) as one,
            VerdictStore(f"{name}/new.db", QUEUE.source) as new,
        ):
            judge(one, steps)
            if not one.verdicts():
                return
            before, file = found(one), exported(one, folder, ending)
            assert merge_file(one, QUEUE, file) == 0
            assert found(one) == before
            assert merge_file(new, QUEUE, file) == len(outcomes(one))
            assert merge_file(new, QUEUE, file) == 0
            assert outcomes(new) == outcomes(one)
            assert set(new.verdicts()) <= set(one.verdicts())
            assert merge_file(one, QUEUE, f"{name}/new.db") == 0
            assert merge_file(new, QUEUE, f"{name}/one.db") == len(one.all_verdicts()) - len(outcomes(one))
            assert found(new) == before


@settings(deadline=None, max_examples=40)
@given(mine=STEPS, theirs=STEPS, shared=STEPS)
def test_two_databases_are_merged_to_the_same_set_in_both_directions(mine, theirs, shared):
    with (
        tempfile.TemporaryDirectory() as name,
        VerdictStore(f"{name}/one.db", QUEUE.source) as one,
        VerdictStore(f"{name}/other.db", QUEUE.source) as other,
    ):
        judge(one, shared)
        merge_file(other, QUEUE, f"{name}/one.db")
        judge(one, mine)
        judge(other, theirs)
        merge_file(one, QUEUE, f"{name}/other.db")
        merge_file(other, QUEUE, f"{name}/one.db")
        assert found(one) == found(other)
        assert (one.places(), one.all_verdicts()) == (other.places(), other.all_verdicts())
        assert merge_file(one, QUEUE, f"{name}/other.db") == 0


@pytest.fixture
def store(tmp_path):
    with VerdictStore(str(tmp_path / "review.db"), QUEUE.source) as opened:
        yield opened


def write(tmp_path, *rows):
    (tmp_path / "hand.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return str(tmp_path / "hand.jsonl")


def test_rows_without_a_name_are_known_by_item_person_verdict_and_time(store, tmp_path):
    judge(store, [(0, "Ada", "right", ""), (1, "Ada", "right", "")])
    [first, second] = store.verdicts()
    rows = [
        {"verdict": "right", "cluster_id": "i0", "labeller": "Ada", "judged_at": first.judged_at},
        {"verdict": "right", "cluster_id": "i1", "labeller": "Ada"},
        {"verdict": "right", "cluster_id": "i1", "labeller": "Bob", "judged_at": second.judged_at},
    ]
    assert merge_file(store, QUEUE, write(tmp_path, *rows)) == 1
    assert sorted(one.reviewer for one in store.verdicts()) == ["Ada", "Ada", "Bob"]


def test_spellings_of_a_name_in_a_file_are_one_person(store, tmp_path):
    judge(store, [(0, "Ada", "right", "")])
    [first] = store.verdicts()
    rows = [
        row("right", person=" ADA", cluster="i0"),
        row("right", person="ada", cluster="i0", judged_at=first.judged_at),
    ]
    assert merge_file(store, QUEUE, write(tmp_path, *rows)) == 0
    with pytest.raises(QprError, match="rows 1 and 2 contradict each other about i0 by Ada"):
        merge_file(
            store, QUEUE, write(tmp_path, row("right", cluster="i0"), row("several", person="ADA", cluster="i0"))
        )
    with pytest.raises(QprError, match=r"row 1: labeller '\\x07': .* control characters"):
        merge_file(store, QUEUE, write(tmp_path, row("right", person="\a")))


def test_an_undone_verdict_of_an_earlier_export_stays_undone(store, tmp_path):
    judge(store, [(0, "Ada", "right", "")])
    file = exported(store, tmp_path, "csv")
    store.undo("Ada", session="s")
    assert merge_file(store, QUEUE, file) == 0
    assert store.verdicts() == []


def test_a_verdict_that_was_edited_in_an_export_is_not_lost_in_silence(store, tmp_path):
    judge(store, [(0, "Ada", "right", "")])
    file = exported(store, tmp_path, "csv")
    text = pathlib.Path(file).read_text().replace('"right"', '"several"')
    pathlib.Path(file).write_text(text)
    with pytest.raises(QprError, match=r"row 1: verdict_id '.*' is that of another verdict. Empty this cell"):
        merge_file(store, QUEUE, file)


@pytest.mark.parametrize(
    ("text", "stored"),
    [
        ("2026-11-30", "2026-11-30T00:00:00.000000+00:00"),
        ("2026-11-30T10:00:00+02:00", "2026-11-30T08:00:00.000000+00:00"),
        ("30.11.2026", None),
    ],
)
def test_times_of_a_file_are_stored_in_the_order_of_time(store, tmp_path, text, stored):
    file = write(tmp_path, {"verdict": "right", "cluster_id": "i0", "labeller": "Ada", "judged_at": text})
    if stored is None:
        with pytest.raises(QprError, match=r"row 1: judged_at '30.11.2026' is no time"):
            merge_file(store, QUEUE, file)
    else:
        merge_file(store, QUEUE, file)
        assert [one.judged_at for one in store.verdicts()] == [stored]


def row(verdict, strays="", person="Ada", cluster="i1", **more):
    return {"verdict": "wrong" if strays else verdict, "judged": verdict, "cluster_id": cluster, "labeller": person,
            "strays": strays, **more}  # fmt: skip


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ([row("stray", "zzz junk")], "row 1: stray 'junk' is no wording of i1. Leave it out"),
        ([row("right"), row("stray", "w0-0", cluster="i2")], "row 2: stray 'w0-0' is no wording of i2"),
        ([row("stray")], "row 1: with the verdict stray, and only with it, mark"),
        ([row("stray", "w1-0 w1-1 w1-2")], "row 1: .* not all of them"),
        ([{**row("right"), "strays": "w1-0"}], "row 1: with the verdict stray, and only with it"),
        ([row("right", note="x" * 2001)], "row 1: the note on i1 has more than 2,000"),
        (
            [row("right", cluster="i99")],
            "row 1: 'i99' is no item of this queue. Write its name as `qpr review --export` does",
        ),
        ([row("right", cluster="")], "row 1: cluster_id is empty or missing. Fill it in"),
        ([row("maybe")], r"row 1: verdict 'maybe' is none of right, .*\. Correct it"),
        ([{**row("right"), "verdict": "wrong"}], "row 1: verdict 'wrong' and judged 'right' contradict each other"),
        (
            [row("right"), row("right", person="Bob"), row("wrong")],
            "rows 1 and 3 contradict each other about i1 by Ada: right, wrong. Keep one of them",
        ),
        ([row("stray", "w1-0"), row("stray", "w1-1")], "stray w1-0, stray w1-1"),
        ([row("right", verdict_id="v1"), row("right", verdict_id="v1", person="Bob")], "row 2: verdict_id 'v1'"),
    ],
)
def test_a_row_that_does_not_fit_is_refused_with_its_number_and_nothing_is_stored(store, tmp_path, rows, words):
    with pytest.raises(QprError, match=f"hand.jsonl: .*{words}"):
        merge_file(store, QUEUE, write(tmp_path, *rows))
    assert store.verdicts() == []


def test_of_several_people_the_majority_counts(store, tmp_path):
    rows = [row("right"), row("wrong", person="Bob"), row("right", person="Eve"), row("wrong", cluster="i2")]
    assert merge_file(store, QUEUE, write(tmp_path, *rows)) == 4
    assert outcomes(store) == {"i1": "right", "i2": "wrong"}


@settings(deadline=None, max_examples=20)
@given(
    given=st.lists(
        st.tuples(st.integers(0, 5), st.sampled_from("ABCD"), st.sampled_from(["right", "wrong", "unclear"])),
        unique_by=lambda row: row[:2],
        max_size=16,
    ),
    random=st.randoms(use_true_random=False),
)
def test_statistics_do_not_depend_on_the_order_of_rows_without_a_time(given, random):
    """The first opinion on an item counts otherwise than a second one, which only the times can show."""
    found = []
    for rows in (given, random.sample(given, len(given))):
        with tempfile.TemporaryDirectory() as name, VerdictStore(f"{name}/one.db", QUEUE.source) as one:
            lines = [json.dumps({"cluster_id": f"i{n}", "labeller": who, "verdict": of}) for n, who, of in rows]
            (pathlib.Path(name) / "v.jsonl").write_text("\n".join(lines))
            if lines:
                merge_file(one, QUEUE, f"{name}/v.jsonl")
            counted = tally(one.verdicts(), one.places(), QUEUE.source, claim=0.9, error=0.05)
            found.append((counted, outcomes(one)))
    assert found[0] == found[1]


def test_a_stray_whose_mark_was_erased_is_exported_as_unclear_and_merged_again(store, tmp_path):
    judge(store, [(0, "Ada", STRAY, "")])
    store._connection.execute("UPDATE verdicts SET strays = '[]'")
    file = exported(store, tmp_path, "csv")
    assert merge_file(store, QUEUE, file) == 0
    with VerdictStore(str(tmp_path / "new.db"), QUEUE.source) as new:
        assert merge_file(new, QUEUE, file) == 1
        assert outcomes(new) == {"i0": UNCLEAR}
    [cells] = csv.DictReader(pathlib.Path(file).read_text("utf-8-sig").splitlines())
    assert cells["verdict"] == "unclear"  # so that no question of the cluster is rejected


def test_notes_and_names_are_no_formulas_in_a_spreadsheet(store, tmp_path):
    note = '=HYPERLINK("http://x")'
    judge(store, [(0, "=cmd|calc", "right", note)])
    text = pathlib.Path(exported(store, tmp_path, "csv")).read_text("utf-8-sig")
    [cells] = csv.DictReader(text.splitlines())
    assert (cells["reviewer"], cells["labeller"], cells["note"]) == ("'=cmd|calc", "'=cmd|calc", f"'{note}")
    [line] = pathlib.Path(exported(store, tmp_path, "jsonl")).read_text().splitlines()
    assert json.loads(line)["note"] == note


def test_a_file_of_another_dataset_is_refused_although_its_clusters_have_the_same_ids(tmp_path):
    with VerdictStore(str(tmp_path / "a.db"), FakeQueue(6, digest="d2").source) as other:
        judge(other, [(0, "Ada", "right", ""), (1, "Ada", "right", "")], FakeQueue(6, digest="d2"))
        file = exported(other, tmp_path, "csv", FakeQueue(6, digest="d2"))
    with VerdictStore(str(tmp_path / "b.db"), QUEUE.source) as store:
        with pytest.raises(QprError, match=r"row 1: was judged in another dataset, with digest 'd2', not 'd1'\. Give"):
            merge_file(store, QUEUE, file)
        assert found(store) == (set(), set())
        lines = pathlib.Path(file).read_text("utf-8-sig").splitlines()
        rows = [row | {"dataset": ""} for row in csv.DictReader(lines)]
        write_csv(tmp_path / "by_hand.csv", rows)
        assert merge_file(store, QUEUE, str(tmp_path / "by_hand.csv")) == 2
