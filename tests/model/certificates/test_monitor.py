import datetime
import json

import numpy as np
import pytest

from model.certificates.monitor import (
    AuditVerdict,
    ContradictionError,
    Monitor,
    last_monitor,
    monitor_url,
    read_monitor,
    record,
)
from schemas.artifacts.conditional_writes import replace
from schemas.errors import QprError
from schemas.statistics.e_processes import excess_evidence

CERTIFICATE = "5" * 64
NOW = datetime.datetime(2026, 10, 1, tzinfo=datetime.UTC)


def new(alpha=0.02):
    return Monitor(certificate=CERTIFICATE, alpha=alpha)


def verdicts(*wrong, start=0):
    return [AuditVerdict(str(number), bool(is_wrong)) for number, is_wrong in enumerate(wrong, start)]


def test_the_state_counts_verdicts_and_keeps_the_highest_evidence():
    state = new(0.1).after(verdicts(*[True] * 3, *[False] * 20), NOW)
    assert (state.audits, state.wrong, state.alarm) == (23, 3, False)
    assert state.evidence == pytest.approx(float(excess_evidence(3, 23, 0.1)))
    assert state.highest == pytest.approx(float(excess_evidence(3, 3, 0.1)))


def test_a_second_verdict_on_an_answer_does_not_count():
    state = new().after(verdicts(False, True), NOW)
    assert state.after(verdicts(False, True), NOW) == state
    assert new().after([*verdicts(True), *verdicts(True)], NOW).audits == 1


@pytest.mark.parametrize("later", [(True, True), (False, False), (False, True, False, True)])
def test_a_verdict_that_contradicts_a_counted_one_is_refused(later):
    state = new().after(verdicts(False, True, True), NOW)
    assert state.judged_wrong == ("1", "2")
    with pytest.raises(ContradictionError, match=r"request_id '\d' is \w+ here and was counted as \w+ before"):
        state.after(verdicts(*later), NOW)


def test_a_state_of_an_earlier_release_has_no_verdicts_to_contradict_unless_all_were_right(tmp_path):
    folder, given = str(tmp_path / "certificate"), {"digest": CERTIFICATE, "alpha": 0.02}
    for wrong, known in ((1, False), (0, True)):
        old = new().after(verdicts(*[True] * wrong, *[False] * (3 - wrong)), NOW).model_dump(mode="json")
        del old["judged_wrong"]
        (tmp_path / "certificate.monitor.json").write_text(json.dumps(old))
        assert record(folder, verdicts(False, start=2), **given, now=NOW).audits == 3
        if known:
            with pytest.raises(ContradictionError):
                record(folder, verdicts(True), **given, now=NOW)
        else:
            later = record(folder, verdicts(True, start=3), **given, now=NOW)
            assert (later.audits, later.wrong, later.judged_wrong) == (4, 2, ("3",))


def test_an_alarm_lasts_whatever_follows_and_keeps_its_time():
    state = new().after(verdicts(True, True, True), NOW)
    assert (state.alarm, state.alarmed) == (True, NOW)
    calm = state.after(verdicts(*[False] * 3_000, start=3), NOW + datetime.timedelta(days=9))
    assert calm.evidence < 1
    assert (calm.alarm, calm.alarmed) == (True, NOW)
    assert not new().after(verdicts(*[False] * 200, True, True), NOW).alarm


@pytest.mark.parametrize(("share", "alarms"), [(0.005, 0), (0.02, 1), (0.06, 20), (0.1, 20)])
def test_simulated_verdicts_raise_the_alarm_where_too_many_are_wrong(share, alarms):
    rng = np.random.default_rng(7)
    raised = [new().after(verdicts(*rng.random(600) < share), NOW).alarm for _ in range(20)]
    assert sum(raised) <= alarms if share <= 0.02 else sum(raised) >= alarms - 1


def test_verdicts_are_kept_beside_the_certificate_in_one_step_as_in_many(tmp_path):
    folder = str(tmp_path / "certificate")
    given = {"digest": CERTIFICATE, "alpha": 0.02}
    assert read_monitor(folder, **given) == new()
    listed = verdicts(False, True, False, False, True)
    for part in (listed[:2], listed[1:4], listed[3:]):
        record(folder, part, **given, now=NOW)
    assert read_monitor(folder + "/", **given) == new().after(listed, NOW)
    assert [path.name for path in tmp_path.iterdir()] == ["certificate.monitor.json"]


def test_verdicts_that_another_process_adds_in_the_same_moment_are_counted_too(tmp_path, monkeypatch):
    given = {"digest": CERTIFICATE, "alpha": 0.02, "now": NOW}
    folder, others = str(tmp_path / "certificate"), iter([verdicts(True, start=8)])
    record(folder, verdicts(False), **given)

    def replace_second(*arguments, **options):
        for listed in others:
            record(folder, listed, **given)
        replace(*arguments, **options)

    monkeypatch.setattr("model.certificates.monitor.replace", replace_second)
    state = record(folder, verdicts(False, start=1), **given)
    assert (state.judged, state.wrong) == (("0", "8", "1"), 1)
    assert read_monitor(folder, digest=CERTIFICATE, alpha=0.02) == state


def test_another_certificate_begins_without_verdicts(tmp_path):
    folder = str(tmp_path / "certificate")
    record(folder, verdicts(True, True, True), digest=CERTIFICATE, alpha=0.02, now=NOW)
    assert read_monitor(folder, digest=CERTIFICATE, alpha=0.02).alarm
    other = {"digest": "6" * 64, "alpha": 0.02}
    assert read_monitor(folder, **other) == Monitor(certificate="6" * 64, alpha=0.02)
    assert last_monitor(folder).alarm
    assert record(folder, verdicts(False), **other, now=NOW).audits == 1
    assert last_monitor(folder).certificate == other["digest"]
    assert last_monitor(str(tmp_path / "none")) is None


@pytest.mark.parametrize(
    ("old", "new_text", "fault"),
    [
        ('"wrong": 1', '"wrong": 9', "more answers are wrong than were judged"),
        ('"highest": ', '"highest": 555', "the evidence and the time of the alarm do not fit"),
        ('"audits"', '"audit"', "audit"),
        ('"judged_wrong": [\n    "0"', '"judged_wrong": [\n    "9"', "judged_wrong names other answers"),
    ],
)
def test_a_damaged_state_is_refused(tmp_path, old, new_text, fault):
    folder = str(tmp_path / "certificate")
    record(folder, verdicts(True), digest=CERTIFICATE, alpha=0.02, now=NOW)
    file = tmp_path / "certificate.monitor.json"
    assert str(file) == monitor_url(folder)
    file.write_text(file.read_text().replace(old, new_text))
    with pytest.raises(QprError, match=f"certificate.monitor.json: damaged: .*{fault}"):
        read_monitor(folder, digest=CERTIFICATE, alpha=0.02)
