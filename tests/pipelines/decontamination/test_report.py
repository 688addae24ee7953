import json

import pytest

from pipelines.decontamination.report import leakage_report, write_leakage
from pipelines.decontamination.settings import Leakage
from schemas.artifacts import storage
from schemas.artifacts.writer import Output
from schemas.errors import QprError

COUNTS = {
    "rows_read": 10,
    "leakage.compared.train": 7,
    "leakage.found.test.in_train": 2,
    "leakage.removed.test.in_train": 3,
    "leakage.check.compared.train": 7,
    "leakage.check.found": 0,
}


def test_the_counts_become_a_tree_beside_the_rule():
    report = leakage_report(COUNTS, Leakage())
    assert report["rule"] == {
        "same": ["question", "words", "near_duplicate"],
        "near_duplicate": 0.9,
        "removed_if_found_in": {"validation": ["train", "test"], "test": ["train"]},
    }
    assert report["compared"] == {"train": 7}
    assert report["found"] == {"test": {"in_train": 2}}
    assert report["removed"] == {"test": {"in_train": 3}}
    assert report["check"]["compared"] == {"train": 7}
    assert report["check"]["found"] == 0


@pytest.mark.parametrize(
    ("least", "same", "validation"), [(0, ["question"], ["train"]), (1, ["question", "words"], ["train", "test"])]
)
def test_the_rule_defines_equality(least, same, validation):
    rule = leakage_report({}, Leakage(near_duplicate=least))["rule"]
    assert (rule["same"], rule["removed_if_found_in"]["validation"]) == (same, validation)


def test_the_file_is_written_and_the_other_counters_are_returned(memory):
    output = Output(f"{memory}/dataset", "dataset")
    counters, file = write_leakage(COUNTS, Leakage(), output)
    assert counters == {"rows_read": 10}
    assert (file.table, file.path) == ("leakage", f"{output.run_id}/leakage.json")
    assert json.loads(storage.read_bytes(f"{output.run_url}/leakage.json")) == leakage_report(COUNTS, Leakage())


def test_a_leak_that_the_check_finds_is_an_error(memory):
    with pytest.raises(QprError, match="3 questions of validation or test found again"):
        write_leakage(COUNTS | {"leakage.check.found": 3}, Leakage(), Output(f"{memory}/dataset", "dataset"))
