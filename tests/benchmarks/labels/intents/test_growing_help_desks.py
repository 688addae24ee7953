import json

import numpy as np
import pytest

from benchmarks.cli import Report
from benchmarks.labels.intents.growing_help_desks import LOGS, compare
from benchmarks.logs.known_logs import MissingDataError
from benchmarks.logs.shop_logs import shop_log


@pytest.mark.parametrize(("name", "least"), [("bank", 77), ("bank and others", 76), ("shop", 68)])
def test_intents_are_found_when_a_log_gets_5_000_questions(name, least, capsys):
    try:
        log = LOGS[name](5_500, np.random.default_rng(1))
    except MissingDataError as error:
        pytest.skip(str(error))
    compare(Report(as_json=True, seed=1), name, log)
    row = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert row["questions"] >= 5_400
    assert row["found"] >= least
    assert row["others found"] == 0


def test_a_seed_makes_the_same_requests_in_all_languages():
    rows = shop_log(200, seed=0)
    assert rows == shop_log(200, seed=0) != shop_log(200, seed=1)
    questions = " ".join(question for question, _ in rows)
    assert "ยา" in questions or "กา" in questions
    assert "ich" in questions
    assert len({answer for _, answer in rows}) > 40
