import hashlib
import html
import json

import pyarrow.parquet as pq
import pytest

from pipelines.decontamination.settings import SMALLEST_JACCARD
from schemas.artifacts import storage
from schemas.artifacts.dataset import open_dataset
from schemas.artifacts.manifest import read_manifest, read_verified

ROWS = [
    {"question": "how do I pay my bill", "answer": "In the app"},
    {"question": "how pay my bill?", "answer": "in the app"},
    {"question": "pay my bill", "answer": "In the app"},
    {"question": "How pay my BILL", "answer": "In the app"},
    {"question": "who is the king", "answer": "Nobody"},
]


@pytest.fixture
def log(write_jsonl):
    return write_jsonl("log.jsonl", ROWS)


@pytest.fixture
def dataset(memory):
    return f"{memory}/dataset"


def clusters_of(url):
    return [sorted(texts) for texts in open_dataset(url).table("clusters")["texts"].to_pylist()]


def reasons_of(url):
    rejected = open_dataset(url).table("rejected")
    return sorted(zip(rejected["stage"].to_pylist(), rejected["reason"].to_pylist(), strict=True))


def test_a_log_becomes_a_dataset_and_the_next_step_is_reported(qpr, log, dataset):
    outcome = qpr("clusters", log, "--output", dataset)
    assert outcome.code == 0
    assert "read 5 100.0 %" in " ".join(outcome.out.split())
    assert "1 file," in outcome.err
    assert f"Next: qpr sample --dataset {dataset}" in outcome.err
    assert clusters_of(dataset) == [
        ["How pay my BILL", "how do I pay my bill", "pay my bill"]
    ]  # of equal forms the smallest
    assert reasons_of(dataset) == [("size", "single_question")]
    manifest = read_manifest(dataset, "dataset")
    assert [source.url for source in manifest.inputs] == [str(log)]
    assert manifest.configuration["assembly"]["gate"]["coherence"] == "idf"


def test_columns_that_may_be_an_id_or_a_time_are_named_once_where_they_are_ignored(qpr, write_jsonl, dataset):
    rows = [{**row, "Created": "2026-11-20", "Tags": "bill"} for row in ROWS]
    logs = [write_jsonl(f"{name}.jsonl", rows) for name in ("a", "b")]
    ignored = qpr("clusters", *logs, "--output", dataset, "--dry-run").err
    options = (
        "If one of them is answer_id or timestamp under another name, "
        "add --column answer_id=NAME or --column timestamp=NAME"
    )
    assert ignored.count("ignored columns") == 1
    assert f"a.jsonl: ignored columns: Created, Tags. {options}" in ignored
    mapped = ["--column", "timestamp=Created", "--column", "answer_id=answer", "--dry-run"]
    assert "ignored columns" not in qpr("clusters", *logs, "--output", dataset, *mapped).err
    assert "ignored columns" not in qpr("clusters", *logs, "--output", dataset, "--dry-run", "--quiet").err
    turns = [{"turns": [{"text": row["question"]}], "reply": row["answer"], "turn": 1} for row in ROWS]
    mapped = ["--column", "question=turns[-1].text", "--column", "answer=reply", "--dry-run"]
    ignored = qpr("clusters", write_jsonl("turns.jsonl", turns), "--output", dataset, *mapped).err
    assert "turns.jsonl: ignored columns: turn. If" in ignored


def test_json_is_one_valid_document_on_stdout(qpr, log, dataset):
    outcome = qpr("clusters", log, "--output", dataset, "--json")
    result = json.loads(outcome.out)
    manifest = read_manifest(dataset)
    assert result["dataset"] == dataset
    assert result["digest"] == manifest.digest
    assert result["counters"] == manifest.counters
    assert result["counters"]["rows_read"] == 5


def test_a_pattern_that_the_shell_expanded_names_several_files(qpr, write_jsonl, dataset):
    paths = [write_jsonl(f"{i}.jsonl", [row]) for i, row in enumerate(ROWS)]
    assert qpr("clusters", *paths, "--output", dataset).code == 0
    assert read_manifest(dataset).counters["rows_read"] == 5


