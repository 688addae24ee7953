import pyarrow as pa

from pipelines.privacy.scrub import scrub, scrub_columns

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
