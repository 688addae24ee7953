import contextlib
import io
import json
import sys
from types import SimpleNamespace

import pytest
import rich.console

from jobs.workflows.calibration import _reached, _table
from pipelines.calibration.calibrate import Point
from schemas.artifacts import storage
from schemas.artifacts.dataset import open_dataset
from schemas.artifacts.manifest import read_manifest, read_verified
from tests.support import commands


def run(*arguments):
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        assert commands.run(*arguments) == 0
    return printed.getvalue()


@pytest.fixture(scope="module")
def logs(tmp_path_factory):
    file = tmp_path_factory.mktemp("logs") / "logs.parquet"
    run("simulate", "--output", file, "--events", 12_000, "--seed", 3)
    return file


@pytest.fixture(scope="module")
def calibration(logs, tmp_path_factory):
    url = tmp_path_factory.mktemp("calibration") / "c"
    told = run("calibrate", logs, "--output", url, "--linkage", "logistic", "--json")
    return url, json.loads(told)


def test_a_calibration_holds_weights_curves_and_a_picture(calibration):
    url, told = calibration
    manifest = read_manifest(str(url), "calibration")
    content = {file.path.rsplit("/", 1)[-1]: read_verified(str(url), file) for file in manifest.files}
    assert set(content) == {"weights.json", "calibration.json", "calibration.png"}
    assert content["calibration.png"].startswith(b"\x89PNG")
    curves = json.loads(content["calibration.json"])["curves"]
    assert set(curves) == {"linkage_probability", "coherence", "adjusted_coherence", "idf_coherence"}
    assert curves == told["curves"]
    assert told["digest"] == manifest.digest
    assert json.loads(content["weights.json"])["threshold"] == told["threshold"]


def test_a_precision_picks_the_threshold_that_reached_it(calibration, logs, qpr, memory):
    url, told = calibration
    outcome = qpr("clusters", logs, "--output", f"{memory}/d", "--calibration", url, "--precision", 0.97)
    assert outcome.code == 0, outcome.err
    linking = open_dataset(f"{memory}/d").manifest.configuration["assembly"]["linking"]
    reached = [p for p in told["curves"]["linkage_probability"] if p["precision"] >= 0.97 and p["recall"] > 0]
    assert linking["min_probability"] == max(reached, key=lambda p: (p["recall"], -p["threshold"]))["threshold"]
    assert linking["method"] == "logistic"
    assert linking["weights"] == told["digest"]
    assert linking["answers"] == "fact"
    assert "when calibrated" in outcome.err


def test_a_precision_holds_where_the_answers_would_be_intents(qpr, write_jsonl, tmp_path):
    """Gold clusters of which two share each answer: as intents, every answer would be one cluster of precision .5."""
    verbs = ["reset", "cancel", "renew", "track", "close", "open", "print", "lend", "move", "pay", "sort", "lock"]
    frames = ["how do I {} {}", "can you {} {} for me", "please {} {} today", "I have to {} {}", "who can {} {} here"]
    rows = [
        {
            "question": frame.format(verb, thing),
            "answer": f"Ask desk {number} to help you.",
            "gold_cluster": f"{verb} {thing}",
        }
        for number, verb in enumerate(verbs)
        for thing in (f"my card{number}", f"an order{number}")
        for frame in frames
    ]
    log = write_jsonl("log.jsonl", rows)
    outcome = qpr("calibrate", log, "--output", tmp_path / "c", "--linkage", "logistic")
    assert outcome.code == 0, outcome.err
    by_default = qpr("clusters", log, "--output", tmp_path / "a", "--json")
    assert json.loads(by_default.out)["answer_worth"]["intents"] == len(verbs)
    outcome = qpr("clusters", log, "--output", tmp_path / "d", "--calibration", tmp_path / "c", "--precision", 0.9)
    assert outcome.code == 0, outcome.err
    gold = {row["question"]: row["gold_cluster"] for row in rows}
    clusters = open_dataset(str(tmp_path / "d")).table("clusters", columns=["texts"])["texts"].to_pylist()
    assert all(len({gold[text] for text in texts}) == 1 for texts in clusters)


def test_the_next_step_names_a_precision_that_was_reached():
    points = [{"precision": 0.96, "recall": 0.4}, {"precision": 1.0, "recall": 0.0}]
    assert _reached(points) == " --precision 0.95"
    assert _reached([{"precision": 1.0, "recall": 0.1}]) == " --precision 0.98"
    assert _reached([{"precision": 0.5, "recall": 1.0}]) == ""


def test_without_linkage_a_precision_picks_the_least_coherence(calibration, logs, qpr, memory):
    url, told = calibration
    given = ("--linkage", "none", "--coherence", "adjusted", "--calibration", url, "--precision", 0.9)
    outcome = qpr("clusters", logs, "--output", f"{memory}/d", *given)
    assert outcome.code == 0, outcome.err
    assembly = open_dataset(f"{memory}/d").manifest.configuration["assembly"]
    reached = [p for p in told["curves"]["adjusted_coherence"] if p["precision"] >= 0.9 and p["recall"] > 0]
    assert assembly["linking"]["method"] == "none"
    assert assembly["gate"]["min_coherence"] == max(reached, key=lambda p: (p["recall"], -p["threshold"]))["threshold"]