def test_a_pattern_that_the_shell_left_alone_does_too_and_the_direct_runner_is_the_one_in_this_process(
    qpr, write_jsonl, dataset
):
    paths = [write_jsonl(f"{i}.jsonl", [row]) for i, row in enumerate(ROWS)]
    outcome = qpr("clusters", paths[0].parent / "*.jsonl", "--output", dataset, "--", "--runner=DirectRunner")
    assert outcome.code == 0
    assert read_manifest(dataset).counters["rows_read"] == 5
    assert outcome.err.count("nothing is downloaded") == 1


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("none.jsonl", None, "none.jsonl: no file matches"),
        ("empty.jsonl", "", "empty.jsonl: the file is empty"),
        ("header.csv", "question,answer\n", "header.csv: there is no row"),
        ("log.txt", "x", "its name shows no known format"),
        (
            "log.csv",
            "asked,told\na,b\n",
            "no column question, answer; there are asked, told. Add: --column question=asked --column answer=told",
        ),
        ("log.jsonl.gz", "not gzip", "log.jsonl.gz: is not gzip data"),
        ("log.parquet", "not parquet", "log.parquet: not a complete Parquet file"),
    ],
)
def test_a_wrong_input_is_named_and_nothing_is_written(qpr, tmp_path, dataset, name, content, message):
    path = tmp_path / name
    if content is not None:
        path.write_text(content)
    outcome = qpr("clusters", path, "--output", dataset)
    assert outcome.code == 1
    assert message in outcome.err
    assert outcome.out == ""
    assert not storage.exists(dataset)


def test_wrong_columns_are_answered_with_the_option_that_maps_them(qpr, write_jsonl, dataset):
    path = write_jsonl("log.jsonl", [{"utterance": row["question"], "reply": row["answer"]} for row in ROWS])
    outcome = qpr("clusters", path, "--output", dataset)
    assert outcome.code == 1
    assert "utterance" in outcome.err
    assert "--column question=utterance" in outcome.err
    mapped = ["--column", "question=utterance", "--column", "answer=reply"]
    assert qpr("clusters", path, "--output", dataset, *mapped).code == 0
    assert len(clusters_of(dataset)) == 1
    assert read_manifest(dataset).configuration["column_names"] == {"question": "utterance", "answer": "reply"}


def test_an_output_that_exists_is_refused_stays_if_a_run_fails_and_overwrite_replaces_it(
    qpr, log, write_jsonl, dataset
):
    assert qpr("clusters", log, "--output", dataset).code == 0
    before = read_manifest(dataset)
    refused = qpr("clusters", log, "--output", dataset)
    assert refused.code == 1
    assert f"{dataset}: exists. Choose another --output or add --overwrite" in refused.err
    assert read_manifest(dataset) == before
    one = write_jsonl("one.jsonl", ROWS[:1])
    assert qpr("clusters", one, "--output", dataset, "--overwrite").code == 1
    assert read_manifest(dataset) == before
    assert len(clusters_of(dataset)) == 1
    assert qpr("clusters", write_jsonl("b.jsonl", ROWS[:2]), "--output", dataset, "--overwrite").code == 0
    assert read_manifest(dataset).counters["rows_read"] == 2


@pytest.mark.parametrize("output", ["foreign", "foreign/file.txt"])
def test_an_output_that_holds_something_else_is_refused(qpr, log, tmp_path, output):
    (tmp_path / "foreign").mkdir()
    (tmp_path / "foreign" / "file.txt").write_text("mine")
    outcome = qpr("clusters", log, "--output", tmp_path / output, "--overwrite")
    assert outcome.code == 1
    assert output in outcome.err
    assert (tmp_path / "foreign" / "file.txt").read_text() == "mine"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--", "--direct_running_mode=multi_threading"], "multi_threading loses rows"),
        (["--", "--direct_num_worker=2"], "did you mean --direct_num_workers?"),
        (["--min-coherence", "2"], "min-coherence"),
        (["--min-confidence", "nan"], "--min-confidence nan: must be a finite number"),
        (["--near-duplicate", "0.5"], "must be 0 or from 0.8 to 1, got 0.5"),
        (["--coherence", "papers"], "papers"),
        (["--min-answer-share", "0", "--min-answer-events", "3"], "--min-answer-events has no use"),
        (["--coherence", "paper", "--min-answer-events", "3"], "--min-answer-events has no use"),
        (["--shards", "0"], "shards"),
        (["--frobnicate"], "frobnicate"),
    ],
)
def test_a_wrong_option_is_wrong_usage(qpr, log, dataset, arguments, message):
    outcome = qpr("clusters", log, "--output", dataset, *arguments)
    assert outcome.code == 2
    assert message in outcome.err
    assert not storage.exists(dataset)


