from unittest.mock import Mock

import pytest

from model.index import shard_builder
from pipelines.writing.finished_shards import FinishedShards
from schemas.artifacts import storage
from schemas.artifacts.writer import Output, write_file

PATH, OLD = "shards/00000-of-00001.faiss", "20200101T000000Z-aaaaaa"


@pytest.fixture
def killed(memory):
    """Return an output where a killed run finished one shard, and its key."""
    run_url = storage.join(memory, "index", OLD)
    finished = FinishedShards(run_url, (), "model")
    key = finished.key(b"trained", b"rows")
    finished.note(PATH, key, write_file(run_url, PATH, b"vectors", table="shards", rows=1))
    return f"{memory}/index", key


def test_a_finished_shard_of_a_killed_run_is_taken_over(killed):
    url, key = killed
    finished = FinishedShards.of(Output(url, "index"), "model")
    assert finished.killed == (storage.join(url, OLD),)
    assert finished.take(PATH, key) == b"vectors"
    assert finished.take("shards/00001-of-00002.faiss", key) is None


def test_a_shard_of_other_rows_another_training_or_another_model_is_not(killed):
    url, key = killed
    output = Output(url, "index")
    finished, other = (FinishedShards.of(output, encoder) for encoder in ("model", "other"))
    keys = {finished.key(b"trained", b"rows"), other.key(b"trained", b"rows")}
    keys |= {finished.key(b"trainedr", b"ows"), finished.key(b"trained", b"more rows")}
    assert len(keys) == 4
    assert [finished.take(PATH, one) is not None for one in sorted(keys, key=key.__ne__)] == [True, False, False, False]


@pytest.mark.parametrize("content", [b"vector", b"vectorz", None])
def test_a_shard_that_was_not_written_whole_is_not(killed, content):
    url, key = killed
    path = storage.join(url, OLD, PATH)
    storage.delete(path) if content is None else storage.write_bytes(path, content)
    assert FinishedShards.of(Output(url, "index"), "model").take(PATH, key) is None


@pytest.mark.parametrize("again", [False, True])
def test_a_killed_index_is_completed_without_encoding_its_finished_shards_again(
    tmp_path, make_model, qpr, monkeypatch, again
):
    make_model(tmp_path / "model")
    (tmp_path / "faq.csv").write_text("\n".join(["question", *(f"how do I pay bill {n}" for n in range(20))]))
    given = ("index", "--questions", tmp_path / "faq.csv", "--model", tmp_path / "model", "--shards", 3, "--output")
    assert qpr(*given, tmp_path / "whole").code == 0
    built, build_shard = [], shard_builder.build_shard

    def count(*arguments):
        built.append(1)
        return build_shard(*arguments)

    with monkeypatch.context() as patched:
        patched.setattr(Output, "abandon", Output.release)  # a killed process removes nothing
        patched.setattr("pipelines.graphs.index.read_report", Mock(side_effect=KeyboardInterrupt))
        patched.setattr(FinishedShards, "forget", lambda _: None)
        assert qpr(*given, tmp_path / "index").code != 0
    monkeypatch.setattr(shard_builder, "build_shard", count)
    if again:
        (tmp_path / "faq.csv").write_text("question\nwho is he\n")
    assert qpr(*given, tmp_path / "index").code == 0
    assert len(built) == (1 if again else 0)
    assert not [*tmp_path.glob("index/*/finished")]
    if not again:
        shards = [sorted(tmp_path.glob(f"{name}/*/shards/*")) for name in ("whole", "index")]
        assert [path.read_bytes() for path in shards[0]] == [path.read_bytes() for path in shards[1]]
        assert len(shards[1]) == 3
