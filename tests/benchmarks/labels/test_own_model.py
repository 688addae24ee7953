import types

import pyarrow as pa

from benchmarks.labels import own_model
from benchmarks.logs.known_logs import of_clusters
from schemas.text import question_id


def test_a_model_of_the_clusters_before_compares_the_same_log_again(monkeypatch, tmp_path):
    log = of_clusters("one", [("yes", 0, ["a b", "b c"]), ("yes", 1, ["x y"])])
    calls = []

    def command(*arguments):
        calls.append([str(argument).replace(f"{tmp_path}/", "") for argument in arguments])
        return types.SimpleNamespace(cpu_s=1.0)

    ids = [question_id("a b"), question_id("b c")]
    clusters = pa.table({"cluster_id": [1], "answer": ["yes"], "question_ids": [ids]})
    dataset = types.SimpleNamespace(table=lambda *_, **__: clusters)
    monkeypatch.setattr(own_model, "measure_qpr", command)
    monkeypatch.setattr(own_model, "open_dataset", lambda _: dataset)
    scores = list(own_model.rounds(log, tmp_path / "log.jsonl", times=1, seed=3))
    assert [(score.method, score.precision, score.recall) for score in scores] == [("words", 1, 1), ("model 1", 1, 1)]
    assert [call[0] for call in calls] == ["clusters", "train", "clusters"]
    assert calls[1] == ["train", "--dataset", "dataset-0", "--output", "model-0", "--seed", "3"]
    assert "--refine-with" not in calls[0]
    assert calls[2][-2:] == ["--refine-with", "model-0"]
