"""Responses as plain objects."""

import dataclasses

from jobs.web.messages.documents import HitDocument, WhyDocument
from model.search.results import Hit, Why


def test_a_response_has_all_that_a_hit_and_its_reasons_have():
    for kind, document in ((Hit, HitDocument), (Why, WhyDocument)):
        assert [field.name for field in dataclasses.fields(kind)] == [*document.__annotations__]
