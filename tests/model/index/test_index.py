import dataclasses
import shutil

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from model.index import refinement
from model.index.shards import build_shard, train
from model.search import opening
from model.search.opening import open_index
from schemas import tables
from schemas.artifacts.manifest import read_manifest
from schemas.artifacts.table_files import arrow_bytes
from schemas.artifacts.verified_files import files
from schemas.artifacts.verified_files.verification_cache import Stamp
from schemas.errors import QprError, UsageError
from schemas.text import question_id
from tests.faults.damages import sign
from tests.support.commands import run
from tests.support.manifests import edit_manifest

TEXTS = [f"how do I pay bill number {n}" for n in range(300)] + ["cancel my flight", "Cancel my Flight!!", "a b", "c d"]


@pytest.fixture
def place(folder, make_model):
    if not (folder / "ivf").exists():
        make_model(folder / "model")
        make_model(folder / "other", seed=1)
        pq.write_table(pa.table({"text": TEXTS}), folder / "q.parquet")
        given = ("index", "--questions", folder / "q.parquet", "--model", folder / "model", "--shards", 3, "--output")
        assert run(*given, folder / "flat") == 0
        assert run(*given, folder / "ivf", "--factory", "IVF6,Flat", "--probes", 2) == 0
        assert run(*given, folder / "codes", "--factory", "IVF6,PQ4x4fs,RFlat", "--probes", 2) == 0
        assert run(*given, folder / "graph", "--factory", "HNSW4,SQ8,RFlat", "--probes", 2) == 0
    return folder


@pytest.fixture
def copy(place, tmp_path):
    shutil.copytree(place / "flat", tmp_path / "copy")
    return tmp_path / "copy"


@pytest.mark.parametrize("name", ["ivf", "codes", "graph"])
def test_few_rows_without_values_are_all_compared_and_nearly_all_rows_searched_as_before(place, name):
    index = open_index(str(place / name))
    few = index.within([np.arange(len(shard)) % 10 == 0 for shard in index.shards], ())
    exact = dataclasses.replace(few, probes=index.most_probes)
    assert np.array_equal(few.rank(TEXTS, 5).rows, exact.rank(TEXTS, 5).rows)
    assert (few.rank(TEXTS, 5).rows >= 0).all()
    nearly_all = index.within([np.arange(len(shard)) > 0 for shard in index.shards], ())
    assert (index.probes, nearly_all.probes) == (2, 3)


def test_a_question_finds_itself_first_unless_it_is_excluded(place):
    index = open_index(str(place / "flat"))
    texts = ["cancel my flight", "a b"]
    own = [question_id(text) for text in texts]
    hits = index.rank(texts, 3)
    assert hits.ids[:, 0].tolist() == own
    assert hits.scores[:, 0] == pytest.approx(0, abs=1e-6)
    assert (np.diff(hits.scores, axis=1) <= 0).all()
    others = index.rank(texts, 2, exclude=own)
    assert others.ids.tolist() == hits.ids[:, 1:].tolist()


def test_scores_are_negative_squared_distances_of_the_vectors(place):
    index = open_index(str(place / "flat"))
    hits = index.rank(["flight bill"], 5)
    query = index.encoder.encode(["flight bill"])
    found = index.encoder.encode(index.questions(hits.rows[0])["text"])
    assert hits.scores[0] == pytest.approx(-((found - query) ** 2).sum(axis=1), rel=1e-4)


def test_rows_lead_to_the_questions_in_any_order_and_repeated(place):
    index = open_index(str(place / "ivf"))
    hits = index.rank(["pay bill number 7"], 20)
    rows = np.concatenate([hits.rows[0][::-1], hits.rows[0]])
    found = index.questions(rows)
    assert found["question_id"].to_pylist() == hits.ids[0].tolist()[::-1] + hits.ids[0].tolist()
    assert [question_id(text) for text in found["text"].to_pylist()] == found["question_id"].to_pylist()
    assert found["answer"].null_count == len(rows)


