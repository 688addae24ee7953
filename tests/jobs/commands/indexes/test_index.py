import hashlib
import json
import shutil
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from model.encoders.kernels import dispatch as loops
from model.encoders.loading import load_encoder
from model.index.shard_merge import nearest
from model.search.opening import open_index
from pipelines.graphs.settings import IndexConfig
from schemas.artifacts.manifest import read_manifest
from schemas.compiled import SWITCH
from schemas.errors import QprError
from schemas.text import question_id
from tests.support.commands import run


def contents(url):
    manifest = read_manifest(str(url), "index")
    return {(f.table, f.path.removeprefix(manifest.run_id)): f.sha256 for f in manifest.files}


def many(count):
    return [f"how do I pay bill number {n} of {n % 7}" for n in range(count)]


@pytest.fixture
def dataset(tmp_path, make_dataset):
    make_dataset(tmp_path / "data", [many(5), ["cancel my flight", "flight cancel my"]], alone=["pay", "?!", "bill"])
    return tmp_path / "data"


def test_every_question_of_a_dataset_with_a_word_is_indexed_with_its_answer_and_cluster(tmp_path, dataset, model):
    assert run("index", "--questions", dataset, "--model", model, "--output", tmp_path / "i", "--shards", 3) == 0
    manifest = read_manifest(str(tmp_path / "i"), "index")
    assert manifest.counters == {
        "columns_ignored": 0,
        "questions_indexed": 9,
        "questions_merged": 0,
        "questions_read": 10,
        "questions_rejected": 1,
        "rejected_validate_no_word": 1,
    }
    index = open_index(str(tmp_path / "i"))
    assert len(index) == 9
    rows = {row["text"]: row for row in index.questions(np.arange(9)).to_pylist()}
    assert rows["cancel my flight"]["answer"] == "answer c1"
    assert rows["cancel my flight"]["cluster_id"] == rows["flight cancel my"]["cluster_id"]
    assert (rows["pay"]["answer"], rows["pay"]["cluster_id"], rows["pay"]["events"]) == (None, None, 8)
    assert all(row["question_id"] == question_id(text) for text, row in rows.items())


def test_the_index_of_a_dataset_has_the_ids_of_answers_in_the_log(qpr, tmp_path, write_jsonl, model):
    asked = [("pay my bill", "kb-1"), ("pay bill", "kb-1"), ("bill how pay", "kb-2"), ("how do I pay my bill", None)]
    rows = [{"question": q, "answer": f"text of {i}", "answer_id": i} for q, i in asked]
    log, dataset, index = write_jsonl("log.jsonl", rows), tmp_path / "d", tmp_path / "i"
    assert qpr("clusters", log, "--output", dataset).code == 0
    assert qpr("index", "--questions", dataset, "--model", model, "--output", index).code == 0
    found = open_index(str(index)).questions(np.arange(4)).to_pylist()
    assert {row["text"]: row["answer_id"] for row in found} == dict(asked)
    outcome = qpr("answer", "--index", index, "--json", "pay my bill")
    assert json.loads(outcome.out)["hit"]["answer_id"] == "kb-1"


def test_the_index_holds_the_vectors_of_the_encoder(tmp_path, dataset, model):
    run("index", "--questions", dataset, "--model", model, "--output", tmp_path / "i", "--shards", 2)
    index, encoder = open_index(str(tmp_path / "i")), load_encoder(str(model))
    assert index.encoder.digest == encoder.digest == index.settings.model_digest
    texts = index.questions(np.arange(len(index)))["text"]
    found = nearest(index.shards, index.question_ids, encoder.encode(texts), k=1, probes=1)
    assert found.distances.max() < 1e-9
    assert index.settings.distance == "squared_euclidean"


def test_parquet_rows_with_equal_keys_are_merged_to_the_smallest_text_whatever_the_file(tmp_path, model):
    pq.write_table(pa.table({"q": ["Pay bill?", "pay bill", None, "..."]}), tmp_path / "a.parquet")
    pq.write_table(pa.table({"q": ["PAY bill", "flight"]}), tmp_path / "b.parquet")
    index = tmp_path / "i"
    glob = tmp_path / "*.parquet"
    assert run("index", "--questions", glob, "--column", "question=q", "--model", model, "--output", index) == 0
    assert read_manifest(str(index)).counters == {
        "columns_ignored": 0,
        "questions_read": 6,
        "questions_indexed": 2,
        "questions_merged": 2,
        "questions_rejected": 2,
        "rejected_validate_missing_question": 1,
        "rejected_validate_no_word": 1,
        "rows_without_answer": 4,
    }
    assert sorted(open_index(str(index)).questions([0, 1])["text"].to_pylist()) == ["PAY bill", "flight"]


