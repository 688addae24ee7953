"""The page of a version: clusters that changed, with their questions, in order of their size."""

import json
import zlib

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pipelines.summary.cluster_changes import cluster_changes, count_changes
from schemas.artifacts import storage
from schemas.artifacts.writer import Output
from schemas.tables import CLUSTERS
from schemas.versions import history
from tests.jobs.display.test_report_on_a_phone import wide_parts
from tests.jobs.workflows.warehouses.test_version_figures import METRICS
from tests.support.browser import BROWSER
from tests.support.small_versions import make_version

BEFORE = {
    1: ["reset password", "new password"],
    2: ["lost password", "password gone", "password?"],
    3: ["opening hours"],
}
AFTER = {
    1: ["reset password", "new password", "lost password", "password gone", "password?"],
    9: ["<script>alert(1)</script>", "shipping \x1b[31mcosts"],
}


def clusters(questions_of):
    rows = []
    for cluster_id, texts in questions_of.items():
        row = {field.name: [] if pa.types.is_list(field.type) else 0 for field in CLUSTERS}
        ids = [hash_of(text) for text in texts]
        row |= {
            "cluster_id": cluster_id,
            "answer": f"answer {cluster_id}",
            "answer_id": None,
            "size": len(texts),
            "split": "train",
        }
        rows.append(row | {"texts": texts, "question_ids": ids})
    return pa.Table.from_pylist(rows, CLUSTERS)


def hash_of(text):
    return zlib.crc32(text.encode())


def write(url, kind, path, table, name):
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink)
    with Output(url, kind) as output:
        file = output.write(path, sink.getvalue().to_pybytes(), table=name, rows=len(table))
        output.publish([file], inputs=[], configuration={}, counters={})


def publish(warehouse, name, before, after, **others):
    """Write a version with these clusters and the table of what changed, and return its record."""
    old, new = clusters(before), clusters(after)
    changes = cluster_changes(old, new)
    if not storage.exists(f"{warehouse}/datasets/{name}"):
        write(f"{warehouse}/datasets/{name}", "dataset", "clusters/one.parquet", new, "clusters")
        write(f"{warehouse}/reports/{name}", "report", "changes/changes.parquet", changes, "changes")
    given = {"metrics": {"mrr": 0.5, "queries": 7.0}, **others}
    return make_version(warehouse, name, changes=count_changes(changes), **given)


@pytest.fixture
def warehouse(tmp_path):
    w = str(tmp_path / "w")
    history.publish(w, publish(w, "one", {}, BEFORE))
    history.publish(w, publish(w, "two", BEFORE, AFTER, parent=1, date="2026-11-21"))
    return w


def test_a_page_shows_merged_gone_and_new_clusters(qpr, warehouse, tmp_path):
    page = tmp_path / "two.html"
    shown = qpr("versions", "--warehouse", warehouse, "--report", page, "--json")
    assert (shown.code, json.loads(shown.out)["page"]) == (0, str(page))
    text = page.read_text()
    assert "Version 2 of" in text
    titles = [text.index(title) for title in ("Merged clusters", "Clusters that are gone", "New clusters")]
    assert titles == sorted(titles)
    merged, gone, new = text[titles[0] : titles[1]], text[titles[1] : titles[2]], text[titles[2] :]
    assert merged.count("<article") == 1
    # the larger one first, then what both became
    assert merged.index("answer 2") < merged.index("answer 1") < merged.index("5 questions, cluster 1")
    assert "2 clusters" in merged
    assert "opening hours" in gone
    assert "Now" not in gone
    assert "&lt;script&gt;" in new
    assert "Before" not in new
    assert not [part for part in ("<script", "\x1b", "Split clusters") if part in text]
    assert ">0.5000<" in text
    assert ">7<" in text
    assert ">new clusters<" in text
    assert "Mean reciprocal rank of the first right hit on the test split" in text


def test_the_first_version_is_compared_with_none(qpr, warehouse, tmp_path):
    assert qpr("versions", "--warehouse", warehouse, "--at", 1, "--report", tmp_path / "one.html").code == 0
    text = (tmp_path / "one.html").read_text()
    assert "There is no version before." in text
    assert text.index("answer 2") < text.index("answer 1") < text.index("answer 3")


