import datetime
import json
from unittest.mock import Mock

import pytest

from jobs.workflows.warehouses.version_reading import Readable, Served
from model.certificates.version import RULES
from schemas.artifacts import storage
from schemas.artifacts.manifest import read_manifest
from schemas.artifacts.writer import Output
from schemas.errors import QprError, UsageError
from schemas.versions import history, leases
from schemas.versions.version import Artefact
from tests.support.certificates import VERSION, stored_certificate
from tests.support.small_versions import make_version


@pytest.fixture
def warehouse(tmp_path):
    w = str(tmp_path / "w")
    with Output(f"{w}/certificates/c", "certificate") as output:
        file = output.write("certificate.json", b"{}", table="certificate")
        digest = output.publish([file], inputs=[], configuration={}, counters={}).digest
    certificate = Artefact(path="certificates/c", digest=digest)
    history.publish(w, make_version(w, "one", certificate=certificate))
    history.publish(w, make_version(w, "two", parent=1, date="2026-11-21"))
    return w


def test_an_index_is_read_without_a_lease():
    with Readable("index", "certificate").held() as served:
        assert served == Served("index", "certificate")


def test_the_version_of_a_warehouse_is_held_with_its_certificate(warehouse):
    with Readable(warehouse=warehouse).held() as served:
        created = history.version_at(warehouse, "2")[1].created
        assert served == Served(f"{warehouse}/indexes/two", None, 2, f"{warehouse}/datasets/two", created)
    with Readable(warehouse=warehouse, at="2026-11-20").held() as served:
        urls = (f"{warehouse}/{path}" for path in ("indexes/one", "certificates/c", "datasets/one"))
        assert (served.index_url, served.certificate, served.dataset) == tuple(urls)
        assert [lease.version for lease in leases.leases(warehouse).values()] == [1]
    assert leases.leases(warehouse) == {}
    with Readable(None, "another", warehouse, "1").held() as served:
        assert served.certificate == "another"


def test_the_identity_of_what_is_published_has_the_version_and_the_runs(warehouse):
    index, certificate = (read_manifest(f"{warehouse}/{path}").run_id for path in ("indexes/one", "certificates/c"))
    assert Readable(warehouse=warehouse, at="1").now().runs() == f"version 1+{index}+{certificate}"
    assert Readable(f"{warehouse}/indexes/one", f"{warehouse}/certificates/c").now().runs() == f"{index}+{certificate}"
    assert Readable(f"{warehouse}/indexes/one").now().runs() == index
    with pytest.raises(QprError, match="certificates/none"):
        Readable(f"{warehouse}/indexes/one", f"{warehouse}/certificates/none").now().runs()


def test_the_version_of_a_date_stays_the_same_and_the_current_one_changes(warehouse):
    places = Readable(warehouse=warehouse, at="2026-11-20"), Readable(warehouse=warehouse)
    assert [place.now().number for place in places] == [1, 2]
    history.publish(warehouse, make_version(warehouse, "three", parent=2, date="2026-11-20"))
    assert [place.now().number for place in places] == [1, 3]
    assert Readable(warehouse=warehouse, at="2026-11-20").now().number == 3


def test_an_erased_version_is_read_without_its_certificate(warehouse, qpr, capsys):
    before = read_manifest(f"{warehouse}/indexes/one")
    with Output(f"{warehouse}/indexes/one", "index", overwrite=True) as output:
        file = output.write("shards/one", b"less", table="shards")
        day = datetime.date(2026, 11, 25)
        output.publish([file], inputs=[], configuration={}, counters={}, erased=before.erased_on(day))
    with Readable(warehouse=warehouse, at="1").held() as served:
        created = history.version_at(warehouse, "1")[1].created
        assert served == Served(f"{warehouse}/indexes/one", None, 1, f"{warehouse}/datasets/one", created)
    assert "questions were erased from version 1, so its certificate does not hold" in capsys.readouterr().err
    shown = qpr("versions", "--warehouse", warehouse, "--at", 1, "--json").out
    assert json.loads(shown)["erased"] == ["2026-11-25"]
    assert "questions erased on" in qpr("versions", "--warehouse", warehouse, "--at", 1).out
    assert json.loads(qpr("versions", "--warehouse", warehouse, "--at", 2, "--json").out)["erased"] == []


