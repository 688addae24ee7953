import contextlib
import csv
import gzip
import io
import json
import re
import shlex
import shutil
from pathlib import Path

import numpy as np
import pytest

from jobs.workflows.verdicts import stored_evidence
from pipelines.calibration.verdicts.population import read_population
from pipelines.calibration.verdicts.verdict_file import cluster_name
from pipelines.questions.stock_answers import is_apology
from schemas.artifacts.dataset import open_dataset
from schemas.artifacts.manifest import read_manifest
from schemas.artifacts.writer import Output
from tests.support.commands import run
from tests.support.csv_files import write_csv


@pytest.fixture(scope="module")
def logs(folder):
    """Return a simulated log without apologies, of which each run warns."""
    path = folder / "logs.jsonl"
    with contextlib.redirect_stdout(io.StringIO()):
        assert run("simulate", "--output", path, "--events", 3000, "--seed", 6) == 0
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join(line for line in lines if not is_apology(json.loads(line)["answer"])))
    return path


@pytest.fixture
def dataset(folder, logs, qpr):
    url = folder / "dataset"
    if not url.exists():
        outcome = qpr("clusters", logs, "--output", url, "--min-probability", 0.05)
        assert outcome.code == 0, outcome.err
    return url


@pytest.fixture
def sample(folder, dataset, qpr):
    path = folder / "sample.csv"
    if not path.exists():
        outcome = qpr("sample", "--dataset", dataset, "--for-calibration", 150, "--output", path, "--json")
        assert outcome.code == 0, outcome.err
        assert json.loads(outcome.out)["pairs"] == len(read(path))
    return path


@pytest.fixture
def least(dataset):
    """The probability from which on pairs are right for the person of these tests: that of half of the kept pairs."""
    return float(np.median(np.repeat(*probabilities(dataset))))


@pytest.fixture
def judged(sample, least, tmp_path):
    """The sample with verdicts."""
    rows = read(sample)
    for row in rows:
        row["verdict"] = "right" if float(row["probability"] or 0) >= least else "wrong"
    return write_csv(tmp_path / "judged.csv", rows)


@pytest.fixture
def calibration(judged, dataset, tmp_path, qpr):
    outcome = qpr("calibrate", "--dataset", dataset, "--verdicts", judged, "--output", tmp_path / "c", "--json")
    assert outcome.code == 0, outcome.err
    return tmp_path / "c", json.loads(outcome.out)