@pytest.mark.parametrize("given", [[], ["x.jsonl"]])
def test_a_required_option_that_is_missing_is_wrong_usage(qpr, given):
    outcome = qpr("clusters", *given)
    assert outcome.code == 2
    assert "Missing option" in outcome.err


def test_no_cluster_is_an_error_that_states_why_and_keeps_the_rejected_rows(qpr, write_jsonl, dataset):
    outcome = qpr("clusters", write_jsonl("log.jsonl", ROWS[3:]), "--output", dataset)
    assert outcome.code == 1
    assert "no cluster was left of 2 questions in 2 groups. Most were size_single_question (2)" in outcome.err
    assert readable_rejects(outcome.err) == ["single_question"] * 2


def test_too_many_rejects_are_an_error_and_the_rejected_rows_can_be_read(qpr, write_jsonl, dataset):
    bad = [{"question": "?", "answer": "x"}, {"question": None, "answer": None}, {}, {"question": "who", "answer": ""}]
    path = write_jsonl("log.jsonl", ROWS + bad)
    outcome = qpr("clusters", path, "--output", dataset)
    assert outcome.code == 1
    assert "4 of 9 rows rejected, more than --max-reject-ratio 0.1 allows" in outcome.err
    assert not storage.exists(f"{dataset}/manifest.json")
    reasons = ["empty_answer", "missing_question", "missing_question", "no_word"]
    assert [reason for reason in readable_rejects(outcome.err) if reason != "single_question"] == reasons
    [run] = storage.children(dataset)
    assert storage.children(f"{dataset}/{run}") == ["leakage.json", "rejected", "report.html"]
    assert qpr("clusters", path, "--output", dataset, "--max-reject-ratio", 0.5).code == 0


def readable_rejects(message):
    folder = message.split("Read what was rejected in ")[1].split()[0]
    file_system, path = storage.locate(folder)
    return sorted(pq.read_table(path, filesystem=file_system)["reason"].to_pylist())


def test_exactly_the_allowed_share_of_rejects_passes(qpr, write_jsonl, dataset):
    rows = [*ROWS[:4], {"question": "", "answer": "x"}]  # 1 of 5
    path = write_jsonl("log.jsonl", rows)
    assert qpr("clusters", path, "--output", dataset, "--max-reject-ratio", 0.19).code == 1
    assert qpr("clusters", path, "--output", dataset, "--max-reject-ratio", 0.2).code == 0


def test_an_answer_id_decides_before_the_answer_text(qpr, write_jsonl, dataset):
    asked = [("pay my bill", "a"), ("pay bill", "a"), ("bill how pay", "b"), ("how do I pay my bill", "b")]
    rows = [{"question": q, "answer": f"text {n % 2}", "answer_id": i} for n, (q, i) in enumerate(asked)]
    assert qpr("clusters", write_jsonl("log.jsonl", rows), "--output", dataset).code == 0
    assert sorted(clusters_of(dataset)) == [["bill how pay", "how do I pay my bill"], ["pay bill", "pay my bill"]]


AMBIGUOUS = [("pay my bill", "a"), ("pay my bill", "b"), ("how pay my bill", "a"), ("how pay bill", "a")]