def test_the_last_refused_version_has_a_page_with_its_reason(qpr, warehouse, tmp_path):
    asked = ["versions", "--warehouse", warehouse, "--at", "refused"]
    none = qpr(*asked)
    assert (none.code, none.err) == (1, f"error: {warehouse}: no version was refused. `qpr versions` lists all\n")
    for name, date, hour in (("three", "2026-11-23", 2), ("four", "2026-11-22", 3)):
        stamp = {"created": f"2026-11-23T0{hour}:00:00+00:00", "writer": name}
        refused = f"MRR of {name} fell by <0.2>"
        version = publish(warehouse, name, AFTER, BEFORE, parent=2, date=date, refused=refused, **stamp)
        history.keep_refused(warehouse, version)
    shown = qpr(*asked, "--report", tmp_path / "refused.html")
    assert "MRR of four fell" in shown.out
    text = (tmp_path / "refused.html").read_text()
    assert "Refused version of" in text
    assert "MRR of four fell by &lt;0.2&gt;" in text
    assert "Split clusters" in text


def test_a_version_whose_parent_is_gone_shows_its_own_clusters(qpr, warehouse, tmp_path):
    storage.delete(f"{warehouse}/datasets/one")
    assert qpr("versions", "--warehouse", warehouse, "--report", tmp_path / "two.html").code == 0
    text = (tmp_path / "two.html").read_text()
    assert "The dataset of version 1 is gone" in text
    assert "5 questions, cluster 1" in text
    assert "opening hours" not in text


def test_a_version_with_the_artefacts_of_another_is_compared_as_that_one(qpr, warehouse, tmp_path):
    history.publish(warehouse, make_version(warehouse, "two", parent=2, date="2026-11-21"))  # a new certificate
    history.roll_back(warehouse, 1)
    history.roll_back(warehouse, 2)
    pages = [tmp_path / f"{number}.html" for number in (2, 3, 5)]
    for page in pages:
        assert qpr("versions", "--warehouse", warehouse, "--at", page.stem, "--report", page).code == 0
        assert "Compared with version 1." in page.read_text()
    sections = {page.read_text().partition("Merged clusters")[2] for page in pages}
    assert len(sections) == 1
    assert "lost password" in sections.pop()


def test_what_cannot_be_shown_is_one_line(qpr, warehouse, tmp_path):
    def run(*arguments):
        result = qpr("versions", "--warehouse", warehouse, *arguments)
        return result.code, result.err

    page = tmp_path / "page.html"
    assert run("--report", tmp_path / "page.txt") == (2, f"error: --report {tmp_path}/page.txt: must end in .html\n")
    page.write_text("mine")
    assert run("--report", page) == (1, f"error: {page}: exists. Choose another --report or add --overwrite\n")
    assert page.read_text() == "mine"
    assert run("--report", page, "--overwrite")[0] == 0
    storage.delete(f"{warehouse}/reports/two")
    code, error = run("--at", 2, "--report", tmp_path / "gone.html")
    assert code == 1
    assert "reports/two of this version is gone" in error
    assert not (tmp_path / "gone.html").exists()


@pytest.mark.skipif(BROWSER is None, reason="no Chromium is installed")
def test_a_page_fits_a_phone(qpr, warehouse, tmp_path):
    long = {cluster: ["x" * 300, *texts] for cluster, texts in AFTER.items()}
    metrics = dict.fromkeys((*METRICS, "difference_low", "difference_high"), 0.1234)
    version = publish(warehouse, "three", AFTER, long, parent=2, date="2026-11-22", metrics=metrics)
    history.publish(warehouse, version)
    page = tmp_path / "three.html"
    assert qpr("versions", "--warehouse", warehouse, "--report", page).code == 0
    text = page.read_text()
    assert "95 % interval +0.1234 to +0.1234; limit -0.02, unless --max-regression was given." in text
    assert wide_parts(text, tmp_path) == "[true,[]]"
