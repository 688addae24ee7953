import datetime
import json

import numpy as np
import pytest

from model.certificates.certificate import Loaded
from model.certificates.evidence import Audited, AuditVerdict, ContradictionError, Monitor
from model.certificates.monitor import is_ended, last_alarm, monitor_url, read_monitor, record
from schemas.artifacts import storage
from schemas.artifacts.conditional_writes import replace
from schemas.errors import QprError
from schemas.statistics.later_excess import later_excess_evidence
from schemas.versions import layout
from tests.support.certificates import certificate

CERTIFICATE = "5" * 64
MADE = datetime.datetime(2026, 9, 30, tzinfo=datetime.UTC)
NOW = datetime.datetime(2026, 10, 1, tzinfo=datetime.UTC)
DAY = datetime.timedelta(days=1)


def new(alpha=0.02):
    return Monitor(alpha=alpha, certificates=(Audited(certificate=CERTIFICATE, created=MADE),))


def loaded(url, digest=CERTIFICATE, **fields):
    return Loaded(str(url), digest, certificate(**{"created": MADE, **fields}))


def verdicts(*wrong, start=0, of=CERTIFICATE):
    return [AuditVerdict(str(number), bool(is_wrong), of) for number, is_wrong in enumerate(wrong, start)]


def has_alarm(state):
    return state.ends(CERTIFICATE, MADE)


def test_the_state_counts_verdicts_and_keeps_the_highest_evidence():
    state = new(0.1).after(verdicts(*[True] * 3, *[False] * 20), NOW)
    assert (state.audits, state.wrong, has_alarm(state)) == (23, 3, False)
    assert state.evidence == pytest.approx(float(later_excess_evidence([3], [23], 0.1)))
    assert state.highest == pytest.approx(float(later_excess_evidence([3], [3], 0.1)))


def test_a_second_verdict_on_an_answer_does_not_count():
    state = new().after(verdicts(False, True), NOW)
    assert state.after(verdicts(False, True), NOW) == state
    assert new().after([*verdicts(True), *verdicts(True)], NOW).audits == 1


@pytest.mark.parametrize("later", [(True, True), (False, False), (False, True, False, True)])
def test_a_verdict_that_contradicts_a_counted_one_is_refused(later):
    state = new().after(verdicts(False, True, True), NOW)
    assert state.certificates[0].judged_wrong == ("1", "2")
    with pytest.raises(ContradictionError, match=r"request_id '\d' is \w+ here and was counted as \w+ before"):
        state.after(verdicts(*later), NOW)


def test_a_state_of_an_earlier_release_has_no_verdicts_to_contradict_unless_all_were_right(tmp_path):
    given = loaded(tmp_path / "certificate")
    for wrong, known in ((1, False), (0, True)):
        counts = {"audits": 3, "wrong": wrong, "judged": ["0", "1", "2"]}
        old = {"certificate": CERTIFICATE, "alpha": 0.02, "highest": 1.5, "alarmed": None, **counts}
        (tmp_path / "certificate.monitor.json").write_text(json.dumps(old))
        assert record(given, verdicts(False, start=2), now=NOW).audits == 3
        if known:
            with pytest.raises(ContradictionError):
                record(given, verdicts(True), now=NOW)
        else:
            later = record(given, verdicts(True, start=3), now=NOW)
            assert (later.audits, later.wrong, later.certificates[0].judged_wrong) == (4, 2, ("3",))


def test_an_alarm_lasts_whatever_follows_and_keeps_its_time():
    state = new().after(verdicts(True, True, True), NOW)
    assert (has_alarm(state), state.alarmed) == (True, NOW)
    calm = state.after(verdicts(*[False] * 3_000, start=3), NOW + datetime.timedelta(days=9))
    assert calm.evidence < 1
    assert (has_alarm(calm), calm.alarmed) == (True, NOW)
    assert not has_alarm(new().after(verdicts(*[False] * 200, True, True), NOW))


@pytest.mark.parametrize(("share", "alarms"), [(0.005, 0), (0.02, 1), (0.06, 20), (0.1, 20)])
def test_simulated_verdicts_raise_the_alarm_where_too_many_are_wrong(share, alarms):
    rng = np.random.default_rng(7)
    raised = [has_alarm(new().after(verdicts(*rng.random(600) < share), NOW)) for _ in range(20)]
    assert sum(raised) <= alarms if share <= 0.02 else sum(raised) >= alarms - 1


def test_verdicts_are_kept_beside_the_certificate_in_one_step_as_in_many(tmp_path):
    given = loaded(tmp_path / "certificate")
    assert read_monitor(given) == new()
    listed = verdicts(False, True, False, False, True)
    for part in (listed[:2], listed[1:4], listed[3:]):
        record(given, part, now=NOW)
    assert read_monitor(loaded(f"{given.url}/")) == new().after(listed, NOW)
    assert [path.name for path in tmp_path.iterdir()] == ["certificate.monitor.json"]


def test_verdicts_that_another_process_adds_in_the_same_moment_are_counted_too(tmp_path, monkeypatch):
    given, others = loaded(tmp_path / "certificate"), iter([verdicts(True, start=8)])
    record(given, verdicts(False), now=NOW)

    def replace_second(*arguments, **options):
        for listed in others:
            record(given, listed, now=NOW)
        replace(*arguments, **options)

    monkeypatch.setattr("schemas.artifacts.conditional_writes.replace", replace_second)
    state = record(given, verdicts(False, start=1), now=NOW)
    assert (state.certificates[0].judged, state.wrong) == (("0", "8", "1"), 1)
    assert read_monitor(given) == state