def test_texts_of_rows_are_copied_few_at_a_time(place, monkeypatch):
    index = open_index(str(place / "ivf"))
    rows = np.arange(len(index)).repeat(3)[::-1]
    expected = index.questions(rows)
    monkeypatch.setattr(tables, "TAKEN_BYTES", 100)
    found = index.questions(rows)
    assert found["text"].num_chunks > 1
    assert found.equals(expected)


def test_a_text_without_a_word_has_no_hits_and_spares_the_others(place):
    hits = open_index(str(place / "flat")).rank(["", "?!", "a b"], 2)
    assert hits.ids[:2].tolist() == hits.rows[:2].tolist() == [[-1, -1], [-1, -1]]
    assert np.isneginf(hits.scores[:2]).all()
    assert hits.ids[2, 0] == question_id("a b")
    assert open_index(str(place / "flat")).rank([], 2).ids.shape == (0, 2)


@pytest.mark.parametrize(("name", "most"), [("ivf", 6), ("codes", 6), ("graph", 2**16)])
def test_probes_come_from_the_manifest_the_caller_or_all_lists(place, name, most):
    assert open_index(str(place / name)).probes == 2
    assert open_index(str(place / name), probes=3).probes == 3
    assert open_index(str(place / name), exact=True).probes == most
    exact, flat = open_index(str(place / name), exact=True), open_index(str(place / "flat"))
    ours, theirs = exact.rank(TEXTS[::9], 25), flat.rank(TEXTS[::9], 25)
    assert np.array_equal(ours.ids, theirs.ids)
    assert np.array_equal(ours.scores, theirs.scores)


def test_k_and_probes_must_be_positive(place):
    with pytest.raises(UsageError, match="k must be at least 1, got 0"):
        open_index(str(place / "flat")).rank(["a"], 0)
    with pytest.raises(UsageError, match="--probes must be at least 1, got 0"):
        open_index(str(place / "flat"), probes=0)


def test_more_hits_than_questions_are_padded(place):
    hits = open_index(str(place / "flat")).rank(["a b"], 400)
    assert hits.ids.shape == (1, 400)
    assert (hits.rows[0] >= 0).sum() == 303  # 304 texts, two of them the same question


@pytest.mark.parametrize(
    "pattern", ["shards/00000*", "shards/00001*", "ids/00002*", "model/*/weights*", "model/manifest.json"]
)
def test_one_flipped_bit_in_any_file_is_noticed(copy, pattern):
    [file] = copy.glob(f"*/{pattern}")
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 4
    file.write_bytes(content)
    with pytest.raises(QprError, match=rf"{file.name}: does not match the manifest's sha256"):
        open_index(str(copy))


@pytest.fixture
def coded(place, tmp_path):
    shutil.copytree(place / "codes", tmp_path / "coded")
    return tmp_path / "coded"


@pytest.mark.parametrize(("name", "probes", "most"), [("codes", 2, 6), ("graph", 4, 2**16)])
def test_codes_find_neighbours_in_few_probes_at_their_exact_distances(place, monkeypatch, name, probes, most):
    monkeypatch.setattr(refinement, "FEWEST_CANDIDATES", 303)  # most of these questions differ in one digit
    few, exact = open_index(str(place / name), probes=probes), open_index(str(place / name), exact=True)
    found, nearest = few.rank(TEXTS[::3], 10), exact.rank(TEXTS[::3], 303)
    assert np.array_equal(found.scores[:, 0], nearest.scores[:, 0])  # that of the question itself
    for row in range(len(found.rows)):
        scores = dict(zip(nearest.rows[row].tolist(), nearest.scores[row].tolist(), strict=True))
        there = found.rows[row] >= 0
        assert [scores[hit] for hit in found.rows[row, there].tolist()] == found.scores[row, there].tolist()
    assert (found.scores[:, 9] == nearest.scores[:, 9]).mean() > 0.5
    assert few.most_probes == most
    assert [shard.lists for shard in few.shards] == [0, 0, 0]


def test_a_flipped_bit_of_the_codes_is_noticed(coded):
    [file] = coded.glob("*/codes/lists.faiss")
    content = bytearray(file.read_bytes())
    content[-5] ^= 4
    file.write_bytes(content)
    with pytest.raises(QprError, match=r"lists\.faiss: does not match the manifest's sha256"):
        open_index(str(coded))