def test_a_rerun_and_shuffled_input_give_the_same_bytes(tmp_path, model):
    texts = many(600)
    pq.write_table(pa.table({"text": texts}), tmp_path / "a.parquet")
    pq.write_table(pa.table({"text": texts[:100:-1]}), tmp_path / "b1.parquet", row_group_size=50)
    pq.write_table(pa.table({"text": texts[:200]}), tmp_path / "b2.parquet")
    for name, files in (("a", "a.parquet"), ("again", "a.parquet"), ("b", "b?.parquet")):
        given = ("index", "--questions", tmp_path / files, "--model", model, "--output", tmp_path / name)
        assert run(*given, "--factory", "IVF8,Flat", "--shards", 3) == 0
    assert contents(tmp_path / "a") == contents(tmp_path / "again") == contents(tmp_path / "b")


@pytest.mark.parametrize("encoder", ["cnn", "subword"])
def test_compiled_loops_give_the_same_bytes(tmp_path, dataset, make_model, monkeypatch, encoder):
    pytest.importorskip("numba")
    make_model(tmp_path / "m", encoder=encoder)
    monkeypatch.setattr(loops, "FEWEST", 1)
    monkeypatch.setattr("model.encoders.interface.FEW", 0)
    monkeypatch.setattr("model.encoders.subword.inference._FEW", 0)
    for name, switch in (("plain", "0"), ("compiled", "1")):
        monkeypatch.setenv(SWITCH, switch)
        assert run("index", "--questions", dataset, "--model", tmp_path / "m", "--output", tmp_path / name) == 0
        assert (loops.compiled() is None) == (name == "plain")
    assert contents(tmp_path / "plain") == contents(tmp_path / "compiled")


def test_it_needs_no_torch(tmp_path, dataset, model):
    given = ["index", "--questions", str(dataset), "--model", str(model), "--output", str(tmp_path / "i")]
    code = f"import sys; sys.modules['torch'] = None; from jobs.cli import main; main({given!r})"
    assert subprocess.run([sys.executable, "-c", code], check=False, capture_output=True).returncode == 0
    assert len(open_index(str(tmp_path / "i"))) == 9


def test_a_model_cannot_write_outside_the_index(tmp_path, dataset, model, qpr, monkeypatch):
    deep = tmp_path / "pack" / "a" / "b" / "m"
    shutil.copytree(model, deep)
    (tmp_path / "pack" / "x").write_text("owned")
    (tmp_path / "x").write_text("mine")
    manifest = json.loads((deep / "manifest.json").read_text())
    sha256 = hashlib.sha256(b"owned").hexdigest()
    manifest["files"].append({"path": "../../../x", "table": "reports", "rows": 0, "bytes": 5, "sha256": sha256})
    (deep / "manifest.json").write_text(json.dumps(manifest))
    monkeypatch.chdir(tmp_path)
    outcome = qpr("index", "--questions", dataset, "--model", "pack/a/b/m", "--output", "index")
    assert outcome.code == 1
    assert "pack/a/b/m/manifest.json: damaged (files.5.path: a path holds names" in outcome.err
    assert (tmp_path / "x").read_text() == "mine"
    assert not (tmp_path / "index").exists()


def test_equal_questions_and_weights_have_an_equal_digest_whatever_the_runs(tmp_path, dataset, make_model):
    digests = set()
    for name in ("a", "b"):
        make_model(tmp_path / name)
        given = ("index", "--questions", dataset, "--model", tmp_path / name, "--output", tmp_path / f"i{name}")
        assert run(*given) == 0
        digests.add(read_manifest(str(tmp_path / f"i{name}")).digest)
    assert len(digests) == 1


@pytest.mark.parametrize("shards", [1, 8])
def test_any_number_of_shards_finds_the_same(tmp_path, model, shards):
    pq.write_table(pa.table({"text": many(500)}), tmp_path / "a.parquet")
    given = ("index", "--questions", tmp_path / "a.parquet", "--model", model, "--factory", "IVF5,Flat", "--probes", 2)
    for name, count in (("three", 3), ("other", shards)):
        assert run(*given, "--output", tmp_path / name, "--shards", count) == 0
    three, other = (open_index(str(tmp_path / name)).rank(many(520)[480:], 20) for name in ("three", "other"))
    assert np.array_equal(three.ids, other.ids)
    assert np.array_equal(three.scores, other.scores)


