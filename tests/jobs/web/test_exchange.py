"""A new version at the URL replaces the one that answers; a broken one does not."""

import asyncio
import contextlib
import datetime
import gc
import shutil
import threading
import weakref
from types import SimpleNamespace

import pytest

from jobs.web import exchange as exchange_module
from jobs.web.exchange import Exchange
from jobs.web.service import Service
from jobs.web.settings import Serving
from jobs.web.state import State
from jobs.web.versions.leases import Versions
from jobs.web.versions.opening import open_version
from jobs.workflows.warehouses.version_reading import Readable
from model.certificates.certificate import load_certificate
from model.search.searcher import open_searcher
from schemas.artifacts.manifest import read_manifest
from schemas.versions import history, leases
from schemas.versions.version import Artefact
from tests.support.certificates import stored_certificate
from tests.support.manifests import edit_manifest
from tests.support.waiting import wait_until

OLD, NEW = ("pay my bill", "cancel my flight"), ("pay my bill", "how tall is it", "cancel my flight")


def published(service):
    return service.metrics.registry.get_sample_value("qpr_index_published")


def unix_time(written):
    return datetime.datetime.fromisoformat(written).timestamp()


@contextlib.contextmanager
def serving(readable, poll=0):
    """Yield a service and its exchange."""
    service = Service(Serving(log="none", poll=poll), Versions(open_version(readable, open_searcher)), State(None))
    try:
        yield service, Exchange(service, readable, open_searcher)
    finally:
        service.batcher.close()
        service.versions.close()


@pytest.fixture
def served(publish):
    """Return a service of an index of the old questions, and its exchange."""
    with serving(Readable(str(publish(OLD)))) as served:
        yield served


@pytest.fixture
def service(served):
    return served[0]


@pytest.fixture
def exchange(served):
    return served[1]


async def held(warehouse, numbers):
    """Wait until exactly these versions of a warehouse are held by leases."""
    for _ in range(500):  # a lease is released in a thread of its own
        if {lease.version for lease in leases.leases(warehouse).values()} == numbers:
            return
        await asyncio.sleep(0.01)
    raise AssertionError(leases.leases(warehouse))


async def texts(service):
    found = await service.search(["how tall is it"], 3)
    return {hit["text"] for hit in found["results"][0]["hits"]}


def swaps(service, result):
    return service.metrics.swaps.labels(result)._value.get()


async def test_nothing_is_opened_while_the_version_is_the_same(service, exchange):
    before = service.versions.current
    assert await exchange.reload() == "unchanged"
    assert service.versions.current is before


async def test_a_new_version_answers_and_the_old_one_leaves_memory(publish, service, exchange):
    old = weakref.ref(service.versions.current.searcher)
    assert await texts(service) == set(OLD)
    publish(NEW)
    with service.versions.lease() as used:
        assert await exchange.reload() == "swapped"
        assert service.versions.opened == 2
        assert (await service.batcher.run(used, "search", ["how tall is it"], 3))[0][0].text in OLD
    del used
    assert await texts(service) == set(NEW)
    assert service.versions.opened == 1
    await asyncio.to_thread(wait_until, lambda: old() is None)  # its thread may still be leaving the search
    assert swaps(service, "swapped") == 1
    shown = service.metrics.text().decode()
    assert "qpr_index_questions 3.0" in shown
    assert published(service) == unix_time(read_manifest(exchange._readable.url).created)


async def test_the_end_of_the_server_does_not_wait_for_a_version_that_is_being_opened(publish, monkeypatch, exchange):
    has_begun, goes_on = threading.Event(), threading.Event()
    monkeypatch.setattr(exchange_module, "open_version", lambda *_: (has_begun.set(), goes_on.wait(20)))
    publish(NEW)
    reloading = asyncio.ensure_future(exchange.reload())
    assert await asyncio.to_thread(has_begun.wait, 20)
    [thread] = [thread for thread in threading.enumerate() if thread.name.startswith("open")]
    reloading.cancel()
    with pytest.raises(asyncio.CancelledError):
        await reloading
    assert (thread.is_alive(), thread.daemon) == (True, True)  # Python ends without its daemons
    goes_on.set()
    await asyncio.to_thread(thread.join, 20)


