import datetime
import re
from types import SimpleNamespace

import pytest

from jobs.nightly import printing
from jobs.nightly.ingestion import Ingested
from jobs.nightly.outcome import Outcome
from pipelines.ingestion.days import Day
from tests.support.small_versions import make_version

DATE = datetime.date(2026, 11, 20)


def ingested(**counters):
    return Ingested(Day(DATE, "", SimpleNamespace(counters=counters, digest="0" * 64)), unchanged=False)


@pytest.mark.parametrize("waiting", [0, 1_500])
def test_the_printed_rows_of_a_night_add_up_over_its_days(monkeypatch, tmp_path, drop, capsys, waiting):
    warehouse = str(tmp_path / "w")
    drop(warehouse, str(DATE), [{"question": "why", "answer": "so"}])
    days = [
        ingested(rows_read=2_000 + waiting, rows_kept=1_999, rows_rejected=1, rows_waiting=waiting),
        ingested(rows_read=30, rows_kept=10, rows_rejected=13, rows_erased=7),
    ]
    outcome = Outcome(1, make_version(warehouse, "a", date=DATE), ingested=days)
    monkeypatch.setattr(printing, "run_night", lambda *_: outcome)
    assert printing.print_night(warehouse, [DATE], None, as_json=False) == 0
    printed = re.findall(r"(log rows [a-z ]*[a-z]) +│ +([\d,]+)", capsys.readouterr().out)
    rows = {label: int(number.replace(",", "")) for label, number in printed}
    assert rows == {
        "log rows of the night": 2_030 + waiting,
        "log rows kept": 2_009,
        "log rows rejected": 14,
        "log rows that wait for more users": waiting,
        "log rows erased": 7,
    }