@pytest.mark.parametrize(
    ("options", "share", "reasons", "sizes"),
    [
        ([], 0.5, ["ambiguous", "ambiguous"], [2]),
        (["--min-answer-events", 1], 0.5, ["minority_answer"], [2, 3]),  # which of the two answers, the ids decide
        (["--min-answer-share", 0], 0, [], [3]),
        (["--coherence", "paper"], 0, [], [3]),
        (["--coherence", "paper", "--min-answer-share", 0.5], 0.5, ["ambiguous", "ambiguous"], [2]),
    ],
)
def test_a_question_with_two_answers_is_ambiguous_except_in_the_paper(
    qpr, write_jsonl, dataset, options, share, reasons, sizes
):
    path = write_jsonl("log.jsonl", [{"question": q, "answer": a} for q, a in AMBIGUOUS])
    assert qpr("clusters", path, "--output", dataset, *options).code == 0
    assert [reason for stage, reason in reasons_of(dataset) if stage == "ambiguity"] == reasons
    assert len(clusters_of(dataset)[0]) in sizes
    manifest = read_manifest(dataset)
    assert manifest.configuration["ambiguity"]["min_answer_share"] == share
    assert manifest.counters["questions_with_several_answers"] == 1


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ([], 0.9),
        (["--coherence", "adjusted"], 0.9),
        (["--coherence", "paper"], 0),
        (["--near-duplicate", 1], 1),
        (["--coherence", "paper", "--near-duplicate", 0.8], 0.8),
    ],
)
def test_near_duplicates_leave_except_in_the_paper(qpr, log, dataset, options, expected):
    assert qpr("clusters", log, "--output", dataset, *options).code == 0
    manifest = read_manifest(dataset)
    assert manifest.configuration["assembly"]["leakage"]["near_duplicate"] == expected
    told = json.loads(read_verified(dataset, manifest.of("leakage")[0]))
    assert told["rule"]["near_duplicate"] == expected


def test_confidence_and_locale_choose_rows(qpr, write_jsonl, dataset):
    confidences, locales = [0.9, 0.2, 0.8, None, 0.9], ["en-GB", "en-GB", "en_US", "en", "de-DE"]
    rows = [{**r, "confidence": c, "locale": x} for r, c, x in zip(ROWS, confidences, locales, strict=True)]
    options = ["--min-confidence", 0.5, "--locale", "en", "--max-reject-ratio", 1]
    assert qpr("clusters", write_jsonl("log.jsonl", rows), "--output", dataset, *options).code == 0
    assert reasons_of(dataset) == [("validate", "low_confidence"), ("validate", "other_locale")]
    assert clusters_of(dataset) == [["How pay my BILL", "how do I pay my bill", "pay my bill"]]


def test_a_locale_that_selects_no_row_is_an_error_with_what_to_give(qpr, write_jsonl, dataset):
    log = write_jsonl("log.jsonl", [{**row, "locale": "en-GB"} for row in ROWS])
    outcome = qpr("clusters", log, "--output", dataset, "--locale", "en-US")
    assert outcome.code == 1
    assert "or give a locale of the rows: en also selects the rows of en-GB" in outcome.err


def test_broken_lines_are_rejected_with_their_stage_and_counted(qpr, log, dataset):
    log.write_bytes(log.read_bytes() * 5 + b'{"question": "cut of\n' + b'{"question": "\xff", "answer": "x"}\n')
    assert qpr("clusters", log, "--output", dataset).code == 0
    assert [stage for stage, _ in reasons_of(dataset)].count("read") == 2
    counters = read_manifest(dataset).counters
    assert counters["rows_read"] == 27 == counters["rows_kept"] + counters["rows_rejected"]


def test_times_become_first_and_last_seen(qpr, write_jsonl, dataset):
    days = ["2024-01-02T00:00:00Z", "2024-01-01T00:00:00Z", None, "2024-01-03T00:00:00Z", None]
    rows = [{**row, "timestamp": day} for row, day in zip(ROWS, days, strict=True)]
    assert qpr("clusters", write_jsonl("log.jsonl", rows), "--output", dataset).code == 0
    seen = {r["key"]: r for r in open_dataset(dataset).table("questions").to_pylist()}["how pay my bill"]
    assert (seen["first_seen"].day, seen["last_seen"].day, seen["events"]) == (1, 3, 2)


def test_times_that_cannot_be_read_are_counted(qpr, write_jsonl, dataset):
    days = ["yesterday", "32/12/2024", "", None, "2024-01-03"]
    rows = [{**row, "timestamp": day} for row, day in zip(ROWS, days, strict=True)]
    assert qpr("clusters", write_jsonl("log.jsonl", rows), "--output", dataset).code == 0
    assert read_manifest(dataset).counters["unreadable_timestamp"] == 2


@pytest.mark.parametrize("option", [("--min-confidence", 0.5), ("--locale", "en-GB")])
def test_a_condition_on_a_column_that_no_row_has_is_refused(qpr, log, dataset, option):
    outcome = qpr("clusters", log, "--output", dataset, *option)
    column = {"--locale": "locale"}.get(option[0], "confidence")
    assert outcome.code == 1
    assert (
        f"no column {column}; there are question, answer. The file has no other column. Add {column} to the file. "
        f"Or leave out {option[0]}\n" in outcome.err
    )


