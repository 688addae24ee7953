import json

import pyarrow as pa
import pytest

from pipelines.privacy.scrub import scrub, scrub_columns, scrub_payloads
from pipelines.writing.rejects import reject

TEXTS = ["call 555-010-0199", None, "how are you", "", "mail a@b.org and c@d.org", "call 555-010-0199"]
CLEAN = ["call [phone]", None, "how are you", "", "mail [email] and [email]", "call [phone]"]


def test_texts_keep_their_places_and_each_replacement_is_counted():
    for texts in (pa.array(TEXTS), pa.chunked_array([TEXTS[:2], TEXTS[2:]]), pa.chunked_array([], pa.string())):
        scrubbed = scrub(texts)
        assert scrubbed.texts.to_pylist() == CLEAN[: len(texts)]
        assert scrubbed.found == ({"phone": 2, "email": 2} if len(texts) else {})


def test_other_columns_and_the_schema_stay():
    table = pa.table({"question": TEXTS, "answer": TEXTS, "events": range(len(TEXTS))})
    scrubbed, found = scrub_columns(table, ("question",))
    assert scrubbed.schema == table.schema
    assert (scrubbed["question"].to_pylist(), scrubbed["answer"].to_pylist()) == (CLEAN, TEXTS)
    assert found.total() == 4
    assert scrub_columns(table, ())[0] is table


def scrub_payload(payload):
    table = reject(pa.array([payload, "nothing", payload]), stage="read", reasons="invalid_json")
    scrubbed, found = scrub_payloads(table, hashed=frozenset({"user_id"}))
    assert scrubbed.schema == table.schema
    first, other, last = scrubbed["payload"].to_pylist()
    assert (other, first) == ("nothing", last)
    return first, {kind: number // 2 for kind, number in found.items()}


@pytest.mark.parametrize(
    ("payload", "scrubbed", "kind"),
    [
        (
            r'{"question": "mail jo\u0040b.org", "answer": ["x"]}',
            {"question": "mail [email]", "answer": ["x"]},
            "email",
        ),
        (r'{"question": "mail jos\u00e9@b.org"}', {"question": "mail [email]"}, "email"),
        (r'{"question": "mail\njo@b.org"}', {"question": "mail\n[email]"}, "email"),
        (r'{"question": "https:\/\/jo:pw@host\/x"}', {"question": "[url]"}, "url"),
        ('{"question": 4111111111111111, "confidence": 0.5}', {"question": "[card]", "confidence": 0.5}, "card"),
        ('{"question": [{"jo@b.org": "call 555-010-0199"}]}', {"question": [{"[email]": "call [phone]"}]}, "phone"),
    ],
)
def test_the_payload_of_an_object_stays_an_object_and_its_escapes_hide_nothing(payload, scrubbed, kind):
    text, found = scrub_payload(payload)
    assert json.loads(text) == scrubbed
    assert found[kind] == 1


def test_escapes_in_a_line_that_is_no_object_hide_nothing():
    assert scrub_payload(r'{"question": "mail jos\u00e9\u0040b.org", bro')[0] == '{"question": "mail [email]", bro'
    assert scrub_payload(r"\ud83d \ud83d\ude00 \udbad\u0040 jo\u0040b.org")[0] == "\\ud83d \U0001f600 \\udbad@ [email]"


@pytest.mark.parametrize(
    "payload",
    [
        r'{"question": "caf\u00e9", "confidence": NaN}',
        r"C:\users\new, \u12",
        '{"question": "how", "user_id": "4111111111111111"}',
        "",
    ],
)
def test_a_payload_without_personal_data_stays_as_it_is(payload):
    assert scrub_payload(payload) == (payload, {})


@pytest.mark.parametrize(
    ("payload", "scrubbed"),
    [
        ('{"question": "mail jo@b.org", "question": ["x"]}', '{"question": "mail [email]", "question": ["x"]}'),
        (r'{"question": [{"a": "jo\u0040b.org", "a": 1}]}', '{"question": [{"a": "[email]", "a": 1}]}'),
        ('{"confidence": 4111111111111111.0e999}', '{"confidence": null}'),
        (r"4111 1111 1111 1111\u0031 is it", r"[card]\u0031 is it"),
    ],
)
def test_no_part_of_a_payload_that_its_values_do_not_have_stays_unread(payload, scrubbed):
    assert scrub_payload(payload)[0] == scrubbed


@pytest.mark.parametrize("depth", [60, 100, 460, 480, 900])
@pytest.mark.parametrize(("opening", "closing"), ["[]", ('{"a":', "}")])
def test_a_payload_of_many_levels_is_scrubbed(depth, opening, closing):
    around = '{"question": ' + opening * depth + '"%s"' + closing * depth + "}"
    assert scrub_payload(around % "jo@b.org")[0].replace(" ", "") == (around % "[email]").replace(" ", "")
