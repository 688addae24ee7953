"""Changes of an index: additions, deletions, compaction."""

import json
import shutil

import numpy as np
import pytest

from jobs.workflows.sizing import probe_tuning
from model.index import codes_files
from model.index.segments import builder
from model.search.opening import open_index
from model.search.searcher import open_searcher
from schemas.artifacts.manifest import read_manifest, read_verified
from schemas.text import question_id
from tests.support.csv_files import write_csv

ROWS = [{"question": f"how do I pay bill number {n}", "answer": f"Bill {n} is paid"} for n in range(40)]
MORE = [{"question": f"cancel flight number {n}", "answer": f"Flight {n} is cancelled"} for n in range(30)]


@pytest.fixture
def place(folder, tmp_path, make_model, qpr):
    if not (folder / "index").exists():
        make_model(folder / "model")
        build(qpr, folder / "model", ROWS, folder / "index")
    shutil.copytree(folder, tmp_path, dirs_exist_ok=True)
    return tmp_path


def build(qpr, model, rows, index, *options):
    given = ("--questions", write_csv(index.with_suffix(".csv"), rows), "--model", model, "--shards", 3, *options)
    done = qpr("index", *given, "--output", index)
    assert done.code == 0, done.err
    return read_manifest(str(index))


def change(qpr, index, *arguments):
    done = qpr("index", "--output", index, *arguments, "--json")
    assert done.code == 0, done.err
    return json.loads(done.out)


def stored(url):
    index = open_index(str(url))
    rows = index.questions(index.live_rows(np.arange(len(index)))).to_pylist()
    assert len({row["question_id"] for row in rows}) == len(rows) == len(index)
    return {row["question_id"]: (row["text"], row["answer"]) for row in rows}


def check_equal(changed, rebuilt):
    assert stored(changed) == stored(rebuilt)
    asked = ["pay bill number 3", "cancel flight", "bill number 7", "cancel flight number 21"]
    for mode in ("exact", "dense", "bm25", "fusion"):
        one, two = (open_searcher(str(url), mode=mode, exact=True) for url in (changed, rebuilt))
        assert one.rank(asked, 12).ids.tolist() == two.rank(asked, 12).ids.tolist()
        assert [hit.text for hit in one.search(asked[0], 5)] == [hit.text for hit in two.search(asked[0], 5)]


def test_added_replaced_and_deleted_questions_are_found_as_in_a_rebuild(place, qpr):
    index = place / "index"
    new = write_csv(
        place / "new.csv",
        [
            {"question": "cancel my flight", "answer": "Done"},
            {"question": "How do I pay bill number 3?", "answer": "Otherwise"},
            {"question": "how do I pay bill number 4", "answer": "Bill 4 is paid"},
            {"question": "???", "answer": "Nothing"},
        ],
    )
    old = write_csv(place / "old.csv", [{"question": "How do I pay bill number 7"}, {"question": "who is he"}])
    before = read_manifest(str(index))
    done = qpr("index", "--output", index, "--add", new, "--delete", old, "--json")
    assert done.code == 0, done.err
    result = json.loads(done.out)
    assert result["counters"] == {
        "questions_read": 4,
        "questions_added": 1,
        "questions_replaced": 1,
        "questions_unchanged": 1,
        "questions_merged": 0,
        "questions_rejected": 1,
        "rejected_validate_no_word": 1,
        "deletions_read": 2,
        "questions_deleted": 1,
        "deletions_unknown": 1,
        "deletions_repeated": 0,
        "deletions_unreadable": 0,
    }
    assert (result["questions"], result["segments"]) == (40, 2)
    assert "not in the index, so not deleted: 1 question" in done.err
    kept = [row for n, row in enumerate(ROWS) if n not in (3, 7)]
    live = [
        *kept,
        {"question": "cancel my flight", "answer": "Done"},
        {"question": "How do I pay bill number 3?", "answer": "Otherwise"},
    ]
    fresh = build(qpr, place / "model", live, place / "rebuilt")
    check_equal(index, place / "rebuilt")
    assert read_manifest(str(index)).digest == result["digest"] != before.digest
    assert change(qpr, index, "--compact")["digest"] == fresh.digest
    check_equal(index, place / "rebuilt")
    assert {file.path.partition("/")[0] for file in before.files} & set(map(str, index.iterdir())) == set()