def test_logs_may_be_an_option_for_now_and_one_file_counts_once(qpr, log, dataset, monkeypatch):
    monkeypatch.chdir(log.parent)
    given = ["log.jsonl", "--logs", f"./../{log.parent.name}/log.jsonl", "--output", dataset]
    outcome = qpr("clusters", *given)
    assert outcome.code == 0
    assert outcome.err.startswith("--logs will go: give the files as arguments\n")
    assert "Given more than once, read once: " in outcome.err
    assert read_manifest(dataset).counters["rows_read"] == 5
    as_argument = qpr("clusters", log, "--output", dataset, "--overwrite")
    assert as_argument.code == 0
    assert "will go" not in as_argument.err
    assert "--logs" not in qpr("clusters", "--help").out


@pytest.mark.parametrize("command", ["clusters", "quora", "nightly"])
def test_the_help_has_the_lowest_near_duplicate(qpr, command, monkeypatch):
    monkeypatch.setenv("TERMINAL_WIDTH", "200")
    shown = " ".join(qpr(command, "--help").out.split())
    assert f"1: the same words; {SMALLEST_JACCARD}: the lowest but 0; 0: only questions of train itself." in shown


def test_no_input_at_all_is_wrong_usage_with_an_example(qpr, dataset):
    outcome = qpr("clusters", "--output", dataset)
    assert outcome.code == 2
    assert "no input file. Name at least one, such as: qpr clusters 'logs/*.jsonl.gz' --output dataset" in outcome.err


def test_inputs_are_called_as_they_were_typed_and_have_a_digest(qpr, log, dataset, monkeypatch):
    monkeypatch.chdir(log.parent)
    assert qpr("clusters", "*.jsonl", "--output", dataset).code == 0
    manifest = read_manifest(dataset)
    [source] = manifest.inputs
    content = log.read_bytes()
    expected = ("log.jsonl", len(content), hashlib.sha256(content).hexdigest())
    assert (source.url, source.bytes, source.digest) == expected
    written = [storage.read_bytes(storage.join(dataset, file.path)) for file in manifest.of("reports")]
    written.append(storage.read_bytes(storage.join(dataset, "manifest.json")))
    assert all(str(log.parent).encode() not in content for content in written)


def write_csv(path, header, values, *, encoding="utf-8"):
    lines = [["question", "answer", header], *([*row.values(), value] for row, value in zip(ROWS, values, strict=True))]
    path.write_text("".join(";".join(line) + "\n" for line in lines), encoding=encoding)
    return path


def test_decimal_commas_filter_rows(qpr, tmp_path, dataset):
    log = write_csv(tmp_path / "log.csv", "confidence", ["0,9", "0,8", "0,7", "0,4", "0,9"])
    outcome = qpr("clusters", log, "--output", dataset, "--min-confidence", 0.5, "--max-reject-ratio", 0.2)
    assert outcome.code == 0
    assert f"{log}: the cells are separated by semicolons" in outcome.err
    counters = read_manifest(dataset).counters
    assert (counters["rejected_validate_low_confidence"], counters["readable_confidence"]) == (1, 5)
    assert "unreadable_confidence" not in counters


@pytest.mark.parametrize(
    ("header", "values", "option", "message"),
    [
        (
            "confidence",
            ["89 %"] * 4 + [""],
            ["--min-confidence", 0.5],
            "--min-confidence filters by the column confidence, but none of 4 values in it is a number. Name another",
        ),
        ("confidence", [""] * 5, ["--min-confidence", 0.5], "by the column confidence, but it holds no value"),
        ("locale", [""] * 5, ["--locale", "de"], "--locale filters by the column locale, but it holds no value"),
    ],
)
def test_a_filter_that_reads_no_value_fails(qpr, tmp_path, dataset, header, values, option, message):
    log = write_csv(tmp_path / "log.csv", header, values)
    outcome = qpr("clusters", log, "--output", dataset, *option)
    assert outcome.code == 1
    assert message in outcome.err
    assert not storage.exists(f"{dataset}/manifest.json")