def read(path):
    with open(path, encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


def probabilities(dataset):
    """Return probability and number of pairs of every cluster."""
    clusters = open_dataset(str(dataset)).table("clusters", columns=["linkage_probability", "size"])
    sizes = clusters["size"].to_numpy()
    return clusters["linkage_probability"].to_numpy(), sizes * (sizes - 1) // 2


def test_a_sample_stands_for_all_pairs_and_a_larger_one_begins_with_it(sample, dataset, qpr, tmp_path):
    rows = read(sample)
    assert len({row["pair_id"] for row in rows}) == len(rows)
    assert {row["verdict"] for row in rows} == {""}
    kept = sum(float(row["weight"]) for row in rows if row["kept"] == "true")
    assert kept == pytest.approx(probabilities(dataset)[1].sum())
    others = sum(float(row["weight"]) for row in rows if row["kept"] == "false")
    assert others == pytest.approx(read_population(open_dataset(str(dataset))).other_pairs.sum())
    assert others > 0
    qpr("sample", "--dataset", dataset, "--for-calibration", 40, "--output", tmp_path / "small.csv")
    assert [row["pair_id"] for row in read(tmp_path / "small.csv")] == [row["pair_id"] for row in rows[:40]]


def test_a_larger_sample_takes_the_verdicts_of_a_smaller_one(judged, dataset, qpr, tmp_path):
    larger = tmp_path / "larger.csv"
    given = ("--dataset", dataset, "--for-calibration", 200, "--verdicts", judged, "--output", larger)
    outcome = qpr("sample", *given)
    assert outcome.code == 0, outcome.err
    rows, before = read(larger), read(judged)
    assert [row["verdict"] for row in rows[:150]] == [row["verdict"] for row in before]
    assert {row["verdict"] for row in rows[150:]} == {""}
    outcome = qpr("sample", *given[:-1], tmp_path / "other.csv", "--seed", 1)
    assert outcome.code == 1
    assert "judges the sample with seed 0. Add --seed 0" in outcome.err
    assert not (tmp_path / "other.csv").exists()


def test_of_several_judged_files_none_is_taken_silently(judged, dataset, qpr, tmp_path):
    folder = tmp_path / "files"
    folder.mkdir()
    for name in ("one.csv", "two.csv"):
        shutil.copy(judged, folder / name)
    given = ("--dataset", dataset, "--for-calibration", 200, "--output", tmp_path / "larger.csv")
    outcome = qpr("sample", *given, "--verdicts", folder / "*.csv")
    assert outcome.code == 2
    assert f"--verdicts {folder}/*.csv: are 2 files. Give one" in outcome.err
    assert not (tmp_path / "larger.csv").exists()


def test_a_sample_can_be_json_lines_or_printed(sample, dataset, qpr, tmp_path):
    outcome = qpr("sample", "--dataset", dataset, "--for-calibration", 9, "--output", tmp_path / "s.jsonl")
    assert outcome.code == 0
    assert f"Next: qpr calibrate --dataset {shlex.quote(str(dataset))} --verdicts {tmp_path}/s.jsonl" in outcome.err
    lines = [json.loads(line) for line in (tmp_path / "s.jsonl").read_text().splitlines()]
    printed = json.loads(qpr("sample", "--dataset", dataset, "--for-calibration", 9, "--json").out)
    assert printed["pairs"] == lines
    rows = list(csv.DictReader(qpr("sample", "--dataset", dataset, "--for-calibration", 9).out.splitlines()))
    assert [row["pair_id"] for row in rows] == [line["pair_id"] for line in lines]
    assert [row["pair_id"] for row in rows] == [row["pair_id"] for row in read(sample)[:9]]


def test_estimates_of_a_calibration_are_near_the_truth(calibration, dataset, least):
    probability, pairs = probabilities(dataset)
    right, others = pairs[probability >= least].sum(), read_population(open_dataset(str(dataset))).other_pairs.sum()
    told = calibration[1]["estimates"]
    assert told["precision"]["low"] <= right / pairs.sum() <= told["precision"]["high"]
    assert told["prior"]["low"] <= right / (pairs.sum() + others) <= told["prior"]["high"]
    assert told["recall"]["value"] == 1.0


def test_a_precision_keeps_the_clusters_above_its_threshold(calibration, dataset, least, logs, qpr, tmp_path):
    url, told = calibration
    [line] = [line for line in told["thresholds"] if line["precision"] == 0.8]
    options = ("--min-probability", 0.05, "--calibration", url)
    outcome = qpr("clusters", logs, "--output", tmp_path / "d", *options, "--precision", 0.8)
    assert outcome.code == 0, outcome.err
    stated, pairs = probabilities(dataset)
    kept = stated >= line["stated"]
    assert pairs[kept & (stated >= least)].sum() >= 0.8 * pairs[kept].sum()
    assert line["share_kept"] == pytest.approx(pairs[kept].sum() / pairs.sum())
    calibrated, _ = probabilities(tmp_path / "d")
    assert len(calibrated) == kept.sum() < len(kept)
    assert calibrated.min() >= line["calibrated"] - 1e-12
    manifest = open_dataset(str(tmp_path / "d")).manifest
    assert manifest.configuration["assembly"]["recalibration"]["calibration"] == told["digest"]
    assert manifest.counters["groups_below_precision"] == (~kept).sum()
    assert manifest.counters["rejected_linkage_below_precision"] > 0
    assert "Kept pairs have a precision of at least 0.8 with 95 % confidence" in " ".join(outcome.out.split())
    assert "Kinds of answers" not in outcome.out
    assert outcome.err.count("warning") == 0


def test_without_a_precision_probabilities_are_corrected_and_nothing_is_rejected(
    calibration, dataset, logs, qpr, tmp_path
):
    url, _ = calibration
    options = ("--min-probability", 0.05, "--calibration", url)
    outcome = qpr("clusters", logs, "--output", tmp_path / "d", *options)
    assert outcome.code == 0, outcome.err
    columns = ["cluster_id", "linkage_probability", "question_ids"]
    tables = [open_dataset(str(d)).table("clusters", columns=columns).to_pylist() for d in (dataset, tmp_path / "d")]
    before, after = ({row["cluster_id"]: row for row in rows} for rows in tables)
    assert before.keys() == after.keys()
    assert all(before[c]["question_ids"] == after[c]["question_ids"] for c in before)
    changed = [(before[c]["linkage_probability"], after[c]["linkage_probability"]) for c in before]
    assert [q for _, q in sorted(changed)] == sorted(q for _, q in changed)
    assert "Verdicts" in outcome.out


def test_verdicts_on_whole_clusters_count_for_their_pairs(judged, dataset, qpr, tmp_path):
    rows = read(judged)
    right = {row["cluster_id"] for row in rows if row["verdict"] == "right"}
    right -= {row["cluster_id"] for row in rows if row["verdict"] == "wrong"}
    listed = [row for row in rows if row["cluster_id"] not in right]
    of_clusters = [{**dict.fromkeys(rows[0], ""), "cluster_id": c, "verdict": "right", "seed": "0"} for c in right]
    listed += [row | {"dataset": rows[0]["dataset"]} for row in of_clusters]
    told = []
    for number, path in enumerate((judged, write_csv(tmp_path / "clusters.csv", listed))):
        given = ("--dataset", dataset, "--verdicts", path, "--output", tmp_path / f"c{number}", "--json")
        outcome = qpr("calibrate", *given)
        assert outcome.code == 0, outcome.err
        told.append(json.loads(outcome.out))
    assert told[1]["counted_draws"] >= told[0]["counted_draws"]
    assert told[1]["estimates"]["precision"]["value"] == pytest.approx(
        told[0]["estimates"]["precision"]["value"], abs=0.1
    )


def test_verdicts_on_clusters_alone_do_not_suffice(judged, dataset, qpr, tmp_path):
    rows = read(judged)
    names = {row["cluster_id"]: row for row in rows if row["cluster_id"]}
    listed = [{**row, "pair_id": "", "verdict": "right"} for row in names.values()]
    path = write_csv(tmp_path / "clusters.csv", listed)
    outcome = qpr("calibrate", "--dataset", dataset, "--verdicts", path, "--output", tmp_path / "c")
    assert outcome.code == 1
    number = next(place for place, row in enumerate(rows, start=1) if not row["cluster_id"])
    assert f"{len(names)} verdicts so far, but clusters cover kept pairs only" in outcome.err
    assert f"pair {number} of the sample, which is not kept, has no verdict. Add the file of" in outcome.err
    del listed[: len(listed) // 2]
    write_csv(path, [*listed, *({**row, "verdict": ""} for row in rows)])
    outcome = qpr("calibrate", "--dataset", dataset, "--verdicts", path, "--output", tmp_path / "c")
    assert outcome.code == 1
    assert re.search(r"pair \d+ of the sample \(row \d+\), (of the cluster c|which is not kept)", outcome.err)


@pytest.mark.parametrize(("whole", "refused"), [("right", True), ("wrong", False)])
def test_a_cluster_that_contradicts_a_pair_of_it_is_refused(judged, dataset, qpr, tmp_path, whole, refused):
    rows = read(judged)
    clusters = open_dataset(str(dataset)).table("clusters", columns=["cluster_id", "size"]).to_pylist()
    large = {cluster_name(row["cluster_id"]) for row in clusters if row["size"] > 2}
    number, row = next((n, row) for n, row in enumerate(rows, start=1) if row["cluster_id"] in large)
    own = "wrong" if whole == "right" else "right"
    row["verdict"] = own
    rows.append({**row, "pair_id": "", "verdict": whole})
    path = write_csv(tmp_path / "both.csv", rows)
    outcome = qpr("calibrate", "--dataset", dataset, "--verdicts", path, "--output", tmp_path / "c")
    assert outcome.code == int(refused), outcome.err
    faults = f"row {number} ({own}, {row['pair_id']}) and row {len(rows)} ({whole}, its cluster {row['cluster_id']})"
    assert (f"{faults} contradict each other" in outcome.err) is refused


def test_the_only_pair_of_a_cluster_has_its_verdict(dataset, qpr, tmp_path):
    large = tmp_path / "large.csv"  # most pairs are of large clusters
    assert qpr("sample", "--dataset", dataset, "--for-calibration", 600, "--output", large).code == 0
    rows = [row | {"verdict": "right"} for row in read(large)]
    clusters = open_dataset(str(dataset)).table("clusters", columns=["cluster_id", "size"]).to_pylist()
    of_two = {cluster_name(row["cluster_id"]) for row in clusters if row["size"] == 2}
    row = next(row for row in rows if row["cluster_id"] in of_two)
    rows.append({**row, "pair_id": "", "verdict": "wrong" if row["verdict"] == "right" else "right"})
    path = write_csv(tmp_path / "both.csv", rows)
    outcome = qpr("calibrate", "--dataset", dataset, "--verdicts", path, "--output", tmp_path / "c")
    assert outcome.code == 1
    assert "contradict each other" in outcome.err


def test_the_columns_of_a_verdict_file_may_have_other_letters(judged, dataset, qpr, tmp_path):
    rows = [{" Verdict" if name == "verdict" else name.upper(): v for name, v in row.items()} for row in read(judged)]
    path = write_csv(tmp_path / "capitals.csv", rows)
    outcome = qpr("calibrate", "--dataset", dataset, "--verdicts", path, "--output", tmp_path / "c", "--json")
    assert outcome.code == 0, outcome.err
    assert json.loads(outcome.out)["verdicts"] == len(rows)


def test_unclear_counts_as_wrong_and_pairs_at_the_end_may_be_left_out(judged, dataset, qpr, tmp_path):
    rows = read(judged)
    for row in rows[40:]:
        row["verdict"] = ""
    for row in rows[:40]:
        row["verdict"] = " Unclear" if row["verdict"] == "wrong" else "RIGHT "
    path = write_csv(tmp_path / "part.csv", rows)
    outcome = qpr("calibrate", "--dataset", dataset, "--verdicts", path, "--output", tmp_path / "c", "--json")
    assert outcome.code == 0, outcome.err
    told = json.loads(outcome.out)
    assert told["verdicts"] == 40
    assert told["unclear"] == sum(row["verdict"] == " Unclear" for row in rows)
    assert told["estimates"]["precision"]["value"] < 1
    assert [line["stated"] for line in told["thresholds"]] == [None, None, None]


@pytest.mark.usefixtures("wide_tables")
def test_too_few_verdicts_are_an_error_with_the_number_that_is_missing(judged, dataset, logs, qpr, tmp_path):
    rows = read(judged)
    few = write_csv(tmp_path / "few.csv", [row | {"verdict": ""} for row in rows])
    outcome = qpr("calibrate", "--dataset", dataset, "--verdicts", few, "--output", tmp_path / "c")
    assert outcome.code == 1
    assert "0 verdicts so far, at least 8 needed" in outcome.err
    assert not (tmp_path / "c").exists()
    some = write_csv(
        tmp_path / "some.csv", [row | {"verdict": "right" if n < 30 else ""} for n, row in enumerate(rows)]
    )
    outcome = qpr("calibrate", "--dataset", dataset, "--verdicts", some, "--output", tmp_path / "c")
    assert outcome.code == 0, outcome.err
    assert outcome.out.count("at least 42 more verdicts before any precision can be tested") == 1
    assert "precision 0.8, 0.9, 0.95" in outcome.out
    assert "out of reach" not in outcome.out
    given = ("--min-probability", 0.05, "--calibration", tmp_path / "c", "--precision", 0.9)
    outcome = qpr("clusters", logs, "--output", tmp_path / "d", *given)
    assert outcome.code == 1
    assert "--precision 0.9: not shown with 95 % confidence by 30 verdicts: at least 42 more verdicts" in outcome.err
    assert "Draw more with `qpr sample" in outcome.err


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda rows: rows[3].update(dataset="0" * 64), "row 4 judges pairs of another dataset than --dataset"),
        (lambda rows: rows[5].update(pair_id="p00"), "row 6 names no pair or cluster of the sample with seed 0"),
        (lambda rows: rows[5].update(verdict="maybe"), "row 6: verdict 'maybe' is none of right, wrong and unclear"),
        (lambda rows: rows[5].update(verdict=""), "row 6 has no verdict, although pairs drawn later have one"),
        (lambda rows: rows.pop(5), "1 drawn pair before the last judged one is not in the file"),
        (lambda rows: rows.append(rows[0] | {"verdict": "unclear"}), " contradict each other about p"),
        (lambda rows: rows[5].update(pair_id="", cluster_id=""), "row 6 has neither pair_id nor cluster_id"),
        (lambda rows: rows[5].update(pair_id="", cluster_id="c00"), "row 6 names no pair or cluster"),
        (lambda rows: rows[5].update(seed="1"), "samples with the seeds 0, 1"),
        (lambda rows: [row.update(seed="x") for row in rows], "seed 'x' is no whole number"),
        (lambda rows: rows.__setitem__(slice(None), [dict.fromkeys(rows[0], "")]), "has no row"),
        (lambda rows: [row.pop("verdict") for row in rows], "no column verdict"),
    ],
)
def test_a_faulty_file_is_refused_with_its_row(judged, dataset, qpr, tmp_path, change, message):
    rows = read(judged)
    change(rows)
    path = write_csv(tmp_path / "faulty.csv", rows)
    outcome = qpr("calibrate", "--dataset", dataset, "--verdicts", path, "--output", tmp_path / "c")
    assert outcome.code == 1, outcome.err
    assert message in outcome.err
    assert not (tmp_path / "c").exists()


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("v.csv", b"", "is empty"),
        ("v.csv", b"verdict,dataset\nright,\xff\xfe\n", "invalid_utf8"),
        ("v.csv.gz", gzip.compress(b"verdict,dataset\nright,a\n" * 99, mtime=0)[:40], "gzip"),
        ("v.txt", b"right", ".jsonl"),
        ("v.jsonl", b"{not json}\n", "invalid_json"),
        ("v.jsonl", b'{"verdict": "right", "pair_id": \n{}', "is a JSON object with a key (invalid_json)"),
    ],
)
def test_a_file_that_cannot_be_read_is_refused(dataset, qpr, tmp_path, name, content, message):
    (tmp_path / name).write_bytes(content)
    outcome = qpr("calibrate", "--dataset", dataset, "--verdicts", tmp_path / name, "--output", tmp_path / "c")
    assert outcome.code == 1
    assert message in outcome.err


