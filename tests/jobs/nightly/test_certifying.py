import datetime
import hashlib
import json

import pytest

from jobs.nightly import certifying
from jobs.nightly.certifying import certified_again, certify_index, read_sample
from jobs.nightly.indexing import index_of_night, options_of
from jobs.nightly.settings import CertificateSettings
from jobs.workflows.warehouses.version_reading import Readable
from model.certificates.certificate import load_certificate
from model.certificates.evidence import AuditVerdict
from model.certificates.monitor import read_monitor, record
from model.search.results import Answer, Hit
from pipelines.graphs.settings import IndexConfig
from schemas.artifacts import storage
from schemas.artifacts.manifest import read_manifest
from schemas.artifacts.writer import Output
from schemas.errors import QprError
from schemas.text import answer_key
from schemas.versions import history, layout
from schemas.versions.version import Artefact
from tests.support.certificates import VERSION
from tests.support.csv_files import write_csv
from tests.support.small_versions import make_version

DATE = datetime.date(2026, 11, 20)
NOW = datetime.datetime(2026, 11, 25, 12, tzinfo=datetime.UTC)
FIELDS = ("question", "verdict", "asked_at", "labeller", "answer_id")
REQUESTS = 600
AT_THE_DESK = answer_key(None, "at the desk")


def requests(number=REQUESTS, *, day=21, answer=AT_THE_DESK):
    """Yield rows: of 100 requests with a probability from .4 on one is wrong, below all are."""
    for row in range(number):
        probability = 999 - row * 999 // number
        yield {
            "question": f"pay the bill {probability}",
            "verdict": "wrong" if probability < 400 or row % 100 == 50 else "right",
            "asked_at": f"2026-11-{day}T{row // 60 % 24:02}:{row % 60:02}:00Z",
            "labeller": "Ada",
            "answer_id": answer,
        }


class Fake:
    """Stands for a searcher: "pay the bill 700" has the answer "at the desk" with probability .7."""

    version = VERSION

    def __init__(self, changed=(), exact=()):
        self._changed, self._exact = changed, exact

    def answer_many(self, questions, *, filters=None):
        for question in questions:
            number = int(question.split()[-1])
            answer = "in the app" if number in self._changed else "at the desk"
            hit = Hit(1, 7, "pay my bill", answer, None, None, None, probability=number / 1000)
            yield Answer(question, False, "exact" if number in self._exact else "no_certificate", hit)


@pytest.fixture
def opened(monkeypatch):
    """Return a function that decides what the index answers."""

    def use(searcher):
        monkeypatch.setattr(certifying, "open_searcher", lambda _: searcher)

    use(Fake())
    return use


@pytest.fixture
def sample(tmp_path):
    def read(rows=None, **settings):
        path = write_csv(tmp_path / "judged.csv", requests() if rows is None else rows, columns=FIELDS)
        return read_sample(CertificateSettings(requests=str(path), alpha=0.05, delta=0.1, **settings))

    return read


@pytest.fixture
def warehouse(tmp_path):
    w = str(tmp_path / "w")
    layout.write_layout(w)
    history.publish(w, make_version(w, "one", date=DATE))
    return w


def certify(warehouse, sample, *, now=NOW, version="one"):
    index = Artefact(path=f"indexes/{version}", digest=hashlib.sha256(version.encode()).hexdigest())
    return certify_index(warehouse, index, sample, date=DATE, now=now)


def test_a_shown_promise_is_a_certificate_in_the_warehouse_made_once(warehouse, sample, opened):
    artefact, reason = certify(warehouse, sample())
    assert reason is None
    certificate = load_certificate(storage.join(warehouse, artefact.path)).certificate
    assert (certificate.alpha, certificate.requests) == (0.05, REQUESTS)
    assert artefact.path.startswith("certificates/")
    opened(None)  # a second night with the same index opens nothing
    assert certify(warehouse, sample()).artefact == artefact


def test_a_certificate_is_made_again_where_the_same_index_gives_other_answers(warehouse, sample, opened, monkeypatch):
    artefact, _ = certify(warehouse, sample())
    monkeypatch.setattr(certifying, "RULES", "1 (answers 9)")
    again, reason = certify(warehouse, sample())
    assert (again.path != artefact.path, reason) == (True, None)


def test_without_requests_nothing_is_certified(warehouse):
    assert certify(warehouse, read_sample(CertificateSettings())) == (None, None)


@pytest.mark.parametrize("has_certificate", [True, False])
def test_forgotten_requests_are_a_warning_after_a_certified_version(warehouse, opened, sample, capsys, has_certificate):
    _, parent = history.current(warehouse)
    if has_certificate:
        parent = parent.model_copy(update={"certificate": certify(warehouse, sample()).artefact})
    capsys.readouterr()
    assert certify_index(warehouse, parent.index, None, date=DATE, parent=parent) == (None, None)
    warning = (
        "warning: no certificate: the version before has one, but its judged requests are not given by --requests\n"
    )
    assert capsys.readouterr().err == (warning if has_certificate else "")