def test_values_that_are_not_read_are_counted_and_reported(qpr, tmp_path, dataset):
    log = write_csv(tmp_path / "log.csv", "timestamp", ["01/02/2025", "03/04/2025", "soon", "2025-01-02", ""])
    outcome = qpr("clusters", log, "--output", dataset, "--json", "--quiet")
    assert outcome.code == 0
    counters = read_manifest(dataset).counters
    assert (counters["unreadable_timestamp"], counters["ambiguous_timestamp"]) == (3, 2)
    unread = "timestamp: no time can be read from 3 values, not used. Write each as in 2025-01-31T18:00:00+01:00"
    assert f"warning: {unread}" in " ".join(outcome.err.split())
    assert unread in json.loads(outcome.out)["warnings"]
    assert "timestamp: 2 of these are dates: their day or their month may be first" in outcome.err


def test_rows_of_another_encoding_are_reported_with_the_option_that_reads_them(qpr, tmp_path, dataset):
    log = write_csv(tmp_path / "log.csv", "note", ["größer", "", "", "", ""], encoding="cp1252")
    outcome = qpr("clusters", log, "--output", dataset)
    assert outcome.code == 1
    assert (
        "Most were read_invalid_utf8 (1). If the text is in another encoding, add it, such as --encoding cp1252"
        in outcome.err
    )
    outcome = qpr("clusters", log, "--output", dataset, "--max-reject-ratio", 0.2)
    assert outcome.code == 0
    assert "1 row without valid UTF-8. If the text is in another encoding, add it" in outcome.err
    outcome = qpr("clusters", log, "--output", dataset, "--encoding", "cp1252", "--delimiter", ";", "--overwrite")
    assert outcome.code == 0
    manifest = read_manifest(dataset)
    assert (manifest.counters["rows_rejected"], manifest.configuration["encoding"]) == (0, "cp1252")


@pytest.mark.parametrize(
    ("option", "message"),
    [
        (["--delimiter", ";;"], "--delimiter ';;': must be one ASCII character"),
        (["--delimiter", ";"], "--delimiter: none of the files is CSV or TSV"),
        (["--encoding", "nonsense"], "--encoding nonsense: unknown text encoding"),
    ],
)
def test_an_input_option_that_makes_no_sense_is_wrong_usage(qpr, log, dataset, option, message):
    outcome = qpr("clusters", log, "--output", dataset, *option)
    assert outcome.code == 2
    assert message in outcome.err


def test_a_fallback_answer_is_warned_of_on_stderr_in_json_and_in_the_report(qpr, write_jsonl, memory):
    topics = {"card lost": "card", "pin wrong": "pin", "fee charged": "fee"}
    rows = [{"question": f"{t} w{n % 13} w{n % 17} x{n}", "answer": a} for t, a in topics.items() for n in range(60)]
    apart = [f"{t} w{n % 11} w{n % 19} y{n}" for n, t in enumerate([*topics] * 20)]
    path = write_jsonl("log.jsonl", rows + [{"question": text, "answer": "Sorry, what?"} for text in apart])
    warning = "one answer holds 25.0 % of the rows and 60 unlike questions: 'Sorry, what?'."
    found = []
    for shards in (1, 3):
        given = ("clusters", path, "--output", f"{memory}/{shards}", "--shards", shards)
        outcome = qpr(*given, "--json", "--quiet")
        assert outcome.code == 0, outcome.err
        assert outcome.err.startswith(f"warning: {warning} If it is a fallback, add --ignore-answer 'Sorry, what?'")
        result = json.loads(outcome.out)
        expected = {"answer": "Sorry, what?", "rows": 60, "questions": 60, "only": False, "share": 0.25}
        assert result["fallback_answers"] == [expected]
        assert result["warnings"][0].startswith(warning)
        assert warning in html.unescape(storage.read_bytes(result["report"]).decode())
        found.append(result["warnings"])
    assert found[0] == found[1]
    likely = ("--min-probability", 0.5, "--json")  # by default most pairs are estimated to be wrong: another warning
    ignored = qpr("clusters", path, "--output", f"{memory}/i", "--ignore-answer", "sorry,  WHAT?", *likely)
    assert json.loads(ignored.out)["warnings"] == []
    idle = json.loads(qpr("clusters", path, "--output", f"{memory}/o", "--ignore-answer", "Sorry", *likely).out)
    assert idle["warnings"][0].startswith("--ignore-answer rejected no row: none has the answer or answer id 'Sorry'")
    assert [warning.startswith(start) for warning, start in zip(idle["warnings"], ["--ign", "one ans"], strict=True)]