@pytest.mark.parametrize(
    ("given", "code", "message"),
    [
        (["--verdicts", "nowhere.csv", "--dataset", "DATASET"], 1, "nowhere.csv"),
        (["--verdicts", "JUDGED", "--dataset", "nowhere"], 1, "nowhere: not a dataset"),
        (["--verdicts", "JUDGED"], 2, "--verdicts and --dataset go together"),
        (["--verdicts", "JUDGED", "--dataset", "DATASET", "logs.jsonl"], 2, "--verdicts: needs no LOGS"),
        (["--verdicts", "JUDGED", "--dataset", "DATASET", "--linkage", "logistic"], 2, "--verdicts: needs no LOGS"),
    ],
)
def test_options_of_a_calibration_by_verdicts_go_together(judged, dataset, qpr, tmp_path, given, code, message):
    places = {"JUDGED": judged, "DATASET": dataset}
    outcome = qpr("calibrate", *(places.get(part, part) for part in given), "--output", tmp_path / "c")
    assert outcome.code == code
    assert message in outcome.err


@pytest.mark.parametrize(
    ("given", "code", "message"),
    [
        (["--min-probability", 0.05, "--precision", 1.0], 2, "--precision 1.0: no finite number of verdicts shows it"),
        (["--precision", 0.5], 2, "--min-probability was 0.05 when the pairs were judged, not set here"),
        (
            ["--min-probability", 0.05, "--scrub", "all"],
            2,
            "--scrub was questions when the pairs were judged, all here",
        ),
        (["--min-probability", 0.05, "--min-users", 3], 2, "--min-users was 1 when the pairs were judged, 3 here"),
        (["--min-probability", 0.05, "--max-events-of-user", 2], 2, "--max-events-of-user was not set when"),
        (
            ["--min-probability", 0.05, "--refine-with", "static:TOKENS"],
            2,
            "--refine-with (kind) was not set when the pairs were judged, static here",
        ),
        (["--min-probability", 0.05, "--ignore-answer", "Paris"], 2, "--ignore-answer was not set when the pairs"),
        (["--linkage", "none"], 2, "verdicts correct the probability of a --linkage"),
    ],
)
def test_a_calibration_by_verdicts_is_for_the_clusters_that_were_judged(
    calibration, logs, tokens, qpr, tmp_path, given, code, message
):
    given = [f"static:{tokens}" if part == "static:TOKENS" else part for part in given]
    outcome = qpr("clusters", logs, "--output", tmp_path / "d", "--calibration", calibration[0], *given)
    assert outcome.code == code
    assert message in outcome.err
    assert not (tmp_path / "d").exists()