@pytest.mark.parametrize(
    ("given", "code", "message"),
    [
        (["--precision", 0.9], 2, "--precision needs --calibration"),
        (["--linkage", "none", "--min-probability", 0.5], 2, "--min-probability needs a --linkage but none"),
        (["--linkage", "none", "--answers", "intent"], 2, "--answers needs a --linkage but none"),
        (["--coherence", "paper", "--answers", "auto"], 2, "--answers needs a --linkage but none"),
        (["--coherence", "paper", "--refine-with", "m"], 2, "--refine-with needs a --linkage but none"),
        (["--linkage", "fellegi-sunter", "--refine-with", "m"], 2, "--refine-with needs --linkage boosted or logistic"),
        (["--linkage", "logistic", "--refine-with", "m"], 2, "--refine-with needs --linkage boosted, or --calibration"),
        (["--refine-with", "nowhere"], 1, "nowhere: not a model"),
        (["--refine-with", "st:nowhere"], 1, "st:nowhere: no modules.json in nowhere"),
        (["--refine-with", "static:nowhere"], 1, "and no package of this name is installed. Correct the path"),
        (["--calibration", "nowhere"], 1, "nowhere: not a calibration"),
        (["--linkage", "magic"], 2, "--linkage"),
        (["--min-probability", 0], 2, "--min-probability"),
    ],
)
def test_options_that_do_not_go_together_are_named(logs, qpr, memory, given, code, message):
    outcome = qpr("clusters", logs, "--output", f"{memory}/d", *given)
    assert outcome.code == code
    assert message in outcome.err


@pytest.mark.parametrize(
    ("given", "code", "message"),
    [
        (["--linkage", "none"], 2, "--linkage"),
        (["--linkage", "fellegi-sunter"], 2, "--linkage"),
        (["--gold-column", "truth"], 1, "--gold-column"),
        (["--column", "question=query"], 1, "no column query"),
        (["--refine-with", "nowhere"], 1, "nowhere: not a model"),
        (["--dry-run"], 2, "--dry-run"),
    ],
)
def test_a_calibration_that_cannot_be_made_is_refused(logs, qpr, memory, given, code, message):
    outcome = qpr("calibrate", logs, "--output", f"{memory}/c", *given)
    assert outcome.code == code
    assert message in outcome.err
    assert not storage.exists(f"{memory}/c")


def test_a_calibration_needs_a_log(qpr, memory):
    outcome = qpr("calibrate", "--output", f"{memory}/c")
    assert outcome.code == 2
    assert "no input file. Name at least one, such as: qpr calibrate" in outcome.err


def test_what_a_calibration_is_for_is_held_against_the_other_options(calibration, logs, qpr, memory):
    url, _ = calibration
    for given, message in (
        (["--linkage", "boosted"], "its weights are for --linkage logistic, not boosted"),
        (["--precision", 0.9, "--min-probability", 0.5], "--min-probability is what --precision chooses"),
        (["--linkage", "none", "--precision", 0.9, "--min-coherence", 0.5], "--min-coherence is what --precision"),
        (["--precision", 1.0], "no threshold reaches precision 1.0"),
    ):
        outcome = qpr("clusters", logs, "--output", f"{memory}/d", "--calibration", url, *given)
        assert outcome.code in (1, 2)
        assert message in outcome.err


def test_logs_that_are_too_few_to_calibrate_leave_nothing_behind(qpr, write_jsonl, tmp_path):
    logs = write_jsonl("few.jsonl", [{"question": "who is it", "answer": "me", "gold_cluster": 1}])
    outcome = qpr("calibrate", logs, "--output", tmp_path / "c")
    assert outcome.code == 1
    assert "the logs are too few" in outcome.err
    assert not (tmp_path / "c").exists()


GOOD = b'{"question": "who is it", "answer": "me", "gold_cluster": 1}\n'


def test_rows_that_cannot_be_read_are_counted_and_warned_of(qpr, tmp_path):
    path = tmp_path / "log.jsonl"
    path.write_bytes(b'{"question": "caf\xe9", "answer": "me", "gold_cluster": 1}\n[]\n[1]\n' + 4 * GOOD)
    outcome = qpr("calibrate", path, "--output", tmp_path / "c")
    assert "warning: 3 rows cannot be read and were left out: invalid_utf8 (1), not_an_object (2). " in outcome.err
    path.write_bytes(4 * GOOD)
    assert "cannot be read" not in qpr("calibrate", path, "--output", tmp_path / "c").err


def test_the_table_names_each_score_in_full_at_80_columns():
    points = [Point(0.25, 0.96, 0.5), Point(0.5, 0.97, 0.4)]
    names = ("linkage_probability", "coherence", "adjusted_coherence")
    screen = rich.console.Console(width=80, file=io.StringIO())
    screen.print(_table(SimpleNamespace(curves=dict.fromkeys(names, points))))
    text = screen.file.getvalue()
    assert "Lowest threshold that reaches the precision, and its recall" in text
    assert all(word in text for word in ("linkage probability", "coherence (paper)", "0.25: 0.500"))
    assert "…" not in text
    assert "..." not in text


@pytest.mark.parametrize(("options", "module"), [([], "lightgbm"), (["--linkage", "logistic"], "sklearn")])
def test_a_missing_library_is_named_before_the_logs_are_read(qpr, tmp_path, monkeypatch, options, module):
    monkeypatch.setitem(sys.modules, module, None)
    outcome = qpr("calibrate", tmp_path / "none.jsonl", "--output", tmp_path / "c", *options)
    assert outcome.code == 1
    assert outcome.err.startswith(f"error: `qpr calibrate` needs {module}, which is not installed")


@pytest.mark.parametrize(("column", "values"), [("answer", "the same value"), ("question", "different values")])
def test_a_gold_column_that_separates_nothing_is_named(qpr, write_jsonl, tmp_path, column, values):
    rows = [{"question": f"{verb} it {n}", "answer": f"a{n}"} for n in range(200) for verb in ("open", "close", "sell")]
    logs = write_jsonl("log.jsonl", rows)
    outcome = qpr("calibrate", logs, "--gold-column", column, "--output", tmp_path / "c")
    assert outcome.code == 1
    assert f"all questions of an answer have {values} in the gold column" in outcome.err