def test_json_result_names_the_digest_the_counts_and_the_settings(tmp_path, dataset, model, capsys):
    assert run("index", "--questions", dataset, "--model", model, "--output", tmp_path / "i", "--json") == 0
    result = json.loads(capsys.readouterr().out)
    assert result["digest"] == read_manifest(str(tmp_path / "i")).digest
    assert result["configuration"]["factory"] == "Flat"
    assert result["configuration"]["probes"] == 0
    assert result["counters"]["questions_indexed"] == 9


@pytest.mark.parametrize(
    ("change", "code", "message"),
    [
        (("--questions", "nowhere"), 1, "nowhere: no such dataset or file"),
        (("--model", "nowhere"), 1, "nowhere: not a model: it does not exist"),
        (("--factory", "HNSW32"), 2, "--factory HNSW32: must be Flat or start with IVF"),
        (("--factory", "IVF4,PQ3"), 2, "--factory IVF4,PQ3: FAISS cannot build it for 8 dimensions"),
        (("--factory", "IVF100,Flat"), 1, "IVF100,Flat: needs 3,900 questions to train on, there are 10. Use Flat"),
        (("--probes", "0"), 2, "--probes"),
        (("--recall", "0"), 2, "--recall"),
        (("--recall", "1.1"), 2, "--recall"),
        (("--recall", "0.9", "--probes", "4"), 2, "--recall 0.9: chooses --probes, which are given"),
        (("--recall", "0.9", "--preset", "paper"), 2, "--recall 0.9: chooses --probes"),
        (("--memory-mb", "0"), 2, "--memory-mb"),
        (("--memory-mb", "50"), 1, "--memory-mb 50: an index of 10 questions of dimension 8 needs at least"),
        (("--preset", "papers"), 2, "--preset"),
        (("--preset", "paper"), 1, "IVF2000,Flat: needs 78,000 questions to train on, there are 10. Use Flat"),
        (("--", "--runer=Flink"), 2, "Beam has no option --runer"),
    ],
)
def test_mistakes_are_named_and_nothing_is_left_behind(tmp_path, dataset, model, capsys, change, code, message):
    given = ("--questions", dataset, "--model", model, "--output", tmp_path / "i")
    assert run("index", *given, *change) == code
    shown = " ".join(capsys.readouterr().err.split())
    assert message in shown
    assert "Traceback" not in shown
    assert list((tmp_path / "i").glob("*")) == []


def test_probes_are_chosen_by_recall_and_the_same_again(tmp_path, model, capsys):
    texts = [" ".join(f"w{word}" for word in np.random.default_rng(n).integers(0, 50, 5)) for n in range(400)]
    pq.write_table(pa.table({"question": texts}), tmp_path / "q.parquet")
    given = ("index", "--questions", tmp_path / "q.parquet", "--model", model, "--factory", "IVF8,Flat", "--json")
    chosen = []
    for name, options in (("a", ()), ("b", ()), ("low", ("--recall", 0.5)), ("fast", ("--latency-ms", 1e-6))):
        assert run(*given, "--output", tmp_path / name, *options) == 0
        shown = capsys.readouterr()
        chosen.append(json.loads(shown.out)["configuration"])
    assert chosen[0] == chosen[1]
    assert chosen[0]["recall"]["at_10"] >= chosen[0]["recall"]["target"] == 0.98
    assert chosen[2]["probes"] < chosen[0]["probes"]
    assert chosen[3]["probes"] == 1
    assert "with 1 list, below --recall 0.98: more would exceed --latency-ms 1e-06" in " ".join(shown.err.split())
    assert open_index(str(tmp_path / "low")).probes == chosen[2]["probes"]


def test_a_dry_run_predicts_and_writes_nothing(tmp_path, dataset, model, capsys):
    given = ("index", "--questions", dataset, "--model", model, "--output", tmp_path / "i", "--json")
    assert run(*given, "--dry-run") == 0
    shown = capsys.readouterr()
    plan = json.loads(shown.out)
    assert (plan["questions"], plan["dimension"], plan["factory"], plan["shards"]) == (10, 8, "Flat", 8)
    assert plan["replaces"] is False
    assert 100 < plan["build_mb"] < 1_000
    assert 50 < plan["search_mb"] < plan["build_mb"]
    assert 0 < plan["cpu_minutes"] < 1
    assert "Nothing was written" in shown.err
    assert not (tmp_path / "i").exists()
    assert run(*given, "--dry-run", "--memory-mb", 50) == 1
    assert "needs at least" in capsys.readouterr().err
    assert run(*given, "--memory-mb", 4_000) == 0
    assert json.loads(capsys.readouterr().out)["configuration"]["factory"] == "Flat"
    assert run(*given, "--dry-run") == 1
    assert "exists" in capsys.readouterr().err
    assert run("index", "--output", tmp_path / "i", "--compact", "--dry-run") == 2
    assert "--dry-run: is of a new index and cannot be given with --compact" in " ".join(
        capsys.readouterr().err.split()
    )


