"""Rows with HTML entities."""

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from pipelines.questions.html_entities import rows_with_entity
from schemas.text_arrays import encode


def test_rows_with_an_entity_are_counted_and_other_ampersands_are_not() -> None:
    entities = ["f&uuml;r", "&quot;Mein Konto&quot;", "it&#39;s", "it&#x27;s", "it&apos;s", "a &amp;quot; b"]
    others = [None, "", "AT&T; and others", "a & b;", "?a=1&copy=2", "&#;", "&Konto;", "R&D"]
    assert [rows_with_entity(encode(pa.array([text]))) for text in entities] == [1] * len(entities)
    assert rows_with_entity(encode(pa.array([*entities, *others, *entities], pa.string()))) == 2 * len(entities)
    assert rows_with_entity(encode(pa.array(others, pa.string()))) == 0
    assert (
        rows_with_entity(encode(pa.array([None], pa.string())))
        == rows_with_entity(encode(pa.array([], pa.string())))
        == 0
    )


def test_without_an_ampersand_no_expression_is_built(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pc, "match_substring_regex", None)
    assert rows_with_entity(encode(pa.array(["How do I pay?", None]))) == 0