def test_shares_of_answers_are_those_of_the_rows_that_no_option_leaves_out(qpr, write_jsonl, dataset):
    german = [{"question": f"wie geht thema {n}", "answer": "Das habe ich nicht verstanden.", "locale": "de"}
              for n in range(5)]  # fmt: skip
    german += [{"question": f"konto {n} öffnen", "answer": "Unter Konto.", "locale": "de"} for n in range(45)]
    english = [{"question": f"open account {n}", "answer": "See Account.", "locale": "en"} for n in range(1950)]
    log = write_jsonl("log.jsonl", german + english)
    outcome = qpr("clusters", log, "--output", dataset, "--locale", "de", "--json")
    assert outcome.code == 0, outcome.err
    result = json.loads(outcome.out)
    assert [(found["answer"], found["share"]) for found in result["fallback_answers"]][-1] == (
        "Das habe ich nicht verstanden.",
        0.1,
    )
    assert "one answer holds 10.0 % of the rows and 5 questions: 'Das habe ich nicht verstanden.'" in outcome.err


def test_html_entities_are_counted_and_warned_of_and_stay(qpr, write_jsonl, memory):
    rows = [{"question": f"wo ist mein konto {n}", "answer": "unter &quot;Mein Konto&quot;"} for n in range(5)]
    outcome = qpr("clusters", write_jsonl("log.jsonl", rows), "--output", f"{memory}/d", "--json")
    assert outcome.code == 0, outcome.err
    result = json.loads(outcome.out)
    assert result["counters"]["html_entities_answer"] == 5
    assert [warning for warning in result["warnings"] if "in the answers of 100.0 %" in warning]
    [text] = set(open_dataset(f"{memory}/d").table("clusters")["answer"].to_pylist())
    assert text == "unter &quot;Mein Konto&quot;"


def test_answers_that_differ_in_html_alone_are_warned_of_and_an_id_of_the_text_unites_them(qpr, write_jsonl, memory):
    forms = ["See {}.", "<p>See {}.</p>", "See&nbsp;{}.", "See {}.<br/>"]
    rows = [
        {"question": f"{ask} gadget {n}", "answer": form.format(f"page {n}"), "plain": f"see page {n}."}
        for n in range(5)
        for ask in ("what costs the", "price of the")
        for form in forms
    ]
    log = write_jsonl("log.jsonl", rows)
    outcome = qpr("clusters", log, "--output", f"{memory}/d", "--json")
    assert outcome.code == 1
    assert "Of 10 questions with several answers 10 have some that differ in HTML tags or entities alone" in outcome.err
    assert outcome.err.count("differ in HTML tags") == 1
    assert "--min-answer-share" not in outcome.err
    outcome = qpr("clusters", log, "--output", f"{memory}/d", "--column", "answer_id=plain", "--json")
    assert outcome.code == 0, outcome.err
    result = json.loads(outcome.out)
    assert result["counters"]["questions_in_clusters"] == 10
    assert not [warning for warning in result["warnings"] if "HTML tags" in warning]


def test_the_kept_share_of_each_script_is_printed_and_a_low_one_warned_of(qpr, write_jsonl, dataset):
    rows = [
        {"question": f"{ask} gadget {letter * 4}", "answer": f"price {letter}"}
        for letter in "abcdefghijklmnop"
        for ask in ("what costs the", "what is the price of", "what does it cost to buy the", "price of the")
    ]
    letters = [
        chr(code) for code in range(0xF40, 0xF5F) if code != 0xF48
    ]  # three questions an answer, without a common word
    rows += [{"question": f"{c}{c} {c}་{c}{c}{c}", "answer": f"{place // 3}"} for place, c in enumerate(letters)]
    rows += [{"question": question, "answer": "!"} for question in ("🙂", "❤️", "?!")]
    outcome = qpr("clusters", write_jsonl("log.jsonl", rows), "--output", dataset, "--json")
    assert outcome.code == 0, outcome.err
    counters, result = read_manifest(dataset).counters, json.loads(outcome.out)
    assert counters["rejected_validate_no_word"] == 3
    assert [counters[f"script_tibetan_{outcome}"] for outcome in ("kept", "rejected")] == [0, 30]
    assert {"script": "tibetan", "questions": 30, "kept": 0, "share": 0.0} in result["scripts"]
    clustered = open_dataset(dataset).table("questions")["cluster_id"].drop_null()
    assert sum(script["kept"] for script in result["scripts"]) == len(clustered)
    [warning] = result["warnings"]
    assert warning.startswith("0.0 % of 30 questions in the script tibetan are in a cluster")
    assert f"warning: {warning}" in outcome.err.replace("\n", " ")
    page = html.unescape(storage.read_bytes(result["report"]).decode())
    assert warning in page
    assert "<h2>Scripts</h2>" in page