@pytest.mark.parametrize("factory", ["IVF1,PQ4x4fs,RFlat", "HNSW2,SQ8,RFlat"])
def test_a_large_segment_has_codes_like_the_first_one(place, qpr, monkeypatch, factory):
    monkeypatch.setattr(codes_files, "FLAT_SEGMENT_BELOW", 20)
    coded = ("--factory", factory, "--probes", 1)
    index = place / "coded"
    build(qpr, place / "model", ROWS, index, *coded)
    change(qpr, index, "--add", write_csv(place / "more.csv", MORE))
    change(qpr, index, "--add", write_csv(place / "few.csv", [{"question": "pay my bill"}]))
    opened = open_index(str(index))
    assert [len(codes.shard) for codes in opened.codes] == [len(ROWS), len(MORE)]
    assert [(codes.first, codes.stop) for codes in opened.codes] == [(0, 3), (3, 4)]
    assert [shard.lists for shard in opened.shards] == [0] * 5
    fresh = build(qpr, place / "model", [*ROWS, *MORE, {"question": "pay my bill"}], place / "rebuilt", *coded)
    check_equal(index, place / "rebuilt")
    assert change(qpr, index, "--compact")["digest"] == fresh.digest
    [codes] = open_index(str(index)).codes
    assert len(codes.shard) == len(ROWS) + len(MORE) + 1


def test_a_large_segment_has_the_lists_of_the_first_and_compaction_trains_them_again(place, qpr, monkeypatch):
    monkeypatch.setattr(builder, "FLAT_SEGMENT_BELOW", 20)
    lists = ("--factory", "IVF1,Flat", "--probes", 1)
    index = place / "lists"
    build(qpr, place / "model", ROWS, index, *lists)
    change(qpr, index, "--add", write_csv(place / "more.csv", MORE))
    change(qpr, index, "--add", write_csv(place / "few.csv", [{"question": "pay my bill"}]))
    assert [shard.lists for shard in open_index(str(index)).shards] == [1, 1, 1, 1, 0]
    fresh = build(qpr, place / "model", [*ROWS, *MORE, {"question": "pay my bill"}], place / "rebuilt", *lists)
    check_equal(index, place / "rebuilt")
    assert change(qpr, index, "--compact")["digest"] == fresh.digest


def test_the_recall_of_lists_is_measured_after_each_addition_and_its_fall_advises_compaction(place, qpr, monkeypatch):
    monkeypatch.setattr(builder, "FLAT_SEGMENT_BELOW", 20)
    index = place / "lists"
    build(qpr, place / "model", ROWS, index, "--factory", "IVF1,Flat", "--probes", 1)
    change(qpr, index, "--add", write_csv(place / "more.csv", MORE))
    recall = open_index(str(index)).settings.recall
    assert (recall.at_10, recall.present_at_10) == (1, 1)
    monkeypatch.setattr(probe_tuning, "recall_of", lambda *_: 0.98)
    added = change(qpr, index, "--add", write_csv(place / "few.csv", [{"question": "pay my bill"}]))
    [reason] = added["compaction_advised"]
    assert reason.startswith("its recall@10 is 0.9800, 1.0000 when it was built")
    deleted = change(qpr, index, "--delete", write_csv(place / "gone.csv", [{"question": "pay my bill"}]))
    assert deleted["compaction_advised"] == [reason]
    assert change(qpr, index, "--compact")["compaction_advised"] == []
    assert open_index(str(index)).settings.recall.present_at_10 is None


def test_compaction_keeps_the_options_of_the_build_unless_others_are_given(place, qpr):
    index = place / "lists"
    build(qpr, place / "model", ROWS, index, "--factory", "IVF1,Flat", "--probes", 1)
    change(qpr, index, "--delete", write_csv(place / "gone.csv", ROWS[:1]))
    assert change(qpr, index, "--compact")["deleted_share"] == 0
    kept = read_manifest(str(index)).configuration
    assert (kept["factory"], kept["probes"], kept["shards"]) == ("IVF1,Flat", 1, 3)
    assert "target" not in kept["recall"]  # no recall has chosen the lists
    change(qpr, index, "--compact", "--memory-mb", 9_000)
    assert read_manifest(str(index)).configuration["factory"] == "Flat"  # the most exact one
    change(qpr, index, "--compact", "--memory-mb", 9_000, "--factory", "IVF1,SQ8", "--recall", 0.5)
    by_recall = read_manifest(str(index)).configuration
    assert (by_recall["factory"], by_recall["recall"]["target"]) == ("IVF1,SQ8", 0.5)
    change(qpr, index, "--add", write_csv(place / "more.csv", MORE))
    change(qpr, index, "--compact")
    assert read_manifest(str(index)).configuration["recall"]["target"] == 0.5


