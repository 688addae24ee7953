import pytest

from model.certificates.monitor import Monitor, read_monitor
from schemas.errors import QprError
from schemas.statistics.e_processes import excess_evidence

CERTIFICATE = "5" * 64


def new():
    return Monitor(certificate=CERTIFICATE, alpha=0.02)


def test_the_state_counts_verdicts_and_keeps_the_highest_evidence():
    state = new().after(*[True] * 3, *[False] * 20)
    assert (state.audits, state.wrong) == (23, 3)
    assert state.evidence == pytest.approx(float(excess_evidence(3, 23, 0.02)))
    assert state.highest == pytest.approx(float(excess_evidence(3, 3, 0.02)))


def test_an_alarm_lasts_whatever_follows():
    state = new().after(True, True, True)
    assert state.alarm
    calm = state.after(*[False] * 3_000)
    assert calm.evidence < 1
    assert calm.alarm
    assert not new().after(*[False] * 200, True, True).alarm


def test_the_state_is_the_same_in_one_step_and_in_many(tmp_path):
    verdicts = [False, True, False, False, True]
    state = new()
    for verdict in verdicts:
        state = state.after(verdict)
    assert state == new().after(*verdicts)
    file = tmp_path / "monitor.json"
    file.write_text(state.model_dump_json())
    assert read_monitor(str(file), certificate=CERTIFICATE, alpha=0.02) == state
    assert read_monitor(str(tmp_path / "none"), certificate=CERTIFICATE, alpha=0.02) == new()


def test_a_state_that_is_damaged_or_of_another_certificate_is_refused(tmp_path):
    file = tmp_path / "monitor.json"
    file.write_text(new().model_dump_json())
    with pytest.raises(QprError, match="watches certificate 555555555555, not 666666666666"):
        read_monitor(str(file), certificate="6" * 64, alpha=0.02)
    file.write_text(new().model_dump_json().replace('"wrong":0', '"wrong":9'))
    with pytest.raises(QprError, match="more answers are wrong than were judged"):
        read_monitor(str(file), certificate=CERTIFICATE, alpha=0.02)
