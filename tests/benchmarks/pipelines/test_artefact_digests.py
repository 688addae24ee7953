import dataclasses
import json

import pytest

from benchmarks.pipelines.artefact_digests import digest_of_hits
from jobs.web.messages.documents import hit_document
from model.search.results import Hit, Why

HIT = Hit(1, 2**63 - 1, "how do I pay", None, None, None, None, probability=0.25)


def lines(*hits):
    yield json.dumps({"question": "pay", "hits": [hit_document(hit, hit.rank) for hit in hits]})


@pytest.mark.parametrize("change", [{"question_id": -1}, {"probability": 0.5}, {"probability": None}])
def test_another_hit_has_another_digest(change):
    assert digest_of_hits(lines(dataclasses.replace(HIT, **change))) != digest_of_hits(lines(HIT))


def test_reasons_are_no_part_of_the_digest():
    assert digest_of_hits(lines(dataclasses.replace(HIT, why=Why(("pay",), 1)))) == digest_of_hits(lines(HIT))
