"""Indexes that vary by columns, and answers with an end: from files to answers."""

import dataclasses
import datetime
import json
import shutil

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow.parquet import read_table

from model.certificates.certificate import Loaded
from model.search.opening import open_index
from model.search.searcher import open_searcher
from schemas.artifacts.manifest import read_manifest
from schemas.errors import UsageError
from schemas.filters import read_ends
from schemas.tables import ID_TABLE
from schemas.text import key
from tests.support.certificates import certificate
from tests.support.csv_files import write_csv

WORDS = ("pay", "bill", "cancel", "flight", "rent", "car")
NOW = datetime.datetime(2026, 11, 23, 12, tzinfo=datetime.UTC)
ENDS = ("", "2026-11-22", "2026-11-23", "2026-11-23T12:00:00Z", "2026-11-23T12:00:01Z", "2031-01-01")
VALID = ("", "2026-11-23", "2026-11-23T12:00:01Z", "2031-01-01")


def rows_of():
    """Return the same questions for each tenant and locale, with answers of their own."""
    rows = []
    for tenant in ("acme", "globex"):
        for locale in ("de", "en"):
            for n in range(24):
                question = f"{WORDS[n % 6]} {WORDS[(n // 2) % 6]} number {n % 12}"
                answer = f"{tenant} {locale} {question}"
                rows.append({"question": question, "answer": answer, "tenant": tenant, "locale": locale})
                rows[-1]["ends"] = ENDS[(n % 12 + len(tenant)) % 6]
    return rows


ROWS = rows_of()


@pytest.fixture
def place(folder, make_model, qpr):
    if not (folder / "index").exists():
        make_model(folder / "model")
        build(qpr, folder / "model", ROWS, folder / "index", "--vary-by", "tenant", "--vary-by", "locale")
    return folder


def build(qpr, model, rows, index, *options):
    given_files = ("--questions", write_csv(index.with_suffix(".csv"), rows), "--model", model, "--shards", 3)
    done = qpr("index", *given_files, "--valid-until", "ends", "--output", index, "--json", *options)
    assert done.code == 0, done.err
    return json.loads(done.out)


@pytest.fixture
def searcher(place, kept={}):  # noqa: B006  # opened once: Hypothesis asks a hundred times
    if place not in kept:
        kept[place] = dataclasses.replace(open_searcher(str(place / "index"), mode="fusion"), clock=lambda: NOW)
    return kept[place]


def expected(tenant, locale):
    """Return key and answer of the rows that requests with these values may find."""
    rows = [row for row in ROWS if (row["tenant"], row["locale"]) == (tenant, locale) and row["ends"] in VALID]
    return {key(row["question"]): row["answer"] for row in rows}


@given(
    question=st.lists(st.sampled_from([*WORDS, "number", "3", "7"]), min_size=1, max_size=4).map(" ".join),
    tenant=st.sampled_from(["acme", "globex"]),
    locale=st.sampled_from(["de", "en"]),
    mode=st.sampled_from(["exact", "dense", "bm25", "fusion"]),
    k=st.integers(1, 30),
)
def test_a_filtered_search_equals_brute_force_over_the_allowed_rows(searcher, question, tenant, locale, mode, k):
    allowed = expected(tenant, locale)
    hits = searcher.search_many([question], k, mode=mode, filters={"tenant": tenant, "locale": locale})[0]
    found = [key(hit.text) for hit in hits]
    assert len({*found}) == len(found)
    assert all(allowed.get(key(hit.text)) == hit.answer for hit in hits)
    same = [key(question)] if key(question) in allowed else []
    if mode == "exact":
        assert found == same
    if mode == "dense":
        assert len(found) == min(k, len(allowed))
        distances = distance(searcher, question, found)
        assert found[:1] == same or (distances[1:] >= distances[:-1]).all()
        others = [text for text in allowed if text not in found]
        assert not others or distance(searcher, question, others).min() >= distances.max() - 1e-5
    if mode == "bm25":
        index, lexical = searcher.index, searcher.retrieval.lexical
        ids = [row for row in lexical.rank([question], len(ROWS)).ids[0].tolist() if row != -1]
        rows = index.questions(index.rows_of(np.array(ids, np.int64))).to_pylist()
        ranked = [key(row["text"]) for row in rows if allowed.get(key(row["text"])) == row["answer"]]
        assert found == list(dict.fromkeys(same + ranked))[:k]


def distance(searcher, question, texts):
    one, others = (searcher.index.encoder.encode(part) for part in ([question], texts))
    return ((others - one) ** 2).sum(axis=1)


