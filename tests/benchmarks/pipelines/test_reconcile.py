import gzip
import json

from benchmarks.pipelines.reconcile import logs, pairs

PAIRS = [("how do I pay", "how can I pay", 1), ("how can I pay", "pay how", 1), ("is it late", "was it late", 1)]


def test_the_independent_count_equals_that_of_the_pipeline(tmp_path, capsys):
    head = "id\tqid1\tqid2\tquestion1\tquestion2\tis_duplicate\n"
    lines = (f"{n}\t{n}a\t{n}b\t{one}\t{two}\t{label}\n" for n, (one, two, label) in enumerate(PAIRS))
    path = tmp_path / "pairs.tsv.gz"
    path.write_bytes(gzip.compress((head + "".join(lines)).encode()))
    pairs(str(path), as_json=True)
    by_keys, by_pipeline, _ = [json.loads(line) for line in capsys.readouterr().out.splitlines()][-3:]
    for name in ("clusters", "questions", "pairs"):
        assert by_keys[name] == by_pipeline[name] == {"clusters": 2, "questions": 5, "pairs": 4}[name]


def test_a_log_is_counted_in_both_forms(tmp_path, capsys):
    rows = [{"question": one, "answer": "In the app"} for one, _, _ in PAIRS]
    path = tmp_path / "log.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)))
    logs(str(path), as_json=True)
    by_our_rules, by_pipeline, _ = [json.loads(line) for line in capsys.readouterr().out.splitlines()][-3:]
    assert {**by_our_rules, "rule": ""} == {**by_pipeline, "rule": ""}
    assert by_pipeline["their_members"] == 3