def test_other_logs_get_a_warning_and_their_dataset_no_further_calibration(calibration, logs, qpr, tmp_path):
    other = tmp_path / "other.jsonl"
    other.write_text("".join(logs.read_text().splitlines(keepends=True)[:-6]))
    given = ("--min-probability", 0.05, "--calibration", calibration[0])
    outcome = qpr("clusters", other, "--output", tmp_path / "d", *given, "--precision", 0.8, "--json")
    assert outcome.code == 0, outcome.err
    told = json.loads(outcome.out)
    assert "the verdicts of --calibration are about other files, columns or a dataset of" in told["warnings"][0]
    assert "the precision of 0.8 holds" in told["warnings"][0]
    assert told["warnings"][0] in outcome.err
    assert told["answer_worth"]["origin"] == "verdicts on other logs"
    page = Path(told["report"]).read_text()
    assert told["warnings"][0] in page
    assert "If this log is like the judged ones, kept pairs have a precision of at least 0.8" in page
    outcome = qpr("sample", "--dataset", tmp_path / "d", "--for-calibration", 10)
    assert outcome.code == 1
    assert "was made with --calibration" in outcome.err


@pytest.mark.parametrize("change", ["columns", "release"])
def test_other_columns_and_another_release_count_as_other_logs(calibration, logs, qpr, tmp_path, monkeypatch, change):
    given = ["--min-probability", 0.05, "--calibration", calibration[0]]
    if change == "columns":
        given += ["--column", "answer_id=gold_cluster"]
    else:
        monkeypatch.setattr(stored_evidence, "__version__", "999.0")
    outcome = qpr("clusters", logs, "--output", tmp_path / "d", *given, "--precision", 0.8, "--json")
    assert outcome.code == 0, outcome.err
    told = json.loads(outcome.out)
    assert "are about other files, columns or a dataset of another release" in told["warnings"][0]
    assert told["answer_worth"]["origin"] == "verdicts on other logs"