@pytest.fixture(params=["beside", "of a warehouse"])
def place(tmp_path, request):
    """Return a function that gives the URL of the certificate of a night; without a warehouse the same each time."""
    if request.param == "beside":
        return lambda night: tmp_path / "certificate"
    layout.write_layout(str(tmp_path / "w"))
    return lambda night: tmp_path / "w" / "certificates" / f"night-{night}"


def test_the_evidence_goes_on_with_a_new_certificate_of_the_same_promise(place):
    certificates = [loaded(place(night), str(night) * 64, created=MADE + night * DAY / 9) for night in range(3)]
    highest = []
    for number, of in enumerate(certificates):
        state = record(of, verdicts(number > 0, *[False] * 10, True, of=of.digest), now=NOW)
        highest.append(state.highest)
        assert len(state.certificates) == number + 1
    assert (state.audits, state.wrong) == (36, 5)
    assert state.evidence == pytest.approx(float(later_excess_evidence([1, 2, 2], [12, 12, 12], 0.02)))
    assert highest == sorted(highest)
    assert not has_alarm(state)
    late = record(certificates[2], verdicts(True, True, start=20, of=certificates[0].digest), now=NOW)
    assert [audited.wrong for audited in late.certificates] == [3, 2, 2]
    assert late.alarmed == NOW
    assert all(late.ends(of.digest, of.certificate.created) for of in certificates)


def test_an_alarm_ends_all_certificates_up_to_then_and_a_later_one_begins_without_evidence(place):
    first, second = loaded(place(0)), loaded(place(1), "6" * 64, created=MADE + datetime.timedelta(hours=1))
    record(first, verdicts(False), now=NOW)
    record(second, verdicts(True, True, True, of=second.digest), now=NOW)
    for of in (first, second, loaded(place(2), "7" * 64, created=NOW)):
        assert is_ended(of)
    later = loaded(place(3), "8" * 64, created=NOW + DAY)
    assert not is_ended(later)
    state = record(later, verdicts(False, of=later.digest), now=NOW + DAY)
    assert (state.audits, state.wrong, state.highest, state.alarmed) == (1, 0, 1, NOW)
    assert is_ended(first)  # after a rollback too
    assert read_monitor(first).of(first.digest) is None
    with pytest.raises(QprError, match=r"its verdicts are not counted any more, since an alarm\. Leave them out"):
        record(later, verdicts(True, start=9), now=NOW + DAY)
    assert last_alarm(later.url) == NOW


def test_another_promise_has_evidence_of_its_own_and_keeps_the_time_of_the_alarm(place):
    record(loaded(place(0)), verdicts(True, True, True), now=NOW)
    other = loaded(place(1), "6" * 64, alpha=0.021, created=NOW + DAY)
    state = record(other, verdicts(False, of=other.digest), now=NOW + DAY)
    assert (state.audits, state.wrong) == (1, 0)
    assert last_alarm(other.url) == NOW
    assert last_alarm(str(place(0).parent / "other" / "none")) is None


def test_a_clock_that_is_slow_does_not_hide_an_alarm(place):
    given = loaded(place(0), created=NOW + DAY)
    assert has_alarm(record(given, verdicts(True, True, True), now=NOW))
    assert last_alarm(given.url) == NOW + DAY


def test_certificates_of_a_warehouse_keep_the_verdicts_and_alarms_of_earlier_releases(tmp_path):
    layout.write_layout(str(tmp_path))
    for night, (wrong, alarmed) in enumerate([(0, None), (3, "2026-10-01T00:00:00Z")]):
        counts = {"audits": 3, "wrong": wrong, "judged": ["0", "1", "2"], "highest": 1500 if alarmed else 1}
        old = {"certificate": str(night) * 64, "alpha": 0.02, "alarmed": alarmed, **counts}
        storage.write_bytes(str(tmp_path / f"certificates/night-{night}.monitor.json"), json.dumps(old).encode())
    kept, ended = (loaded(tmp_path / f"certificates/night-{night}", str(night) * 64) for night in range(2))
    assert record(kept, verdicts(True, start=3, of=kept.digest), now=NOW).audits == 4
    assert read_monitor(kept).audits == 4
    assert read_monitor(ended).ends(ended.digest, MADE)
    assert not read_monitor(kept).ends(kept.digest, MADE)
    assert last_alarm(kept.url) == last_alarm(str(tmp_path / "indexes" / "one")) == NOW


@pytest.mark.parametrize(
    ("old", "new_text", "fault"),
    [
        ('"wrong": 1', '"wrong": 9', "more answers are wrong than were judged"),
        ('"highest": ', '"highest": 555', "the evidence and the time of the alarm do not fit"),
        ('"audits"', '"audit"', "audit"),
        ('"judged_wrong": [\n        "0"', '"judged_wrong": [\n        "9"', "judged_wrong names other answers"),
        ('"format": 2', '"format": 3', "format"),
    ],
)
def test_a_damaged_state_is_refused(tmp_path, old, new_text, fault):
    given = loaded(tmp_path / "certificate")
    record(given, verdicts(True), now=NOW)
    file = tmp_path / "certificate.monitor.json"
    assert str(file) == monitor_url(given.url, 0.02)
    file.write_text(file.read_text().replace(old, new_text))
    with pytest.raises(QprError, match=f"certificate.monitor.json: damaged: .*{fault}"):
        read_monitor(given)
    with pytest.raises(QprError, match="damaged"):  # it may have an alarm
        last_alarm(given.url)