def test_a_log_in_a_script_that_is_not_cut_into_words_ends_with_its_name(qpr, write_jsonl, dataset):
    letters = [chr(code) for code in range(0xA98F, 0xA9A7)]
    rows = [{"question": "".join(letters[n : n + 12]), "answer": f"Ans {n % 6}"} for n in range(12)]
    rows += [{"question": "".join(letters[n + 11 : n - 1 : -1]), "answer": f"Ans {n % 6}"} for n in range(1, 13)]
    outcome = qpr("clusters", write_jsonl("log.jsonl", rows), "--output", dataset)
    assert outcome.code == 1
    assert "24 of 24 questions in the script javanese are one word each" in outcome.err.replace("\n", " ")


@pytest.mark.parametrize(
    ("texts", "reason"),
    [(["ཀ་ཁ", "ཀ་ཁ་ག", "ང་ཅ", "ང་ཅ་ཆ"], "no cluster was left"), (["🙂", "❤️", "?!", "…"], "rejected")],
)
def test_a_log_in_an_unknown_script_or_without_words_ends_with_a_reason(qpr, write_jsonl, dataset, texts, reason):
    rows = [{"question": text, "answer": f"answer {place}"} for place, text in enumerate(texts)]
    outcome = qpr("clusters", write_jsonl("log.jsonl", rows), "--output", dataset)
    assert outcome.code == 1
    assert reason in outcome.err
    assert "Traceback" not in outcome.err


def test_a_refused_run_shows_its_rejects_on_stderr_and_in_the_report(qpr, write_jsonl, dataset):
    rows = [{"question": f"who is number {n}", "answer": f"a{n}"} for n in range(9)]
    outcome = qpr("clusters", write_jsonl("log.jsonl", rows), "--output", dataset)
    assert outcome.code == 1
    assert outcome.err.count("\n  size, single question: who is number ") == 5
    page = outcome.err.split("see the counts in ")[1].split("\n")[0]
    assert storage.read_bytes(page).decode().count("who is number ") == 5


def test_the_worth_of_answers_and_the_intents_that_a_gate_rejects_are_reported(qpr, write_jsonl, dataset):
    letters = "abcdefghijklmnop"
    rows = [{"question": f"{a}{a}{a} {b}{b}{a}", "answer": f"Open the menu {b}."} for a in letters for b in letters[:3]]
    rows += [{"question": f"how {how} fly to Rome", "answer": "Rome"} for how in ("can I", "do I", "can you")]
    log = write_jsonl("log.jsonl", rows)
    outcome = qpr("clusters", log, "--output", dataset, "--json")
    assert outcome.code == 0, outcome.err
    result = json.loads(outcome.out)
    assert {kind["kind"]: kind["answers"] for kind in result["answers"]["kinds"]} == {"sentence": 3, "entity": 1}
    listed = result["answers"]["lowest"] + result["answers"]["highest"]
    assert {answer["answer"] for answer in listed} == {f"Open the menu {b}." for b in letters[:3]}
    assert all(answer["low"] <= answer["value"] <= answer["high"] for answer in listed)
    assert result["rejected_intents"] is None
    assert "Answers of many questions" in storage.read_bytes(result["report"]).decode()
    of_paper = qpr("clusters", log, "--output", dataset, "--overwrite", "--coherence", "paper", "--json")
    assert of_paper.code == 0, of_paper.err
    result = json.loads(of_paper.out)
    assert result["rejected_intents"] == {"answers": 3, "questions": 48, "by_paper": True}
    [warning] = result["warnings"]
    assert "Leave out --coherence paper" in warning
    assert warning in html.unescape(storage.read_bytes(result["report"]).decode())
    assert result["answers"] == {"kinds": [], "lowest": [], "highest": []}