def test_changed_answers_count_as_wrong_and_are_named(warehouse, sample, opened, capsys):
    before = load_certificate(storage.join(warehouse, certify(warehouse, sample()).artefact.path)).certificate
    rows = list(requests())
    changed = {int(rows[place]["question"].split()[-1]) for place in (210, 230)}
    opened(Fake(changed=changed))
    artefact, _ = certify(warehouse, sample(), version="two")
    assert "2 requests without a verdict on the answer that this index gives, counted as wrong: rows 211 and 231" in (
        capsys.readouterr().err
    )
    after = load_certificate(storage.join(warehouse, artefact.path)).certificate
    assert after.threshold != before.threshold or after.wrong > before.wrong
    opened(Fake(changed=set(range(400, 1000))))
    artefact, reason = certify(warehouse, sample(), version="three")
    assert artefact is None
    assert "do not show at most 5" in reason


def test_verdicts_without_an_answer_id_are_none(warehouse, sample, opened):
    artefact, reason = certify(warehouse, sample(requests(answer="")))
    assert artefact is None
    assert "do not show" in reason
    assert "no row has an answer_id" in reason
    assert "Add the column, as `qpr answer --json` prints it" in reason


def test_requests_that_count_as_wrong_are_a_warning(warehouse, sample, opened, capsys):
    opened(Fake(changed={999 - 210 * 999 // REQUESTS}))
    certify(warehouse, sample())
    error = capsys.readouterr().err
    assert error.startswith("warning: ")
    assert "1 request without a verdict on the answer that this index gives, counted as wrong: row 211" in error


def test_requests_that_the_index_has_word_for_word_are_left_out(warehouse, sample, opened, capsys):
    opened(Fake(exact={999, 998}))
    artefact, _ = certify(warehouse, sample())
    certificate = load_certificate(storage.join(warehouse, artefact.path)).certificate
    assert certificate.requests + certificate.exact == REQUESTS
    assert f"{certificate.exact} requests left out, since the index has them word for word" in capsys.readouterr().err


def test_a_certificate_ends_its_days_after_the_last_request_however_often_it_is_made_again(warehouse, sample, opened):
    late = datetime.datetime(2026, 12, 10, tzinfo=datetime.UTC)
    artefact, _ = certify(warehouse, sample(), now=late)
    certificate = load_certificate(storage.join(warehouse, artefact.path)).certificate
    assert certificate.expires == datetime.datetime(2026, 12, 22, tzinfo=datetime.UTC)
    artefact, reason = certify(warehouse, sample(), now=certificate.expires, version="two")
    assert artefact is None
    assert "the last request is of 2026-11-21, more than 30 days ago. Judge requests of the last days" in reason


@pytest.mark.parametrize(
    ("rows", "fault"),
    [
        pytest.param([*requests(day=20)], "600 requests, the first in row 1, asked before 2026-11-21", id="old"),
        pytest.param([*requests(), *requests()], "the same request as another row", id="twice"),
        pytest.param([*requests(100)], "further requests are missing", id="few"),
        pytest.param([row | {"verdict": "right"} for row in requests()], "none of 600 verdicts is wrong", id="kind"),
    ],
)
def test_requests_that_show_nothing_are_a_reason_and_no_error(warehouse, sample, opened, capsys, rows, fault):
    artefact, reason = certify(warehouse, sample(rows))
    assert artefact is None
    assert fault in reason
    assert f"no certificate: {reason}" in capsys.readouterr().err
    assert storage.children(storage.join(warehouse, "certificates")) == []


def test_an_alarm_is_not_ended_by_the_same_requests(warehouse, sample, opened):
    artefact, _ = certify(warehouse, sample())
    version = history.read_version(warehouse, 1).model_copy(update={"parent": 1, "certificate": artefact})
    history.publish(warehouse, version)
    verdicts = [AuditVerdict(f"a{number}", True, artefact.digest) for number in range(40)]
    record(load_certificate(storage.join(warehouse, artefact.path)), verdicts, now=NOW)
    for index in ("one", "two"):
        found = certify(warehouse, sample(), version=index)
        assert found.artefact is None
        assert "asked before the alarm of 2026-11-25" in found.reason


def test_the_evidence_of_audits_goes_on_over_nights_and_begins_again_after_an_alarm(warehouse, sample, opened):
    nights = []
    for hour, index in enumerate(("one", "two")):
        artefact = certify(warehouse, sample(), version=index, now=NOW - datetime.timedelta(hours=9 - hour)).artefact
        nights.append(load_certificate(storage.join(warehouse, artefact.path)))
    verdicts = [AuditVerdict(f"a{n}", n == 3, of.digest) for of in nights for n in range(20)]
    state = record(nights[1], verdicts, now=NOW)
    assert [(audited.audits, audited.wrong) for audited in state.certificates] == [(20, 1), (20, 1)]
    assert read_monitor(nights[0]) == state
    record(nights[1], [AuditVerdict(f"b{n}", True, nights[0].digest) for n in range(9)], now=NOW)
    assert all(read_monitor(of).ends(of.digest, of.certificate.created) for of in nights)
    later = NOW + datetime.timedelta(days=4)
    rows = sample(requests(day=26))
    artefact = certify(warehouse, rows, now=later, version="three").artefact
    new = load_certificate(storage.join(warehouse, artefact.path))
    assert [audited.certificate for audited in read_monitor(new).certificates] == [artefact.digest]
    assert not read_monitor(new).ends(new.digest, new.certificate.created)
    assert read_monitor(nights[0]).ends(nights[0].digest, nights[0].certificate.created)


def test_a_night_with_nothing_new_publishes_the_version_again_once_it_has_a_certificate(warehouse, sample, opened):
    number, version = history.current(warehouse)
    given = sample()._replace(settings=CertificateSettings(requests="r", alpha=0.05, delta=0.1, certificate_days=366))
    again = certified_again(warehouse, number, version, given)
    assert (again.parent, again.index, again.uncertified) == (1, version.index, None)
    assert history.publish(warehouse, again) == 2
    assert certified_again(warehouse, 2, again, given) is None
    assert certified_again(warehouse, number, version, None) is None


def test_a_stricter_promise_that_is_not_shown_leaves_the_current_certificate_and_reports_it(
    warehouse, sample, opened, capsys
):
    settings = CertificateSettings(requests="r", alpha=0.05, delta=0.1, certificate_days=366)
    certified = certified_again(warehouse, *history.current(warehouse), sample()._replace(settings=settings))
    stricter = sample()._replace(settings=settings.model_copy(update={"alpha": 0.001}))
    for version, kept in ((certified, True), (history.current(warehouse)[1], False)):
        assert certified_again(warehouse, 2, version, stricter) is None
        message = capsys.readouterr().err
        assert "Without a certificate only questions of the index itself are answered" in message
        assert ("version 2 keeps the certificate that it has" in message) == kept


@pytest.mark.parametrize("state", ["valid", "expired", "none", "other index", "other rules"])
def test_a_night_with_the_same_index_keeps_a_valid_certificate_where_its_requests_show_no_promise(
    warehouse, sample, opened, capsys, monkeypatch, state
):
    settings = CertificateSettings(requests="r", alpha=0.05, delta=0.1, certificate_days=366)
    number, version = history.current(warehouse)
    if state == "expired":
        short = sample()._replace(settings=settings.model_copy(update={"certificate_days": 2}))
        made = certify_index(warehouse, version.index, short, date=DATE, now=NOW - datetime.timedelta(days=3))
        version = version.model_copy(update={"certificate": made.artefact})
    elif state != "none":
        version = certified_again(warehouse, number, version, sample()._replace(settings=settings))
    if state == "other rules":
        monkeypatch.setattr("model.certificates.version.RULES", "1 (answers 9)")
    capsys.readouterr()
    stricter = sample()._replace(settings=settings.model_copy(update={"alpha": 0.001}))
    index = version.index.model_copy(update={"path": "indexes/two"})
    if state == "other index":
        index = index.model_copy(update={"digest": "0" * 64})
    found = certify_index(warehouse, index, stricter, date=DATE, parent=version)
    assert (found.artefact, found.reason is None) == (
        (version.certificate, True) if state == "valid" else (None, False)
    )
    assert ("the certificate of the version before stays" in capsys.readouterr().err) == (state == "valid")


@pytest.mark.parametrize(
    ("certificate", "is_required", "is_refused"),
    [
        ("none", True, True),
        ("none", False, False),
        ("valid", True, False),
        ("expired", True, True),
        ("expired", False, False),
        ("alarm", True, True),
        ("gone", True, True),
    ],
)
def test_a_night_with_nothing_new_is_refused_where_a_certificate_is_required_and_none_is_valid(
    warehouse, sample, opened, capsys, certificate, is_required, is_refused
):
    number, version = history.current(warehouse)
    given = sample()._replace(settings=CertificateSettings(requests="r", alpha=0.05, delta=0.1, certificate_days=366))
    if certificate == "expired":
        short = given._replace(settings=given.settings.model_copy(update={"certificate_days": 2}))
        artefact = certify_index(warehouse, version.index, short, date=DATE, now=NOW - datetime.timedelta(days=3))
        version = version.model_copy(update={"certificate": artefact.artefact})
    elif certificate != "none":
        version = certified_again(warehouse, number, version, given)
    if certificate == "alarm":
        verdicts = [AuditVerdict(f"a{row}", True, version.certificate.digest) for row in range(100)]
        record(load_certificate(storage.join(warehouse, version.certificate.path)), verdicts, now=NOW)
    if certificate == "gone":
        storage.delete(storage.join(warehouse, version.certificate.path))
    capsys.readouterr()
    required = given.settings.model_copy(update={"alpha": 0.001, "require_certificate": is_required})
    again = certified_again(warehouse, number, version, given._replace(settings=required))
    assert ("keeps the certificate that it has" in capsys.readouterr().err) == (certificate == "valid")
    assert (again is not None) == is_refused
    if again:
        expected = f"version 1 has no valid certificate, though --require-certificate: {given.file}: "
        assert again.refused.startswith(expected)
        assert (again.parent, again.certificate) == (1, version.certificate)


def test_an_index_from_which_questions_were_erased_is_certified_again(warehouse, sample, opened):
    given = sample()._replace(settings=CertificateSettings(requests="r", alpha=0.05, delta=0.1, certificate_days=366))
    history.publish(warehouse, certified_again(warehouse, *history.current(warehouse), given))
    url = f"{warehouse}/indexes/one"
    with Output(url, "index", overwrite=True) as output:
        file = output.write("shards/one", b"less", table="shards")
        before = read_manifest(url).erased_on(DATE)
        erased = output.publish([file], inputs=[], configuration={}, counters={}, erased=before)
    assert Readable(warehouse=warehouse).now().certificate is None
    again = certified_again(warehouse, *history.current(warehouse), given)
    assert again.index.digest == erased.digest
    history.publish(warehouse, again)
    assert Readable(warehouse=warehouse).now().certificate == f"{warehouse}/{again.certificate.path}"
    assert certified_again(warehouse, *history.current(warehouse), given) is None


@pytest.mark.parametrize("content", ["question,verdict\n", ""])
def test_unusable_files_are_one_line(tmp_path, content):
    file = tmp_path / "judged.csv"
    file.write_text(content)
    with pytest.raises(QprError) as raised:
        read_sample(CertificateSettings(requests=str(file)))
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("given", [{"alpha": 0.1}, {"require_certificate": True}, {"certificate_days": 3}])
def test_settings_without_requests_are_refused(given):
    with pytest.raises(ValueError, match="belong to --requests; give that file too"):
        CertificateSettings(**given)


def test_a_record_with_a_certificate_names_its_artefact(warehouse, sample, opened):
    artefact, _ = certify(warehouse, sample())
    version = make_version(warehouse, "two", parent=1, certificate=artefact, date=DATE)
    assert version.artefacts[artefact] == "certificate"
    assert json.loads(version.model_dump_json())["uncertified"] is None


def test_a_certificate_lives_to_the_end_of_its_days_and_is_not_taken_again_after_it(warehouse, sample, opened):
    made = datetime.datetime(2026, 11, 21, 23, tzinfo=datetime.UTC)  # on the day of the last request
    artefact, _ = certify(warehouse, sample(), now=made)
    certificate = load_certificate(storage.join(warehouse, artefact.path)).certificate
    end = datetime.datetime(2026, 12, 22, tzinfo=datetime.UTC)
    assert certificate.expires == end
    assert certify(warehouse, sample(), now=end - datetime.timedelta(minutes=1)).artefact == artefact
    assert certify(warehouse, sample(), now=end).artefact is None


def test_a_rollback_that_is_certified_again_is_no_version_of_a_later_date(warehouse, sample, opened):
    later = DATE + datetime.timedelta(days=2)
    history.publish(warehouse, make_version(warehouse, "two", date=later).model_copy(update={"parent": 1}))
    history.roll_back(warehouse, 1)
    given = sample(certificate_days=366)
    history.publish(warehouse, certified_again(warehouse, *history.current(warehouse), given))
    assert history.current(warehouse)[0] == 4
    assert history.version_at(warehouse, str(later))[0] == 2


def test_an_index_from_which_questions_were_erased_has_no_certificate_of_before(warehouse, sample, opened):
    given = sample(certificate_days=366)
    history.publish(warehouse, certified_again(warehouse, 1, history.read_version(warehouse, 1), given))
    parent = history.read_version(warehouse, 2).model_copy(update={"index_options": options_of(IndexConfig())})
    url = storage.join(warehouse, parent.index.path)
    with Output(url, "index", overwrite=True) as output:
        file = output.write("shards/one", b"less", table="shards")
        output.publish([file], inputs=[], configuration={}, counters={}, erased=read_manifest(url).erased_on(DATE))
    index = index_of_night(warehouse, parent.dataset, parent.model, IndexConfig(), parent=parent, options=None)
    assert index.digest == read_manifest(url).digest
    assert certify_index(warehouse, index, given, date=DATE).artefact != parent.certificate