class Cycle:
    """An object that only a collection of cycles frees."""

    def __init__(self, version):
        self.version, self.itself = version, self


async def test_garbage_that_leads_to_the_old_version_does_not_outlive_the_exchange(publish, service, exchange):
    old = weakref.ref(service.versions.current)
    Cycle(service.versions.current)
    publish(NEW)
    gc.unfreeze()
    assert await exchange.reload() == "swapped"
    assert old() is None
    assert gc.get_freeze_count() > 0  # no later collection visits the new version


async def test_the_manifest_is_watched(publish):
    with serving(Readable(str(publish(OLD))), poll=0.05) as (service, exchange):
        watching = asyncio.create_task(exchange.watch())
        publish(NEW)
        while len(service.versions.current.searcher) != len(NEW):
            await asyncio.sleep(0.02)
        watching.cancel()


async def test_a_new_version_is_looked_for_once_in_each_period_and_a_refused_one_is_left():
    looks = []

    async def reload(*, force):
        looks.append(force)
        await asyncio.sleep(0)

    exchange = Exchange(SimpleNamespace(settings=Serving(poll=0.05)), Readable("index"), open_searcher)
    exchange.reload = reload
    watching = asyncio.create_task(exchange.watch())
    await asyncio.sleep(0.12)
    watching.cancel()
    assert looks in ([False], [False, False])


async def test_a_new_certificate_of_the_same_index_is_used(publish, tmp_path):
    url, certificate = str(publish(OLD)), str(tmp_path / "certificate")
    readable = Readable(url, certificate)

    def certify():
        stored_certificate(certificate)
        return read_manifest(certificate, "certificate").run_id

    def opened(url, *, certificate):
        searcher = open_searcher(url)
        object.__setattr__(searcher, "certificate", load_certificate(certificate))
        return searcher

    looks = []
    certify()

    async def refresh():
        looks.append(service.versions.current)

    first = open_version(readable, opened)
    service = Service(Serving(poll=0), Versions(first), State(None))
    exchange = Exchange(service, readable, opened)
    assert (
        f"qpr_certified_bound {load_certificate(certificate).certificate.upper_bound}"
        in service.metrics.text().decode()
    )
    assert await exchange.reload() == "unchanged"
    new = certify()
    service.auditing.refresh = refresh
    assert await exchange.reload() == "swapped"
    assert looks == [service.versions.current]  # an alarm of the new certificate counts at once
    assert service.versions.current.run_id.endswith(f"+{new}")
    assert service.versions.current.name == first.name
    shutil.rmtree(certificate)
    assert "not a certificate" in await exchange.reload()
    service.batcher.close()


def damage_a_shard(index):
    path = next(index.glob("*/shards/*"))
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


def remove_a_shard(index):
    next(index.glob("*/shards/*")).unlink()


def cut_the_manifest(index):
    path = index / "manifest.json"
    path.write_bytes(path.read_bytes()[:-50])


def remove_the_manifest(index):
    (index / "manifest.json").unlink()


@pytest.mark.parametrize("damage", [damage_a_shard, remove_a_shard, cut_the_manifest, remove_the_manifest])
async def test_a_broken_version_is_refused_and_reported_and_the_old_one_answers(
    publish, capsys, damage, service, exchange
):
    damage(publish(NEW))
    outcome = await exchange.reload()
    assert outcome.startswith("refused: ")
    assert await texts(service) == set(OLD)
    assert swaps(service, "refused") == 1
    assert outcome in capsys.readouterr().err
    publish(OLD)
    publish(NEW)
    assert (await exchange.reload(), await texts(service)) == ("swapped", set(NEW))


async def test_a_refusal_is_reported_once_and_again_after_the_fault_was_corrected(
    publish, capsys, monkeypatch, exchange
):
    damage_a_shard(publish(NEW))
    monkeypatch.setattr("jobs.web.exchange._AGAIN", 0)
    for _ in range(3):
        assert (await exchange.reload(force=False)).startswith("refused")
    assert capsys.readouterr().err.count("the new version was refused") == 1
    publish(OLD)
    assert await exchange.reload(force=False) == "unchanged"
    remove_the_manifest(publish(OLD))
    for _ in range(2):
        assert (await exchange.reload(force=False)).startswith("refused")
    assert capsys.readouterr().err.count("the new version was refused") == 1
    publish(OLD)
    assert await exchange.reload(force=False) == "unchanged"
    remove_the_manifest(publish(OLD))
    assert (await exchange.reload(force=False)).startswith("refused")
    assert capsys.readouterr().err.count("the new version was refused") == 1


