"""Certificates of an index that varies by columns."""

import datetime
import json

import pytest

from model.search.searcher import open_searcher
from tests.jobs.commands.indexes.test_certify import FIELDS, TODAY, requests, take_probabilities_from_questions
from tests.support.csv_files import write_csv

TENANTS = ("acme", "globex")
ROWS = [
    {"question": question, "answer": f"{tenant}: {question}", "tenant": tenant}
    for tenant in TENANTS
    for question in ("pay my bill", "how do I pay", "cancel my flight", "cancel flight")
]


def build(qpr, folder, make_model, name, rows, column):
    if not (folder / name).exists():
        make_model(folder / "model")
        file = write_csv(folder / f"{name}.csv", rows)
        given = ("--questions", file, "--model", folder / "model", "--output", folder / name, "--vary-by", column)
        assert qpr("index", *given, "--shards", 1).code == 0
    return folder / name


@pytest.fixture
def index(folder, make_model, qpr, monkeypatch):
    take_probabilities_from_questions(monkeypatch)
    return build(qpr, folder, make_model, "index", ROWS, "tenant")


@pytest.fixture
def certify(qpr, index, tmp_path):
    def run(rows, *options, columns=(*FIELDS, "tenant"), of=index):
        file = write_csv(tmp_path / "requests.csv", rows, columns=columns)
        given = ("--index", of, "--requests", file, "--output", tmp_path / "certificate", "--alpha", 0.05)
        yesterday = TODAY - datetime.timedelta(days=1)
        return qpr("certify", *given, "--delta", 0.1, "--log-until", yesterday, *options)

    return run


def of_tenants():
    """Return requests of which every third is of globex."""
    return [row | {"tenant": TENANTS[number % 3 == 0]} for number, row in enumerate(requests())]


def test_a_certificate_is_about_all_values_together_and_counts_each(certify, qpr, index, tmp_path):
    result = certify(of_tenants(), "--json")
    assert result.code == 0, result.err
    certificate = json.loads(result.out)
    assert [of["values"] for of in certificate["by_value"]] == [{"tenant": "acme"}, {"tenant": "globex"}]
    assert [of["requests"] for of in certificate["by_value"]] == [400, 200]
    for name in ("requests", "tested", "answered", "wrong"):
        assert sum(of[name] for of in certificate["by_value"]) == certificate[name]
    assert all(0 < of["wrong"] < of["answered"] < of["tested"] for of in certificate["by_value"])
    assert "--filter tenant=VALUE QUESTION" in result.err
    given = ("--index", index, "--certificate", tmp_path / "certificate", "--json", "pay the bill 950", "pay my bill")
    for tenant in TENANTS:
        answers = [json.loads(line) for line in qpr("answer", *given, "--filter", f"tenant={tenant}").out.splitlines()]
        assert [(a["reason"], a["tenant"]) for a in answers] == [("certified", tenant), ("exact", tenant)]
        assert all(a["answer"].startswith(f"{tenant}: ") for a in answers)
    searcher = open_searcher(str(index), certificate=str(tmp_path / "certificate"))
    answer = searcher.answer("pay the bill 100", filters={"tenant": "acme"})
    assert (answer.reason, answer.certificate) == ("below_confidence", None)


@pytest.mark.usefixtures("wide_tables")
def test_the_terminal_shows_what_each_value_had(certify, qpr, tmp_path):
    shown = certify(of_tenants())
    assert "over all requests together, not for each value by itself" in shown.out
    assert "tenant=globex" in shown.out
    used = qpr("certify", "--certificate", tmp_path / "certificate")
    assert "over all requests together" in used.out
    assert "tenant=acme" in used.out


@pytest.mark.usefixtures("wide_tables")
def test_further_values_are_counted(certify, monkeypatch):
    monkeypatch.setattr("jobs.workflows.certificates.value_rows.SHOWN_VALUES", 1)
    shown = certify(of_tenants()).out
    assert "tenant=acme" in shown
    assert "tenant=globex" not in shown
    assert "1, in --json" in shown


def without_tenant(rows):
    return [{name: cell for name, cell in row.items() if name != "tenant"} for row in rows]


def second(rows, tenant):
    return [rows[0], rows[1] | {"tenant": tenant}, *rows[2:]]


@pytest.mark.parametrize(
    ("rows", "columns", "faults"),
    [
        (without_tenant(of_tenants()), FIELDS, ("requests.csv", "tenant")),
        (second(of_tenants(), " "), (*FIELDS, "tenant"), ("requests.csv: row 2 has no tenant", "Complete the row")),
        (
            second(of_tenants(), "initech"),
            (*FIELDS, "tenant"),
            ("requests.csv: row 2: no question has the tenant 'initech'. Correct the row, or leave it out",),
        ),
    ],
)
def test_requests_without_a_value_of_the_index_are_refused(certify, tmp_path, rows, columns, faults):
    refused = certify(rows, columns=columns)
    assert refused.code == 1
    assert all(fault in refused.err for fault in faults), refused.err
    assert not (tmp_path / "certificate").exists()


def test_one_question_of_two_tenants_is_two_requests_with_a_verdict_each(certify):
    rows = of_tenants()
    same = rows[10] | {"tenant": TENANTS[rows[10]["tenant"] == TENANTS[0]], "verdict": "wrong"}
    assert rows[10]["verdict"] == "right"
    # the draw of the requests depends on their dates, and with .05 one more wrong one is too many on some days
    result = certify([*rows, same], "--json", "--alpha", 0.1)
    assert result.code == 0, result.err
    assert json.loads(result.out)["requests"] == len(rows) + 1
    repeated = certify([*rows, rows[10] | {"verdict": "wrong"}], "--overwrite")
    assert (repeated.code, "the same request as another row" in repeated.err) == (1, True)


def test_a_column_with_another_meaning_in_a_requests_file_is_refused(certify, qpr, folder, make_model):
    rows = [{"question": row["question"], "answer": row["answer"], "labeller": row["tenant"]} for row in ROWS]
    index = build(qpr, folder, make_model, "other", rows, "labeller")
    refused = certify(of_tenants(), of=index)
    assert (refused.code, "labeller, by which the index varies, has another meaning" in refused.err) == (1, True)