@pytest.mark.parametrize(
    ("given", "code", "message"),
    [
        (["--for-calibration", 10, "--clusters", 5], 2, "--clusters is for a sample of clusters"),
        (["--for-calibration", 10, "--split", "test"], 2, "--split is for a sample of clusters"),
        (["--for-calibration", 10, "--output", "pairs.parquet"], 2, "must end in .csv or .jsonl"),
        (["--for-calibration", 0], 2, "--for-calibration"),
        (["--verdicts", "judged.csv"], 2, "--verdicts needs --for-calibration"),
        (["--for-calibration", 9, "--verdicts", "nowhere.csv"], 1, "nowhere.csv"),
        (["--for-calibration", 5000], 2, "--for-calibration"),
    ],
)
def test_options_of_a_sample_of_pairs(dataset, qpr, given, code, message):
    outcome = qpr("sample", "--dataset", dataset, *given)
    assert outcome.code == code
    assert message in outcome.err


def test_a_damaged_calibration_is_refused(calibration, logs, qpr, tmp_path):
    url, _ = calibration
    [file] = url.glob("*/verdicts.json")
    file.write_text(file.read_text().replace("true", "fals", 1))
    outcome = qpr("clusters", logs, "--output", tmp_path / "d", "--calibration", url)
    assert outcome.code == 1
    assert "does not match the manifest's sha256" in outcome.err
    assert read_manifest(str(url), "calibration").counters["verdicts"] > 0


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"probability": [[0.5] * 5]}, "a block has not 6 draws"),
        ({"others_right": []}, "the lists of blocks differ in length"),
        ({"right": []}, "the lists of blocks differ in length"),
        ({"sets": [[0.5, 0.4]]}, "the sets do not descend in probability to all pairs"),
        ({"sets": [[0.5, 0.4], [0.4, 0.4], [0.3, 1]]}, "the shares of the sets do not ascend"),
        ({"sets": [[2, 1]]}, "sets.0.0"),
        ({"slope": 0}, "slope"),
        ({"intercept": None}, "intercept"),
        ({"more": 1}, "more"),
    ],
)
def test_a_calibration_with_values_that_no_command_writes_is_refused(calibration, logs, qpr, tmp_path, change, fault):
    url, _ = calibration
    [file] = url.glob("*/verdicts.json")
    output = Output(str(tmp_path / "changed"), "calibration")
    content = json.dumps(json.loads(file.read_text()) | change).encode()
    output.publish([output.write("verdicts.json", content, table="verdicts")], inputs=[], configuration={}, counters={})
    outcome = qpr("clusters", logs, "--output", tmp_path / "d", "--calibration", tmp_path / "changed")
    assert outcome.code == 1
    assert fault in outcome.err
    assert "Make it again with `qpr calibrate`" in outcome.err


def test_a_dataset_with_fewer_pairs_than_the_sample_has_them_all_drawn(qpr, tmp_path):
    texts = ["can I renew a book", "how can I renew my book", "may I renew the book"]
    rows = [{"question": text, "answer": "You can renew it twice in your account."} for text in texts]
    log = tmp_path / "log.jsonl"
    log.write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert qpr("clusters", log, "--output", tmp_path / "d", "--answers", "intent").code == 0
    outcome = qpr("sample", "--dataset", tmp_path / "d", "--for-calibration", 9, "--output", tmp_path / "s.csv")
    assert outcome.code == 0, outcome.err
    shown = outcome.err.replace("\n", " ")
    assert "3 of 9 pairs were drawn: the dataset has too few pairs of questions with the same answer" in shown
    assert "into the column verdict, from the first empty cell on" in shown
