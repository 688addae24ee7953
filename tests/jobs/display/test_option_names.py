import re

import pytest

from jobs.display.option_names import option_of, option_rows
from pipelines.graphs.settings import ClustersConfig, QuoraConfig


def typed(qpr, command):
    return set(re.findall(r"^  (--[\w-]+)", qpr(command, "--help").out, re.MULTILINE))


def filled(model):
    """Return a configuration in which nothing is null or empty, so that every value has a row."""
    values = model.model_dump(mode="json")
    if "validation" in values:
        values["column_names"] = {"question": "q", "answer_id": "id"}
        values["validation"] = {"min_confidence": 0.5, "locale": "en", "ignored_answers": ["a"]}
        linking = {"method": "boosted", "min_probability": 0.5, "weights": "abc", "encoder": "def"}
        values["assembly"]["linking"] = linking
    return values


CONFIGURATIONS = {"clusters": ClustersConfig(shards=1), "quora": QuoraConfig(shards=1)}


@pytest.mark.parametrize(("command", "model"), CONFIGURATIONS.items())
def test_each_value_stands_under_an_option_of_the_command_or_a_plain_name(qpr, command, model):
    options = typed(qpr, command)
    for name, _ in option_rows(filled(model)):
        assert name.split(" ")[0] in options if name.startswith("--") else re.fullmatch("[a-z ]+", name), name


def test_what_is_not_set_is_left_out():
    rows = dict(option_rows(ClustersConfig(shards=2).model_dump(mode="json")))
    assert rows["--linkage"] == "boosted"
    assert rows["--shards"] == "2"
    assert not {"--min-confidence", "--locale", "--ignore-answer"} & rows.keys()


def test_a_value_has_the_name_of_its_option_or_a_plain_one():
    assert option_of("assembly.gate.min_coherence") == "--min-coherence"
    assert option_of("ambiguity.min_answer_share") == "--min-answer-share"
    assert option_of("assembly.linking.encoder_kind") == "--refine-with (kind)"
    assert option_of("assembly.some_thing.else") == "some thing else"