async def test_a_refused_version_is_not_opened_again_at_every_check(publish, monkeypatch, service, exchange):
    damage_a_shard(publish(NEW))
    assert (await exchange.reload(force=False)).startswith("refused")
    assert await exchange.reload(force=False) == "unchanged"
    assert swaps(service, "refused") == 1
    monkeypatch.setattr("jobs.web.exchange._AGAIN", 0)
    assert (await exchange.reload(force=False)).startswith("refused")


async def test_a_newer_version_of_a_warehouse_answers_and_the_old_one_is_released_with_its_last_request(
    publish_version,
):
    warehouse = publish_version(OLD)
    with serving(Readable(warehouse=warehouse)) as (service, exchange):
        await held(warehouse, {1})
        publish_version(NEW)
        with service.versions.lease() as used:
            assert await exchange.reload() == "swapped"
            assert await texts(service) == set(NEW)
            await held(warehouse, {1, 2})
            assert (await service.batcher.run(used, "search", ["how tall is it"], 3))[0][0].text in OLD
        await held(warehouse, {2})
        assert await exchange.reload() == "unchanged"
        assert service.versions.current.run_id.startswith("version 2+")
        assert published(service) == unix_time(history.version_at(warehouse, "2")[1].created)
        history.roll_back(warehouse, 1)
        assert (await exchange.reload(), await texts(service)) == ("swapped", set(OLD))
        await held(warehouse, {3})
    assert leases.leases(warehouse) == {}


@pytest.mark.parametrize("damage", [damage_a_shard, remove_the_manifest])
async def test_a_broken_version_of_a_warehouse_is_refused_and_not_held(publish_version, capsys, damage):
    warehouse = publish_version(OLD)
    with serving(Readable(warehouse=warehouse)) as (service, exchange):
        publish_version(NEW, damage)
        outcome = await exchange.reload()
        assert outcome.startswith("refused: ")
        assert f"{warehouse}/indexes/1" in outcome or "version 2 names indexes/1" in outcome
        assert outcome in capsys.readouterr().err
        assert (await texts(service), swaps(service, "refused")) == (set(OLD), 1)
        await held(warehouse, {1})
        publish_version(NEW)
        assert (await exchange.reload(), await texts(service)) == ("swapped", set(NEW))


@pytest.mark.parametrize("at", ["1", "2026-11-20"])
async def test_a_pinned_version_of_a_warehouse_stays(publish_version, at):
    warehouse = publish_version(OLD)
    with serving(Readable(warehouse=warehouse, at=at)) as (service, exchange):
        publish_version(NEW)  # of the same date, as of a corrected drop
        assert await exchange.reload() == "unchanged"
        assert await texts(service) == set(OLD)
        await held(warehouse, {1})


async def test_a_pinned_version_from_which_a_question_was_erased_is_read_again_without_its_certificate(
    publish_version, publish, tmp_path
):
    digest = stored_certificate(tmp_path / "w/certificates/c")
    warehouse = publish_version(NEW, certificate=Artefact(path="certificates/c", digest=digest))
    given = []

    def opened(url, *, certificate):
        given.append(certificate)
        return open_searcher(url)

    readable = Readable(warehouse=warehouse, at="1")
    service = Service(Serving(poll=0), Versions(open_version(readable, opened)), State(None))
    index = publish(OLD, "w/indexes/0")
    was = history.read_version(warehouse, 1).index.digest
    edit_manifest(index, lambda manifest: manifest.update(erased=[{"digest": was, "on": "2026-11-25"}]))
    assert await Exchange(service, readable, opened).reload() == "swapped"
    assert await texts(service) == set(OLD)
    assert given == [f"{warehouse}/certificates/c", None]
    service.batcher.close()
    service.versions.close()