def test_a_preset_gives_way_to_options():
    assert (IndexConfig(preset="paper").factory, IndexConfig(preset="paper").probes) == ("IVF2000,Flat", 10)
    given = IndexConfig(preset="paper", factory="IVF4000,Flat")
    assert (given.factory, given.probes) == ("IVF4000,Flat", 10)
    assert IndexConfig(preset="paper", probes=20).probes == 20
    assert (IndexConfig().factory, IndexConfig().probes) == (None, None)


@pytest.mark.parametrize(
    ("name", "table", "message"),
    [
        (
            "other.parquet",
            pa.table({"title": ["a"]}),
            "no column question; there are title. Add, with one of them for NAME: --column question=NAME",
        ),
        (
            "lists.parquet",
            pa.table({"text": [["a"]]}),
            "column text holds list<element: string>, which cannot be read as string",
        ),
        ("empty.parquet", pa.table({"text": pa.array([], pa.string())}), "no question with a word"),
        ("marks.parquet", pa.table({"text": ["??", " "]}), "no question with a word"),
    ],
)
def test_parquet_files_that_hold_no_questions_are_refused(tmp_path, model, capsys, name, table, message):
    pq.write_table(table, tmp_path / name)
    assert run("index", "--questions", tmp_path / name, "--model", model, "--output", tmp_path / "i") == 1
    shown = " ".join(capsys.readouterr().err.split())
    assert message in shown
    assert name in shown


def test_texts_that_cannot_be_used_are_rejected_and_counted(tmp_path, model):
    bad = pa.array([b"caf\xe9", b"pay \0 bill", b"long " * 2_001, b"many words " * 100_000, b"pay"]).view(pa.string())
    pq.write_table(pa.table({"text": bad}), tmp_path / "a.parquet")
    given = ("--questions", tmp_path / "a.parquet", "--model", model, "--output", tmp_path / "i")
    assert run("index", *given, "--max-reject-ratio", 0.8) == 0
    counters = read_manifest(str(tmp_path / "i")).counters
    assert (counters["questions_read"], counters["questions_rejected"], counters["questions_indexed"]) == (5, 4, 1)


def test_a_file_of_which_too_much_cannot_be_used_is_no_index_and_the_encoding_is_named(tmp_path, model, capsys):
    lines = ["question,answer", *(f"wie öffne ich tor {n},so" for n in range(5)), *(f"tor {n},so" for n in range(6))]
    (tmp_path / "faq.csv").write_bytes("\n".join(lines).encode("latin-1"))
    given = ("--questions", tmp_path / "faq.csv", "--model", model, "--output", tmp_path / "i")
    assert run("index", *given) == 1
    shown = " ".join(capsys.readouterr().err.split())
    assert "5 of 11 rows rejected, more than --max-reject-ratio 0.1 allows. Most were read_invalid_utf8 (5)" in shown
    assert "--encoding cp1252" in shown
    assert not (tmp_path / "i" / "manifest.json").exists()
    assert run("index", *given, "--encoding", "cp1252") == 0


def test_a_parquet_file_that_breaks_off_inside_is_named(tmp_path, model, capsys):
    pq.write_table(pa.table({"text": many(5_000)}), tmp_path / "a.parquet", compression="zstd")
    content = bytearray((tmp_path / "a.parquet").read_bytes())
    content[4:40] = bytes(36)  # the first page's header; the end of the file, which is looked at first, is whole
    (tmp_path / "a.parquet").write_bytes(content)
    given = ("--questions", tmp_path / "a.parquet", "--model", model, "--output", tmp_path / "i")
    assert run("index", *given) == 1
    shown = capsys.readouterr().err
    assert "a.parquet: the Parquet data is broken" in shown
    assert "defect" not in shown
    assert not (tmp_path / "i").exists()