def test_codes_that_are_missing_or_of_other_shards_are_refused(place, coded, tmp_path):
    [file] = coded.glob("*/codes/lists.faiss")
    whole = file.read_bytes()
    vectors = np.random.default_rng(0).normal(size=(303, 8)).astype(np.float32)
    for factory, count, fault in [
        ("IVF6,PQ4x4fs,RFlat", 302, r"lists\.faiss: holds 302 codes, its shards 303 vectors"),
        (
            "IVF5,PQ4x4fs,RFlat",
            303,
            r"lists\.faiss: does not share the training of .*codes/lists\.faiss and IVF6,PQ4x4fs",
        ),
        ("IVF6,SQ8", 303, r"lists\.faiss: does not share the training of"),
        ("HNSW4,SQ8,RFlat", 303, r"lists\.faiss: does not share the training of"),
    ]:
        file.write_bytes(build_shard(train(factory, vectors), vectors[:count]))
        sign(coded)
        with pytest.raises(QprError, match=fault):
            open_index(str(coded))
    file.write_bytes(whole[:-1])
    sign(coded)
    with pytest.raises(QprError, match=r"lists\.faiss: is no shard of an index: ends at byte"):
        open_index(str(coded))
    edit_manifest(
        coded, lambda manifest: manifest.update(files=[f for f in manifest["files"] if f["table"] != "codes"])
    )
    with pytest.raises(QprError, match=r"coded: holds no codes beside its vectors, but its factory is IVF6"):
        open_index(str(coded))
    shutil.copytree(place / "codes", tmp_path / "flat")
    edit_manifest(tmp_path / "flat", lambda manifest: manifest["configuration"].update(factory="Flat"))
    with pytest.raises(QprError, match=r"flat: holds codes beside its vectors, but its factory is Flat\. Build"):
        open_index(str(tmp_path / "flat"))


FILES = ["shards/00000*", "shards/00002*", "ids/00001*", "model/*/weights*", "model/*/config*", "model/manifest.json"]