@pytest.mark.parametrize(("release", "holds"), [(RULES, True), ("0.1.0", False)])
def test_a_version_of_another_release_is_read_without_its_certificate(tmp_path, capsys, release, holds):
    w = str(tmp_path / "w")
    version = VERSION.model_copy(update={"release": release})
    digest = stored_certificate(f"{w}/certificates/c", version=version, version_digest=version.digest)
    history.publish(w, make_version(w, "one", certificate=Artefact(path="certificates/c", digest=digest)))
    with Readable(warehouse=w).held() as served:
        assert served.certificate == (f"{w}/certificates/c" if holds else None)
    warned = "another release, which may give other answers, certified version 1. The next night with --requests"
    assert (warned in capsys.readouterr().err) == (not holds)


def test_a_certificate_that_could_not_be_read_once_is_read_again(tmp_path, monkeypatch):
    w = str(tmp_path / "w")
    version = VERSION.model_copy(update={"release": "0.1.0"})
    digest = stored_certificate(f"{w}/certificates/c", version=version, version_digest=version.digest)
    history.publish(w, make_version(w, "one", certificate=Artefact(path="certificates/c", digest=digest)))
    with monkeypatch.context() as patched:
        patched.setattr("model.certificates.certificate.load_certificate", Mock(side_effect=QprError("no answer")))
        with Readable(warehouse=w).held() as served:
            assert served.certificate == f"{w}/certificates/c"
    with Readable(warehouse=w).held() as served:
        assert served.certificate is None


@pytest.mark.parametrize("path", ["indexes/one", "certificates/c"])
def test_a_version_without_an_artefact_is_one_line_and_leaves_no_lease(warehouse, path):
    storage.delete(f"{warehouse}/{path}")
    with (
        pytest.raises(QprError, match=f"version 1 names {path}, which cannot be used"),
        Readable(warehouse=warehouse, at="1").held(),
    ):
        pass
    assert leases.leases(warehouse) == {}


def test_a_warehouse_that_cannot_be_written_is_read_with_a_warning(warehouse, monkeypatch, capsys):
    with monkeypatch.context() as patched:
        patched.setattr(storage, "write_bytes", Mock(side_effect=QprError("read-only")))
        with Readable(warehouse=warehouse).held() as served:
            assert served.index_url.endswith("indexes/two")
    assert "no lease on version 2: read-only. `qpr gc` may remove it while it is read" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ((None, None, None, None), "give --index, or --warehouse"),
        (("index", None, "w", None), "Give either"),
        (("index", None, None, "3"), "--at 3: is a version of --warehouse"),
        ((None, None, "no-warehouse", "two"), "two: is neither the number of a version nor a date"),
    ],
)
def test_wrong_usage_is_refused(given, message):
    with pytest.raises(UsageError, match=message):
        Readable(*given)


@pytest.mark.parametrize("command", ["answer", "search", "serve", "evaluate"])
def test_commands_take_a_warehouse(qpr, warehouse, command):
    given = [] if command in ("serve", "evaluate") else ["hello"]
    for at, name in (((), "two"), (("--at", 1), "one")):
        outcome = qpr(command, "--warehouse", warehouse, *at, *given)
        assert outcome.code == 1  # the small index is none that can be searched
        assert f"{warehouse}/indexes/{name}" in outcome.err
    assert leases.leases(warehouse) == {}
    outcome = qpr(command, "--warehouse", warehouse, "--at", 3, *given)
    assert (outcome.code, "has no version 3. There are 1 to 2" in outcome.err) == (1, True)
    assert qpr(command, *given).code == 2
