import datetime
from types import SimpleNamespace

import pytest

from jobs.nightly.outcome import Outcome


@pytest.mark.parametrize(
    ("fields", "refused", "line"),
    [
        ({}, None, "published: version 3, 2 days up to 2025-11-02"),
        ({"unchanged": True}, None, "nothing new: version 3 has the same days, dataset, model and index"),
        (
            {"unchanged": True, "mended": ["models/a", "indexes/b"]},
            None,
            "made again: models/a, indexes/b of version 3",
        ),
        ({"number": None}, "frozen_mrr fell", "refused: frozen_mrr fell"),
    ],
)
def test_the_last_line_of_a_night_states_its_end(fields, refused, line):
    version = SimpleNamespace(refused=refused, days=2, date=datetime.date(2025, 11, 2))
    assert Outcome(**{"number": 3, "version": version} | fields).line == line
