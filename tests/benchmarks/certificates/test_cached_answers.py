"""Figures of a server of answers, from what it gave and what is right."""

from __future__ import annotations

import pytest

from benchmarks.certificates.cached_answers import figures
from benchmarks.certificates.certified_requests import Request


def test_a_hit_is_right_by_its_answer_and_wrong_where_none_is_right() -> None:
    requests = [Request("a", "In the app"), Request("b", "by phone"), Request("c", None), Request("d", None)]
    found = figures(requests, ["in the  app", None, "by phone", None])
    assert found == {"hit_rate": 0.5, "wrong_of_hits": 0.5}
    assert figures(requests, [None] * 4)["wrong_of_hits"] == 0


def test_each_request_has_a_response() -> None:
    with pytest.raises(ValueError, match="argument"):
        figures([Request("a", None)], [])