def test_two_tenants_with_the_same_question_get_their_own_answers(searcher):
    question = next(row["question"] for row in ROWS if row["ends"] in ("", "2031-01-01") and row["tenant"] == "acme")
    for tenant in ("acme", "globex"):
        for locale in ("de", "en"):
            filters = {"locale": locale, "tenant": tenant}
            answer = searcher.answer(question, filters=filters)
            wanted = expected(tenant, locale).get(key(question))
            assert answer.answered == (wanted is not None)
            if wanted:
                assert (answer.reason, answer.hit.answer) == ("exact", wanted)
                [with_hits] = searcher.answer_many([question], hits=5, filters=filters)
                assert with_hits.hit.answer == wanted
                assert all(hit.answer.startswith(f"{tenant} {locale} ") for hit in with_hits.hits)


def test_no_question_is_known_before_its_rows_are_chosen(searcher, place):
    [text] = searcher.index.questions([0])["text"].to_pylist()
    assert searcher.known(text) is None


def test_an_answer_ends_at_its_moment(place):
    row = next(row for row in ROWS if row["ends"] == "2026-11-23T12:00:01Z")
    filters = {"locale": row["locale"], "tenant": row["tenant"]}
    second = datetime.timedelta(seconds=1)
    times = [NOW]
    searcher = dataclasses.replace(open_searcher(str(place / "index")), clock=lambda: times[-1])
    for moment, is_valid in ((NOW, True), (NOW + second - second / 10**6, True), (NOW + second, False), (NOW, True)):
        times.append(moment)
        assert searcher.answer(row["question"], filters=filters).answered == is_valid
        listed = {hit.answer for hit in searcher.search(row["question"], 99, filters=filters)}
        assert (row["answer"] in listed) == is_valid


def test_no_other_answer_takes_the_place_of_one_that_ended_after_the_certificate(searcher):
    row = next(row for row in ROWS if row["ends"] == "2026-11-22")
    filters, day = {"locale": row["locale"], "tenant": row["tenant"]}, datetime.timedelta(days=1)
    early, late = (
        dataclasses.replace(searcher, certificate=Loaded("url", "d", certificate(created=made, expires=NOW + day)))
        for made in (NOW - 2 * day, NOW)
    )
    for hits in (0, 5):
        [answer] = early.answer_many([row["question"]], hits=hits, filters=filters)
        assert (answer.answered, answer.reason, answer.hit) == (False, "answer_ended", None)
        assert row["answer"] not in {hit.answer for hit in answer.hits}
        [answer] = late.answer_many([row["question"]], hits=hits, filters=filters)
        assert answer.hit.text != row["question"]
        assert answer.reason not in ("answer_ended", "exact")
    [answer] = early.answer_many(["rent rent number 1"], filters=filters)
    assert answer.hit is None or answer.reason != "answer_ended"


def test_all_lists_are_searched_for_few_rows(place, tmp_path, qpr):
    options = ("--vary-by", "tenant", "--vary-by", "locale", "--factory", "IVF4,Flat", "--probes", "1")
    others = [{**row, "question": f"{row['question']} {n}", "tenant": "initech"} for row in ROWS for n in range(9)]
    build(qpr, place / "model", ROWS + others, tmp_path / "index", *options)
    searcher = dataclasses.replace(open_searcher(str(tmp_path / "index"), mode="dense"), clock=lambda: NOW)
    hits = searcher.search("pay bill", 99, filters={"tenant": "acme", "locale": "de"})
    assert {key(hit.text): hit.answer for hit in hits} == expected("acme", "de")


@pytest.mark.parametrize(
    ("filters", "message"),
    [
        (None, "locale is missing"),
        ({}, "locale is missing"),
        ({"locale": "de"}, "tenant is missing"),
        ({"locale": "fr", "tenant": "acme"}, "no question has the locale 'fr'"),
        ({"locale": "DE", "tenant": "acme"}, "no question has the locale 'DE'"),
        ({"locale": "", "tenant": "acme"}, "no question has the locale ''"),
        ({"locale": ["de"], "tenant": "acme"}, "no question has the locale"),
        ({"locale": "de", "tenant": "acme", "colour": "red"}, "'colour' is no column to filter by"),
    ],
)
def test_filters_that_do_not_fit_are_refused(searcher, filters, message):
    for ask in (searcher.search, searcher.answer):
        with pytest.raises(UsageError, match=message):
            ask("pay bill number 3", filters=filters)
    with pytest.raises(UsageError, match=r"locale is missing\. Name a value of each of locale, tenant"):
        searcher.rank(["pay bill"], 3)


