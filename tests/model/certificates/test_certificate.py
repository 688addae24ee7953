import datetime
import json

import pydantic
import pytest

from model.certificates.certificate import Certificate, ValueCounts, load_certificate
from model.certificates.version import Version, first_difference
from schemas.artifacts.writer import Output
from schemas.errors import QprError
from tests.support.certificates import NOW, VERSION, certificate, stored_certificate


@pytest.fixture
def stored(tmp_path):
    url = str(tmp_path / "certificate")
    stored_certificate(url)
    return url


def test_a_certificate_is_read_as_it_was_written(stored):
    loaded = load_certificate(stored)
    assert loaded.certificate == certificate()
    assert len(loaded.digest) == 64
    loaded.check(VERSION, NOW)


@pytest.mark.parametrize(
    ("field", "value", "fault"),
    [
        ("index", "9" * 64, "index was 11111111111111111111, now it is 99999999999999999999"),
        ("confidence", None, "confidence was 22222222222222222222, now it is none"),
        ("mode", "fusion", "mode was dense, now it is fusion"),
        ("guards", (), "guards was numbers, now it is none"),
        ("k", 20, "k was 10, now it is 20"),
    ],
)
def test_another_version_is_refused_by_the_field_that_differs(stored, field, value, fault):
    other = VERSION.model_copy(update={field: value})
    assert other.digest != VERSION.digest
    with pytest.raises(QprError, match=f"certifies another version: {fault}"):
        load_certificate(stored).check(other)


def test_several_guards_of_a_version_are_named_in_their_order_and_one_version_differs_in_nothing():
    both, one = (VERSION.model_copy(update={"guards": names}) for names in (("symbols", "order"), ("order",)))
    assert first_difference(both, one) == "guards was symbols, order, now it is order"
    assert first_difference(one, both.model_copy(update={"k": 3})).startswith("guards was order")
    assert first_difference(both, both.model_copy()) is None


@pytest.mark.parametrize(("field", "smallest"), [("probes", 0), ("k", 1)])
def test_the_numbers_of_a_version_have_a_minimum_and_do_not_change(field, smallest):
    fields = VERSION.model_dump()
    version = Version.model_validate(fields | {field: smallest})
    with pytest.raises(pydantic.ValidationError, match=field):
        Version.model_validate(fields | {field: smallest - 1})
    with pytest.raises(pydantic.ValidationError, match="frozen"):
        setattr(version, field, 5)


def test_an_expired_certificate_is_refused_from_the_minute_on_if_its_age_counts(stored):
    loaded = load_certificate(stored)
    end = NOW + datetime.timedelta(days=30)
    loaded.check(VERSION, end - datetime.timedelta(seconds=1))
    with pytest.raises(QprError, match=r"expired on 2026-10-31\. Judge requests of the last days"):
        loaded.check(VERSION, end)
    loaded.check(VERSION)


def of_tenant(tenant, **counts):
    return ValueCounts(values={"tenant": tenant}, **({"requests": 1_000, "tested": 700} | counts))


def test_the_numbers_of_each_value_are_kept_and_add_up():
    by_value = [of_tenant("acme", answered=500, wrong=6), of_tenant("globex", answered=300, wrong=1)]
    written = certificate(by_value=by_value).model_dump_json()
    assert Certificate.model_validate_json(written).by_value == by_value
    for name, count in (("requests", 999), ("tested", 699), ("answered", 301), ("wrong", 2)):
        changed = [by_value[0], by_value[1].model_copy(update={name: count})]
        with pytest.raises(pydantic.ValidationError, match=f"the numbers by value do not add up to {name}"):
            certificate(by_value=changed)


def test_a_certificate_without_values_has_the_bytes_of_earlier_releases():
    assert "by_value" not in certificate().model_dump_json()


def test_an_edited_file_is_refused(stored, tmp_path):
    [file] = tmp_path.glob("certificate/*/certificate.json")
    file.write_text(file.read_text().replace('"threshold": 0.8', '"threshold": 0.7'))
    with pytest.raises(QprError, match="does not match the manifest's sha256"):
        load_certificate(stored)


@pytest.mark.parametrize(
    ("edit", "fault"),
    [
        ({"alpha": 0.001}, "the threshold is not the last that passed its test"),
        ({"threshold": 0.7}, "the threshold is not the last that passed its test"),
        ({"wrong": 1}, "the upper bound is not that of answered and wrong"),
        ({"upper_bound": 0.001}, "the upper bound is not that of answered and wrong"),
        ({"coverage": 0.9}, "the coverage is not answered / tested"),
        ({"tested": 5_000}, "the numbers of requests do not fit each other"),
        ({"version_digest": "4" * 64}, "version_digest is not that of the version"),
        ({"expires": "2026-09-01T00:00:00Z"}, "it expires before it was created"),
        ({"labellers": []}, "labellers"),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else "",
)
def test_figures_that_do_not_show_the_promise_are_refused_even_with_a_fitting_digest(tmp_path, edit, fault):
    url = str(tmp_path / "edited")
    content = json.dumps(json.loads(certificate().model_dump_json()) | edit).encode()
    output = Output(url, "certificate")
    written = [output.write("certificate.json", content, table="certificate")]
    output.publish(written, inputs=[], configuration={}, counters={})
    with pytest.raises(QprError, match="edited or damaged") as refused:
        load_certificate(url)
    assert fault in str(refused.value)


def test_something_else_is_no_certificate(tmp_path):
    with pytest.raises(QprError, match=r"not a certificate: it does not exist\. Make one with `qpr certify`"):
        load_certificate(str(tmp_path / "none"))


def test_tests_have_named_fields_and_are_read_as_lists_of_earlier_releases_too():
    fields = json.loads(certificate().model_dump_json())
    assert set(fields["tests"][0]) == {"threshold", "answered", "wrong", "p_value"}
    assert [type(fields["tests"][0][name]) for name in ("answered", "wrong")] == [int, int]
    assert Certificate.model_validate_json(json.dumps(fields)) == certificate()
    floats = [test | {name: float(test[name]) for name in ("answered", "wrong")} for test in fields["tests"]]
    assert Certificate.model_validate_json(json.dumps(fields | {"tests": floats})) == certificate()
    lists = [[*test.values()] for test in fields["tests"]]
    assert Certificate.model_validate_json(json.dumps(fields | {"tests": lists})) == certificate()