def test_a_changed_index_can_be_moved_and_equal_changes_give_equal_bytes(place, qpr):
    shutil.copytree(place / "index", place / "other")
    more, gone = write_csv(place / "more.csv", MORE), write_csv(place / "gone.csv", ROWS[:5])
    digests = [
        [change(qpr, place / name, "--add", more)["digest"], change(qpr, place / name, "--delete", gone)["digest"]]
        for name in ("index", "other")
    ]
    assert digests[0] == digests[1]
    expected = stored(place / "index")
    (place / "index").rename(place / "moved")
    assert stored(place / "moved") == expected
    manifest = read_manifest(str(place / "moved"), "index")
    assert all(read_verified(str(place / "moved"), file) is not None for file in manifest.files)
    assert (
        change(qpr, place / "moved", "--add", write_csv(place / "one.csv", [{"question": "who is he"}]))["segments"]
        == 3
    )


@pytest.mark.parametrize("column", ["question_id", "question", "text"])
def test_questions_are_deleted_by_id_or_by_text(place, qpr, column):
    texts = ["How do I pay bill number 1?!", "how do I pay bill number 1", "who is he"]
    rows = [{column: question_id(text) if column == "question_id" else text} for text in texts]
    rows.append({column: "" if column == "question_id" else "?!"})
    counters = change(qpr, place / "index", "--delete", write_csv(place / "gone.csv", rows))["counters"]
    assert counters == {
        "deletions_read": 4,
        "questions_deleted": 1,
        "deletions_unknown": 1,
        "deletions_repeated": 1,
        "deletions_unreadable": 1,
    }
    assert question_id("how do I pay bill number 1") not in stored(place / "index")
    assert len(stored(place / "index")) == 39


def test_unreadable_rows_of_deletions_are_a_warning_and_nothing_else_an_error(place, qpr):
    index = place / "index"
    some = write_csv(place / "some.csv", [{"question_id": cell} for cell in (1, "abc", 2, "1.5")])
    done = qpr("index", "--output", index, "--delete", some)
    assert (done.code, "warning: --delete: 2 rows without a question or a 64-bit integer" in done.err) == (0, True)
    before = (index / "manifest.json").read_bytes()
    for rows in ([{"question_id": "abc"}], [{"question": "?!"}, {"question": ""}]):
        wrong = write_csv(place / "wrong.csv", rows)
        done = qpr("index", "--output", index, "--delete", some, "--delete", wrong)
        assert (done.code, f"{wrong}: none of {len(rows)} row" in done.err) == (1, True), done.err
        assert (index / "manifest.json").read_bytes() == before


def test_a_deleted_question_can_be_added_again_and_one_in_both_files_is_there(place, qpr):
    one, index = write_csv(place / "one.csv", ROWS[:1]), place / "index"
    change(qpr, index, "--delete", one)
    assert change(qpr, index, "--add", one)["counters"]["questions_added"] == 1
    both = change(qpr, index, "--add", one, "--delete", one)
    assert (both["counters"]["questions_added"], both["counters"]["questions_deleted"]) == (1, 1)
    assert both["deleted_share"] == round(2 / 42, 4)
    assert stored(index) == stored(place / "index")
    assert len(stored(index)) == 40


@pytest.mark.parametrize(
    ("rows", "option", "note"),
    [
        (ROWS[:3], "--add", "in the index already, with equal columns: 3 questions"),
        ([{"question": "who is he"}], "--delete", "not in the index, so not deleted: 1 question"),
    ],
)
def test_a_change_of_nothing_leaves_the_version_as_it_is(place, qpr, rows, option, note):
    before = (place / "index" / "manifest.json").read_bytes()
    done = qpr("index", "--output", place / "index", option, write_csv(place / "rows.csv", rows), "--json")
    assert done.code == 0
    assert note in done.err
    assert "nothing to change, so its version stays" in done.err
    assert json.loads(done.out)["digest"] == read_manifest(str(place / "index")).digest
    assert (place / "index" / "manifest.json").read_bytes() == before
    assert len([path for path in (place / "index").iterdir() if path.is_dir()]) == 1


def test_an_index_of_one_segment_is_not_compacted(place, qpr):
    before = (place / "index" / "manifest.json").read_bytes()
    done = qpr("index", "--output", place / "index", "--compact")
    assert done.code == 0
    assert "has one segment and no deleted rows, so its version stays" in done.err
    assert (place / "index" / "manifest.json").read_bytes() == before
    assert len([path for path in (place / "index").iterdir() if path.is_dir()]) == 1


def test_deleting_everything_is_refused(place, qpr):
    before = (place / "index" / "manifest.json").read_bytes()
    done = qpr("index", "--output", place / "index", "--delete", place / "index.csv")
    assert done.code == 1
    assert "nothing would be left of 40 questions. Remove the folder" in done.err
    assert (place / "index" / "manifest.json").read_bytes() == before
    assert sorted(path.name for path in (place / "index").iterdir() if path.is_dir()) == [
        read_manifest(str(place / "index")).run_id
    ]