def test_commands_take_filters_and_refuse_what_does_not_fit(place, qpr):
    given_filters = ("--filter", "locale=en", "--filter", "tenant=acme")
    for command in ("search", "answer"):
        done = qpr(command, "--index", place / "index", "--json", *given_filters, "cancel bill number 2")
        assert done.code == 0, done.err
        assert "globex" not in done.out
        assert "acme en" in done.out
        if command == "answer":
            row = json.loads(done.out)
            assert row["filters"] == {"locale": "en", "tenant": "acme"} == {name: row[name] for name in row["filters"]}
        for wrong in ((), given_filters[:2], ("--filter", "locale=fr", "--filter", "tenant=acme"), ("--filter", "x")):
            done = qpr(command, "--index", place / "index", *wrong, "cancel bill number 2")
            assert (done.code, done.out) == (2, "")
            assert "error: --filter" in done.err


def test_an_export_has_the_columns(place, tmp_path, qpr):
    assert qpr("export", "--index", place / "index", "--output", tmp_path / "out.parquet").code == 0
    rows = read_table(tmp_path / "out.parquet").to_pylist()
    assert {(row["text"], row["tenant"], row["locale"], row["answer"]) for row in rows} == {
        (row["question"], row["tenant"], row["locale"], row["answer"]) for row in ROWS
    }
    assert {row["valid_until"] for row in rows} == set(read_ends(pa.array(ENDS)).times.to_pylist())
    qdrant = pytest.importorskip("qdrant_client", reason="needs the extra qdrant")
    assert qpr("export", "--index", place / "index", "--to", "qdrant", "--output", tmp_path / "q").code == 0
    client = qdrant.QdrantClient(path=str(tmp_path / "q"))
    [point] = client.scroll("questions", limit=1)[0]
    client.close()
    assert {"tenant", "locale", "valid_until", "text"} <= point.payload.keys()


def test_a_question_is_erased_for_every_value(place, tmp_path, qpr):
    shutil.copytree(place, tmp_path, dirs_exist_ok=True)
    index, secret = tmp_path / "index", ROWS[2]["question"]
    gone = [{"question": secret, "tenant": "acme", "locale": "de"}]
    assert qpr("index", "--output", index, "--delete", write_csv(tmp_path / "old.csv", gone)).code == 0
    done = qpr("erase", "--index", index, "--question", secret.upper(), "--json")
    assert done.code == 0, done.err
    left = stored(index)
    assert len(left) == len({row["question"] for row in ROWS}) * 4 - 4
    assert all(question != secret for question, _, _ in left)
    content = b"".join(path.read_bytes() for path in index.rglob("*.arrow"))
    assert secret.encode() not in content
    assert ROWS[3]["question"].encode() in content


def test_additions_deletions_and_compaction_keep_to_the_values(place, tmp_path, qpr):
    shutil.copytree(place, tmp_path, dirs_exist_ok=True)
    index = tmp_path / "index"
    first = ROWS[2]
    second = next(row for row in ROWS if row["tenant"] == "globex" and row["question"] != first["question"])
    added = [{**first, "tenant": "initech", "answer": "new"}, {**first, "answer": "other"}]
    deleted = [{name: second[name] for name in ("question", "tenant", "locale")}]
    files = ("--add", write_csv(tmp_path / "new.csv", added), "--delete", write_csv(tmp_path / "old.csv", deleted))
    done = qpr("index", "--output", index, *files, "--json")
    assert done.code == 0, done.err
    counters = json.loads(done.out)["counters"]
    assert (counters["questions_added"], counters["questions_replaced"], counters["questions_deleted"]) == (1, 1, 1)
    for _ in ("changed", "compacted"):
        kept = stored(index)
        assert kept[first["question"], "acme", first["locale"]] == "other"
        assert kept[first["question"], "initech", first["locale"]] == "new"
        assert kept[first["question"], "globex", first["locale"]] == f"globex {first['locale']} {first['question']}"
        assert (second["question"], "globex", second["locale"]) not in kept
        assert (second["question"], "acme", second["locale"]) in kept
        assert qpr("index", "--output", index, "--compact").code == 0
    assert qpr("index", "--output", index, "--add", write_csv(tmp_path / "bad.csv", [{"question": "x"}])).code == 1
    assert qpr("index", "--output", index, "--delete", write_csv(tmp_path / "bad.csv", [{"question": "x"}])).code == 1


