"""Small logs that may be those of a help desk, from counters."""

import pytest

from pipelines.summary.small_help_desks import warnings


@pytest.mark.parametrize(
    ("changed", "answers", "warned"),
    [
        ({}, "auto", 1),
        ({}, "intent", 0),
        ({}, "fact", 0),
        ({"worth_intents": 1}, "auto", 0),
        ({"worth_agreement": 340_000}, "auto", 0),
        ({"answers": 200}, "auto", 0),
        ({"answers": 1}, "auto", 0),
        ({"questions": 5_000}, "auto", 0),
    ],
)
def test_a_small_log_that_may_be_a_help_desks_is_named(changed: dict[str, int], answers: str, warned: int) -> None:
    found = {"answers": 77, "questions": 500, "worth_agreement": 540_000, "worth_intents": 0} | changed
    sentences = warnings(found, {"assembly": {"linking": {"answers": answers}}})
    assert len(sentences) == warned
    assert all("none of 77 answers with 500 questions was taken for an intent" in sentence for sentence in sentences)