def test_compaction_is_advised_when_a_fifth_is_deleted_and_after_eight_segments(place, qpr):
    index = place / "index"
    gone = change(qpr, index, "--delete", write_csv(place / "gone.csv", ROWS[:8]))
    assert gone["compaction_advised"] == ["20 % of the rows are deleted"]
    for number in range(7):
        added = change(qpr, index, "--add", write_csv(place / "one.csv", MORE[number : number + 1]))
    assert added["compaction_advised"] == []
    shown = qpr("index", "--output", index, "--add", write_csv(place / "one.csv", MORE[7:8]))
    assert f"Advice: it has 9 segments. Run: qpr index --output {index} --compact" in shown.err


@pytest.mark.parametrize(
    ("arguments", "code", "fault"),
    [
        (
            ("--add", "{more}", "--questions", "{more}"),
            2,
            "--questions: is of a new index and cannot be given with --add",
        ),
        (("--add", "{more}", "--model", "{model}"), 2, "--model: is of a new index and cannot be given with --add"),
        (("--compact", "--overwrite"), 2, "--overwrite: is of a new index and cannot be given with --compact"),
        (("--compact", "--add", "{more}"), 2, "--compact: cannot be given with --add"),
        (("--add", "{more}", "--factory", "Flat"), 2, "--factory: cannot be given with --add"),
        (("--delete", "{more}", "--no-bm25"), 2, "--bm25: cannot be given with --delete"),
        (("--compact", "--column", "question=q"), 2, "--column: cannot be given with --compact"),
        ((), 2, "--questions is missing: a new index needs --questions and --model"),
        (("--questions", "{more}"), 2, "--model is missing"),
        (("--add", "{more}", "--add", "{more}"), 2, "--add: a file is given twice"),
        (("--delete", "{odd}"), 1, "or text; there are x, y. Add --column question=NAME"),
        (("--add", "{odd}"), 1, "odd.csv: no column question"),
        (("--add", "{empty}"), 1, "--add: no question with a word to add (2 no_word)"),
        (("--add", "{missing}"), 1, "missing.csv"),
        (("--delete", "{missing}"), 1, "missing.csv"),
        (("--compact", "--factory", "IVF9,Flat"), 1, "needs 351 questions to train on, there are"),
        (("--compact", "--preset", "paper"), 1, "IVF2000,Flat: needs 78,000 questions to train on, there are"),
        (("--compact", "--memory-mb", "50"), 1, "--memory-mb 50: an index of 39 questions of dimension"),
    ],
)
def test_wrong_options_and_files_are_refused_in_one_line(place, qpr, arguments, code, fault):
    change(qpr, place / "index", "--delete", write_csv(place / "gone.csv", ROWS[:1]))
    write_csv(place / "more.csv", MORE)
    write_csv(place / "odd.csv", [{"x": 1, "y": 2}])
    write_csv(place / "empty.csv", [{"question": "???"}, {"question": "..."}])
    before = (place / "index" / "manifest.json").read_bytes()
    given = {name: place / f"{name}.csv" for name in ("more", "odd", "empty", "missing")} | {"model": place / "model"}
    done = qpr("index", "--output", place / "index", *(argument.format(**given) for argument in arguments))
    assert (done.code, fault in done.err) == (code, True), done.err
    assert (place / "index" / "manifest.json").read_bytes() == before


def test_what_is_no_index_cannot_be_changed(place, qpr):
    more = write_csv(place / "more.csv", MORE)
    missing = qpr("index", "--output", place / "nowhere", "--add", more)
    assert (missing.code, "nowhere: not an index: it does not exist" in missing.err) == (1, True)
    assert not (place / "nowhere").exists()
    model = qpr("index", "--output", place / "model", "--add", more)
    assert (model.code, "holds a model, not an index" in model.err) == (1, True)


def test_a_damaged_index_is_not_changed(place, qpr):
    [table] = (place / "index").glob("*/ids/00001*")
    table.write_bytes(table.read_bytes()[:-1] + b"x")
    done = qpr("index", "--output", place / "index", "--delete", write_csv(place / "gone.csv", ROWS[:1]))
    assert (done.code, "00001-of-00003.arrow: does not match the manifest's sha256" in done.err) == (1, True)


def test_damaged_tombstones_are_noticed(place, qpr):
    change(qpr, place / "index", "--delete", write_csv(place / "gone.csv", ROWS[:3]))
    [file] = (place / "index").glob("*/tombstones.bin")
    file.write_bytes(bytes([file.read_bytes()[0] ^ 1]) + file.read_bytes()[1:])
    done = qpr("search", "--index", place / "index", "bill")
    assert (done.code, "tombstones.bin: does not match the manifest's sha256" in done.err) == (1, True)