def stored(url):
    index = open_index(str(url))
    rows = index.questions(index.live_rows(np.arange(len(index)))).to_pylist()
    return {(row["text"], row["tenant"], row["locale"]): row["answer"] for row in rows}


def test_rows_that_cannot_be_found_or_ended_are_rejected_with_their_reason(folder, place, tmp_path, qpr):
    bad = [
        {"tenant": "", "locale": "de", "ends": ""},
        {"tenant": "acme", "locale": "d" * 201, "ends": ""},
        {"tenant": "acme", "locale": "de", "ends": "tomorrow"},
        {"tenant": "acme", "locale": "de", "ends": "2026-11-23T10:00:00"},
        {"tenant": " acme ", "locale": "de", "ends": " "},
    ]
    rows = [{"question": f"pay bill {n}", "answer": "Yes", **row} for n, row in enumerate(bad)]
    printed = build(qpr, place / "model", rows, tmp_path / "index", "--vary-by", "tenant", "--vary-by", "locale")
    reasons = {name: count for name, count in printed["counters"].items() if name.startswith("rejected_validate_")}
    assert reasons == {
        f"rejected_validate_{reason}": 1
        for reason in ("missing_tenant", "too_long_locale", "unreadable_valid_until", "valid_until_without_zone")
    }
    assert [*stored(tmp_path / "index")] == [("pay bill 4", "acme", "de")]
    rejected = pa.concat_tables(read_table(file) for file in sorted(tmp_path.glob("index/*/rejected/*.parquet")))
    assert any('"valid_until": "tomorrow"' in payload for payload in rejected["payload"].to_pylist())


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        (("--vary-by", "colour"), 1, "no column colour"),
        (("--vary-by", "answer"), 2, "answer has another meaning"),
        (("--vary-by", "a=b"), 2, "no name of letters"),
        (("--valid-until", "finish"), 1, "no column finish"),
        (("--valid-until", "tenant", "--vary-by", "tenant"), 2, "must be a column of its own"),
    ],
)
def test_columns_that_do_not_fit_are_refused(place, tmp_path, qpr, options, code, message):
    files = ("--questions", place / "index.csv", "--model", place / "model")
    done = qpr("index", *files, "--output", tmp_path / "i", *options)
    assert done.code == code
    assert message in done.err
    assert not (tmp_path / "i").exists()


def test_answers_of_a_dataset_have_no_end(place, tmp_path, make_dataset, qpr):
    make_dataset(tmp_path / "data", [], alone=["pay my bill", "cancel my flight"])
    files = ("--questions", tmp_path / "data", "--questions", place / "index.csv", "--model", place / "model")
    assert qpr("index", *files, "--output", tmp_path / "index", "--valid-until", "ends").code == 0
    searcher = dataclasses.replace(open_searcher(str(tmp_path / "index")), clock=lambda: NOW + datetime.timedelta(9999))
    assert {hit.text for hit in searcher.search("pay bill", 99)} >= {"pay my bill", "cancel my flight"}
    without_end = {row["answer"] for row in ROWS if not row["ends"]}
    assert {hit.answer for hit in searcher.search("pay bill", 99)} <= {None, *without_end}


def test_an_index_without_such_columns_names_none(place, tmp_path, qpr):
    files = ("--questions", write_csv(tmp_path / "plain.csv", ROWS[:9]), "--model", place / "model")
    assert qpr("index", *files, "--output", tmp_path / "plain").code == 0
    assert {"vary_by", "valid_until"}.isdisjoint(read_manifest(str(tmp_path / "plain")).configuration)
    searcher = open_searcher(str(tmp_path / "plain"))
    assert searcher.views.of(None, NOW) is searcher.retrieval
    assert searcher.index.questions([0]).column_names == [*ID_TABLE.names, "answer_id"]
    with pytest.raises(UsageError, match=r"no column to filter by\. Leave it out"):
        searcher.search("pay bill", filters={"locale": "de"})


def test_options_of_files_are_refused_where_there_are_datasets_only(place, tmp_path, make_dataset, qpr):
    make_dataset(tmp_path / "data", [], alone=["pay my bill", "cancel my flight"])
    files = ("--questions", tmp_path / "data", "--model", place / "model", "--output", tmp_path / "index")
    done = qpr("index", *files, "--valid-until", "ends", "--delimiter", ";")
    assert done.code == 2
    assert "--valid-until ends, --delimiter ;: is about files, but --questions has datasets only" in done.err
    assert not (tmp_path / "index").exists()