@pytest.mark.parametrize("pattern", FILES)
def test_a_flipped_bit_that_no_time_betrays_is_noticed_on_request(copy, pattern, monkeypatch):
    monkeypatch.setattr(files, "SETTLED_NS", 0)
    monkeypatch.setattr(Stamp, "of", lambda found: Stamp(found.st_size, 0, 0, found.st_ino, 0))
    expected = open_index(str(copy)).rank(["a b"], 5)
    [file] = copy.glob(f"*/{pattern}")
    content = file.read_bytes()
    with file.open("r+b") as opened:
        opened.seek(len(content) // 2)
        opened.write(bytes([content[len(content) // 2] ^ 1]))
    with pytest.raises(QprError, match=rf"{file.name}: does not match the manifest's sha256"):
        open_index(str(copy), verify=True)
    file.write_bytes(content)
    assert np.array_equal(open_index(str(copy)).rank(["a b"], 5).scores, expected.scores)


def test_an_index_that_was_opened_before_is_opened_without_reading_vectors(copy, monkeypatch):
    monkeypatch.setattr(files, "SETTLED_NS", 0)
    first = open_index(str(copy)).rank(TEXTS, 5)
    for function in ("layout_of", "check_ids"):
        monkeypatch.setattr(opening, function, lambda *_: pytest.fail("checked again"))
    monkeypatch.setattr(files, "_sha256", lambda _: pytest.fail("digest computed again"))
    again = open_index(str(copy))
    assert np.array_equal(again.rank(TEXTS, 5).ids, first.ids)
    with pytest.raises(pytest.fail.Exception, match="digest computed again"):
        open_index(str(copy), verify=True)


def test_records_are_the_rows_of_questions(place):
    index = open_index(str(place / "ivf"))
    rows = np.array([302, 0, 150, 150, 7])
    assert index.records(rows) == index.questions(rows).to_pylist()
    assert [record["text"] for record in index.records(np.arange(303))] == index.questions(np.arange(303))[
        "text"
    ].to_pylist()
    assert index.records(rows[:0]) == []
    assert len(index.questions(rows[:0])) == 0


@pytest.mark.parametrize("name", ["flat", "codes", "graph"])
def test_vectors_of_rows_are_those_of_their_texts_to_the_last_bit(place, name):
    index = open_index(str(place / name))
    rows = np.array([302, 0, 150, 150, 7])
    encoded = index.encoder.encode(index.questions(rows)["text"])
    assert index.vectors_of(rows).tobytes() == encoded.tobytes()
    assert index.vectors_of(rows[:0]).shape == (0, index.settings.dimension)
    asked = ["how do i pay", "?", TEXTS[5]]
    found = index.rank(asked, 5, vectors=index.encoder.encode(asked))
    again = index.rank(asked, 5)
    assert np.array_equal(found.ids, again.ids)
    assert np.array_equal(found.scores, again.scores)


def test_lists_hold_their_vectors_out_of_order_so_that_they_are_not_read(place):
    assert open_index(str(place / "ivf")).vectors_of(np.array([1])) is None


def test_an_index_with_parquet_ids_of_an_older_release_is_read(copy):
    expected = open_index(str(copy))
    for path in copy.glob("*/ids/*"):
        table = pa.ipc.open_file(path.read_bytes()).read_all()
        path.unlink()
        pq.write_table(table, path.with_suffix(".parquet"), compression="zstd")

    def rename(manifest):
        for file in manifest["files"]:
            file["path"] = file["path"].replace(".arrow", ".parquet")

    edit_manifest(copy, rename)
    sign(copy)
    found = open_index(str(copy))
    assert np.array_equal(found.rank(TEXTS, 5).ids, expected.rank(TEXTS, 5).ids)
    assert found.questions([5, 200]).equals(expected.questions([5, 200]))


@pytest.mark.parametrize("pattern", ["shards/00000*", "ids/00001*", "model/*/vocabulary.txt"])
def test_a_missing_file_is_named(copy, pattern):
    [file] = copy.glob(f"*/{pattern}")
    file.unlink()
    with pytest.raises(QprError, match=rf"{file.name}: is gone, though the manifest lists it"):
        open_index(str(copy))


def test_a_shard_missing_from_the_manifest_is_noticed(copy):
    edit_manifest(
        copy, lambda manifest: manifest.update(files=[f for f in manifest["files"] if "00001-of" not in f["path"]])
    )
    with pytest.raises(QprError, match=r"vectors and .* in 2 shards, the manifest lists 303\. Build"):
        open_index(str(copy))


def test_no_shard_at_all_is_noticed(copy):
    edit_manifest(copy, lambda manifest: manifest.update(files=[f for f in manifest["files"] if f["table"] == "model"]))
    with pytest.raises(QprError, match="0 vectors and 0 questions in 0 shards"):
        open_index(str(copy))


def test_another_model_inside_the_index_is_noticed(place, copy):
    other = read_manifest(str(place / "other")).digest
    edit_manifest(copy, lambda manifest: manifest["configuration"].update(model_digest=other))
    with pytest.raises(QprError, match=rf"holds model \w+, its questions were encoded by {other[:12]}"):
        open_index(str(copy))


def test_a_model_that_the_index_does_not_list_is_not_followed(place, copy):
    def forget(manifest):
        manifest.update(files=[file for file in manifest["files"] if "/model/" not in file["path"]])

    edit_manifest(copy, forget)
    [folder] = copy.glob("*/model")
    folder.rename(copy.parent / "outside")
    folder.symlink_to(copy.parent / "outside")
    with pytest.raises(QprError, match=r"copy/manifest\.json: lists no model/manifest\.json\. Build the index again"):
        open_index(str(copy))


@pytest.mark.parametrize("address", ["http://elsewhere/model", "model", "../model"])
def test_an_index_leads_to_no_model_but_one_of_sentence_transformers(copy, address):
    edit_manifest(copy, lambda manifest: manifest["configuration"].update(model_url=address))
    with pytest.raises(QprError, match=r"manifest\.json: configuration: model_url: String should match"):
        open_index(str(copy))


@pytest.fixture
def lists(place, tmp_path):
    shutil.copytree(place / "ivf", tmp_path / "lists")
    return tmp_path / "lists"


def swap(url, one, two):
    first, second = next(url.glob(f"*/{one}")), next(url.glob(f"*/{two}"))
    content = first.read_bytes()
    first.write_bytes(second.read_bytes())
    second.write_bytes(content)
    sign(url)


def test_shards_on_other_centroids_are_refused(lists):
    vectors = np.random.default_rng(0).normal(size=(300, 8)).astype(np.float32)
    [path] = lists.glob("*/shards/00001*")
    path.write_bytes(build_shard(train("IVF6,Flat", vectors), vectors[: len(open_index(str(lists)).shards[1])]))
    sign(lists)
    with pytest.raises(QprError, match=r"shards/00001.*: does not share the lists of .*shards/00000.* and IVF6,Flat"):
        open_index(str(lists))


def test_shards_and_id_tables_that_belong_to_others_are_refused(lists):
    swap(lists, "shards/00000*", "shards/00001*")
    with pytest.raises(QprError, match=r"holds 303 vectors and 303 questions in "):
        open_index(str(lists))


def test_a_shard_of_another_number_than_its_id_table_is_refused(lists):
    def rename(manifest):
        [file] = [file for file in manifest["files"] if "shards/00002" in file["path"]]
        (lists / file["path"]).rename(lists / file["path"].replace("00002", "00009"))
        file["path"] = file["path"].replace("00002", "00009")

    edit_manifest(lists, rename)
    with pytest.raises(QprError, match=r"shards/00009.*: stands where the shard of .*ids/00002.* is expected"):
        open_index(str(lists))


def test_a_question_in_two_shards_is_refused(copy):
    tables = [next(copy.glob(f"*/ids/0000{n}*")) for n in (0, 1)]
    first, second = (pa.ipc.open_file(table.read_bytes()).read_all() for table in tables)
    ids = sorted([first["question_id"][0].as_py(), *second["question_id"].to_pylist()[1:]])
    tables[1].write_bytes(arrow_bytes(second.set_column(0, second.schema.field(0), pa.array(ids, pa.int64()))))
    sign(copy)
    with pytest.raises(
        QprError, match=rf"ids/00000.*: question_id {ids[0]} is in .*ids/00001.* too|question_id -?\d+ is"
    ):
        open_index(str(copy))


@pytest.mark.parametrize(
    ("setting", "value", "fault"),
    [
        ("factory", "IVF5,Flat", "vectors in 6 lists, the manifest lists .* in 5"),
        ("factory", "IVF6,SQ8", "does not share the lists of"),
        ("factory", "IVF9999999,Flat", r"configuration: factory: asks for more than 1,048,576 lists"),
        ("factory", "HNSW32", "configuration: factory: must be Flat or start with IVF"),
        ("probes", 0, "configuration: probes: 0 with the factory IVF6,Flat"),
        ("distance", "cosine", "configuration: distance: Input should be"),
    ],
)
def test_settings_that_do_not_fit_the_shards_are_refused(lists, setting, value, fault):
    edit_manifest(lists, lambda manifest: manifest["configuration"].update({setting: value}))
    with pytest.raises(QprError, match=rf"lists/.*{fault}.*Build the index again"):
        open_index(str(lists))


def test_a_wrong_dimension_and_a_broken_configuration_are_noticed(copy):
    edit_manifest(copy, lambda manifest: manifest["configuration"].update(dimension=9))
    with pytest.raises(QprError, match="a shard has 8 dimensions, the manifest 9"):
        open_index(str(copy))
    edit_manifest(copy, lambda manifest: manifest["configuration"].pop("factory"))
    with pytest.raises(QprError, match="configuration: factory: Field required"):
        open_index(str(copy))


def test_what_is_no_index_is_refused(place, tmp_path):
    with pytest.raises(QprError, match="does not exist"):
        open_index(str(tmp_path / "nothing"))
    with pytest.raises(QprError, match="holds a model, not an index"):
        open_index(str(place / "model"))
    (tmp_path / "killed" / "20250101T000000Z-abcdef").mkdir(parents=True)
    with pytest.raises(QprError, match=r"no manifest.json, so no run has completed there"):
        open_index(str(tmp_path / "killed"))
