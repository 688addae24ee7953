"""Pairs of a dataset: kept ones, and those of rejected questions."""

import pytest

from pipelines.calibration.verdicts import population
from pipelines.calibration.verdicts.population import read_population
from pipelines.writing.rejects import MAX_PAYLOAD_CHARACTERS
from schemas.errors import QprError


@pytest.mark.parametrize("length", [1, 9_970, MAX_PAYLOAD_CHARACTERS, 100_000])
def test_rejected_questions_of_long_answers_are_in_the_population(make_dataset, length):
    one, other, alone = ("x" * length + end for end in ("a", "b", "c"))
    clusters = [(one, 0.9, ["p", "q"]), (other, 0.8, ["r", "s"])]
    rejected = [(one, "t", "linkage", "no_paraphrase"), (other, "u", "size", "over_max_cluster_size")]
    rejected += [(alone, text, "linkage", "no_paraphrase") for text in ("v", "w", "y")]
    found = read_population(make_dataset(clusters, rejected))
    assert found.other_pairs.tolist() == [2, 2, 3]
    assert found.answers.to_pylist() == [one, other, alone[:MAX_PAYLOAD_CHARACTERS]]


def test_a_payload_that_cannot_be_read_is_an_error_with_its_number(make_dataset, monkeypatch):
    dataset = make_dataset([("a", 0.9, ["p", "q"])], [("a", text, "linkage", "no_paraphrase") for text in "tu"])
    monkeypatch.setattr(population, "object_in", lambda payload: None)
    with pytest.raises(QprError, match=r"payload of 2 rejected questions cannot be read.*Make the dataset again"):
        read_population(dataset)