def test_a_file_that_is_no_parquet_and_a_damaged_dataset_are_refused(tmp_path, dataset, model, capsys):
    (tmp_path / "text.parquet").write_text("how do I pay")
    given = ("--model", model, "--output", tmp_path / "i")
    assert run("index", "--questions", tmp_path / "text.parquet", *given) == 1
    assert "text.parquet: not a complete Parquet file" in capsys.readouterr().err
    [file] = dataset.glob("*/questions/*")
    damaged = bytearray(file.read_bytes())
    damaged[len(damaged) // 2] ^= 1
    file.write_bytes(damaged)
    assert run("index", "--questions", dataset, *given) == 1
    assert "does not match the manifest's sha256" in capsys.readouterr().err


def test_an_index_that_is_there_stays_until_the_new_one_is_complete(tmp_path, dataset, model, capsys):
    given = ("index", "--questions", dataset, "--model", model, "--output", tmp_path / "i")
    assert run(*given) == 0
    before = (tmp_path / "i" / "manifest.json").read_bytes()
    assert run(*given) == 1
    assert "exists. Choose another --output or add --overwrite" in " ".join(capsys.readouterr().err.split())
    assert run(*given, "--overwrite", "--factory", "IVF100,Flat") == 1
    assert (tmp_path / "i" / "manifest.json").read_bytes() == before
    assert len(open_index(str(tmp_path / "i"))) == 9
    assert run(*given, "--overwrite", "--shards", 1) == 0
    assert open_index(str(tmp_path / "i")).settings.shards == 1


def test_the_index_needs_neither_the_model_nor_the_dataset_any_more(tmp_path, dataset, model):
    run("index", "--questions", dataset, "--model", model, "--output", tmp_path / "i")
    for place in (dataset, model):
        place.rename(place.with_name(f"{place.name}-gone"))
    assert open_index(str(tmp_path / "i")).rank(["cancel my flight"], 1).scores[0, 0] == pytest.approx(0, abs=1e-9)


def test_id_tables_and_shards_carry_their_digests(tmp_path, dataset, model):
    run("index", "--questions", dataset, "--model", model, "--output", tmp_path / "i", "--shards", 2)
    for file in read_manifest(str(tmp_path / "i")).files:
        assert hashlib.sha256((tmp_path / "i" / file.path).read_bytes()).hexdigest() == file.sha256


def test_every_path_may_be_a_url(memory, make_dataset, make_model):
    make_model(f"{memory}/model")
    make_dataset(f"{memory}/data", [["pay", "bill"]])
    given = ("index", "--model", f"{memory}/model", "--output")
    assert run(*given, f"{memory}/a", "--questions", f"{memory}/data") == 0
    files = f"{memory}/data/*/questions/*.parquet"
    assert run(*given, f"{memory}/b", "--questions", files) == 0
    assert [i.url for i in read_manifest(f"{memory}/b").inputs][1] == f"{memory}/model"
    for name in ("a", "b"):
        assert open_index(f"{memory}/{name}").rank(["bill"], 1).ids.tolist() == [[question_id("bill")]]


def test_a_model_of_sentence_transformers_stays_where_it_is(tmp_path, dataset, sentence_transformer):
    assert run("index", "--questions", dataset, "--model", sentence_transformer, "--output", tmp_path / "i") == 0
    manifest = read_manifest(str(tmp_path / "i"), "index")
    assert manifest.configuration["model_url"] == sentence_transformer
    assert manifest.inputs[-1].digest == manifest.configuration["model_digest"]
    index = open_index(str(tmp_path / "i"))
    assert index.rank(["pay"], 1).scores[0, 0] > -1e-6
    assert index.rank(["p"], 1).scores[0, 0] < -1e-3
    (tmp_path / "sentences" / "modules.json").write_text("[ ]")
    with pytest.raises(
        QprError, match=rf"was built with model \w+ at {sentence_transformer}, which is now \w+\. Restore"
    ):
        open_index(str(tmp_path / "i"))
    (tmp_path / "sentences" / "modules.json").unlink()
    with pytest.raises(QprError, match=r"/i: does not contain its model, which cannot be read: st:"):
        open_index(str(tmp_path / "i"))


def test_a_model_of_sentence_transformers_is_found_from_any_working_folder(
    tmp_path, dataset, sentence_transformer, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    assert run("index", "--questions", dataset, "--model", "st:sentences", "--output", "i") == 0
    monkeypatch.chdir("/")
    assert read_manifest(str(tmp_path / "i"), "index").configuration["model_url"] == sentence_transformer
    assert open_index(str(tmp_path / "i")).rank(["pay"], 1).scores[0, 0] > -1e-6
