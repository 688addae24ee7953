from __future__ import annotations

import json

import numpy as np
import pytest

from model.encoders.cnn.settings import CnnSettings
from model.encoders.subword.settings import SubwordSettings
from model.training.checkpoints.checkpoints import SHARE, STATE, Checkpoints, identity_of
from model.training.progress import Epoch, Progress
from model.training.settings import TrainingSettings
from schemas import words
from schemas.artifacts import storage
from schemas.errors import QprError

ARRAYS = {
    "weights": {"a": np.arange(6, dtype=np.float32).reshape(2, 3), "b": np.float32([0.1])},
    "optimizer_step": {"0.0": np.array(7), "1.0": np.array(7, np.float32)},
}
PROGRESS = Progress(epoch=3, step=17, pairs=99, loss_sum=1 / 3, seconds=0.1, first_loss=0.7, decayed=0.25, best=1)
PROGRESS.epochs = [Epoch(1, 0.1 + 0.2, 0.9, 1.5, 66.0), Epoch(2, 0.2, None, 1.5, 66.0)]


class Clock:
    now = 0.0

    def __call__(self):
        return self.now


@pytest.fixture
def open_at(memory):
    """Return a function that opens the checkpoints of one place, and the list of what they say."""
    said: list[str] = []

    def opened(*, run="20260101T000000Z-aaaaaa", seed=0, resume=True, every_minutes=5.0, clock=None):
        settings = TrainingSettings(seed=seed)
        identity = identity_of(CnnSettings(), settings, ["d" * 64])
        given = {"run_id": run, "identity": identity, "every_minutes": every_minutes, "resume": resume}
        return Checkpoints(f"{memory}/m/c", **given, inform=said.append, clock=clock or Clock())

    opened.said = said
    return opened


def saved(checkpoints, *steps):
    for step in steps:
        checkpoints.save(Progress(epoch=1, step=step), {"weights": {"a": np.float32([step])}})


def names(checkpoints):
    return storage.children(checkpoints.url)


def damage(url, how):
    content = bytearray(storage.read_bytes(url))
    if how == "flip":
        content[len(content) // 2] ^= 4
    storage.write_bytes(url, bytes(content[: len(content) // 2] if how == "truncate" else content))


def test_what_was_saved_is_loaded_to_the_last_bit(open_at):
    open_at().save(PROGRESS, ARRAYS)
    found = open_at().load()
    assert found.progress == PROGRESS
    assert found.arrays.keys() == ARRAYS.keys()
    for part, arrays in ARRAYS.items():
        for name, array in arrays.items():
            assert found.arrays[part][name].dtype == array.dtype
            np.testing.assert_array_equal(found.arrays[part][name], array)
    assert open_at.said == ["continuing from the checkpoint of epoch 3, step 17"]


def test_checkpoints_of_a_run_that_took_the_place_over_stay(open_at):
    saved(open_at(run="20251231T000000Z-aaaaaa"), 1)
    paused = open_at()
    paused.load()
    saved(open_at(run="20260102T000000Z-aaaaaa"), 1)
    saved(paused, 1, 2, 3)
    found = [name.rpartition("-")[0] for name in names(paused)]
    assert found == ["20260101T000000Z-aaaaaa", "20260101T000000Z-aaaaaa", "20260102T000000Z-aaaaaa"]


def test_the_last_two_are_kept(open_at):
    checkpoints = open_at()
    saved(checkpoints, 1, 2, 3)
    assert [name[-6:] for name in names(checkpoints)] == ["000002", "000003"]
    assert (checkpoints.place, open_at().load().progress.step) == ("epoch 1, step 3", 3)


def test_a_missing_checkpoint_is_reported_and_training_starts_at_the_beginning(open_at):
    assert open_at().load() is None
    assert "no checkpoint to continue from" in open_at.said[0]


def test_without_resume_it_starts_again_reports_it_and_replaces_what_is_there_only_with_its_own(open_at):
    saved(open_at(), 1, 2)
    other = open_at(run="20260102T000000Z-000000", seed=5, resume=False)
    assert other.load() is None
    assert "--resume continues from the checkpoint" in open_at.said[0]
    assert len(names(other)) == 2
    saved(other, 1)
    assert names(other) == ["20260102T000000Z-000000-000001"]


def test_a_later_run_continues_the_previous_one_and_takes_its_place(open_at):
    saved(open_at(), 1, 2)
    later = open_at(run="20260102T000000Z-000000")
    assert later.load().progress.step == 2
    saved(later, 3)
    assert names(later) == ["20260101T000000Z-aaaaaa-000002", "20260102T000000Z-000000-000001"]
    assert open_at().load().progress.step == 3


@pytest.mark.parametrize("file", ["weights.safetensors", STATE])
@pytest.mark.parametrize("how", ["flip", "truncate", "delete"])
def test_a_damaged_checkpoint_is_reported_and_the_previous_one_is_used(open_at, file, how):
    checkpoints = open_at()
    saved(checkpoints, 1, 2)
    last = storage.join(checkpoints.url, names(checkpoints)[-1], file)
    storage.delete(last) if how == "delete" else damage(last, how)
    assert open_at().load().progress.step == 1
    told = " ".join(open_at.said)
    assert "continuing from the checkpoint of epoch 1, step 1" in told
    if (file, how) != (STATE, "delete"):  # then it is one that was never finished
        assert last in told


def test_every_flipped_bit_of_the_state_is_noticed(open_at):
    checkpoints = open_at()
    saved(checkpoints, 1)
    url = storage.join(checkpoints.url, names(checkpoints)[0], STATE)
    good = storage.read_bytes(url)
    loaded = 0
    for place in range(0, len(good), 7):
        storage.write_bytes(url, good[:place] + bytes([good[place] ^ 1]) + good[place + 1 :])
        try:
            found = open_at().load()
        except QprError as error:
            assert "no checkpoint is whole" in str(error) or "another release" in str(error)  # noqa: PT017
        else:  # white space between the values
            loaded += 1
            assert found.progress.step == 1
    assert loaded < len(good) / 7 / 2


def test_if_all_are_damaged_it_fails(open_at):
    checkpoints = open_at()
    saved(checkpoints, 1, 2)
    for name in names(checkpoints):
        damage(storage.join(checkpoints.url, name, "weights.safetensors"), "flip")
    with pytest.raises(QprError, match="no checkpoint is whole"):
        open_at().load()


def test_another_training_is_refused_and_what_differs_is_named(open_at):
    saved(open_at(), 1)
    with pytest.raises(QprError, match=r"another training: --seed is 0 there and 8 here\. Give the same"):
        open_at(seed=8).load()


def test_another_release_is_refused(open_at, monkeypatch):
    saved(open_at(), 1)
    monkeypatch.setattr("model.training.checkpoints.checkpoints.VERSION", 3)
    with pytest.raises(QprError, match=r"another release \(version 2, this release reads 3\)"):
        open_at().load()


def test_the_identity_names_the_encoder_every_setting_and_the_data():
    one = identity_of(CnnSettings(), TrainingSettings(), ["d"])
    two = identity_of(SubwordSettings(), TrainingSettings(epochs=3), ["e", "f"])
    differs = {name for name in {**one, **two} if one.get(name) != two.get(name)}
    only = {"--windows", "--channels", "--embedding-dimension"}
    only |= {"--ngrams", "--ngram-bins", "--ngram-weight", "--bigram-bins"}
    common = {"--encoder", "--dimension", "--epochs", "the digest of --dataset", "the digest of --init-from"}
    assert differs == only | common
    assert json.loads(json.dumps(one)) == one
    assert one["the version of words"] == words.VERSION
    several = [identity_of(CnnSettings(), TrainingSettings(), ["d"], processes=count) for count in (1, 2, 3)]
    assert several[0] == one
    assert several[0] != several[1] != several[2]


def test_one_is_due_when_its_time_has_come_or_an_epoch_ended_and_it_costs_little(open_at):
    clock = Clock()
    checkpoints = open_at(clock=clock)
    assert not checkpoints.due(0)
    clock.now = 299
    assert (checkpoints.due(0), checkpoints.due(0, epoch_ended=True)) == (False, True)
    # 250 MB are expected to take a second: too much of 49 s, little enough of 50
    for waited, due in ((1 / SHARE - 1, False), (1 / SHARE, True)):
        clock.now = waited
        assert checkpoints.due(250_000_000, epoch_ended=True) == due
    clock.now = 300
    assert checkpoints.due(10**12)
    saved(checkpoints, 1)
    assert not checkpoints.due(0)


def test_none_is_due_at_zero_minutes(open_at):
    clock = Clock()
    checkpoints = open_at(clock=clock, every_minutes=0)
    clock.now = 1e9
    assert not checkpoints.due(0, epoch_ended=True)


def test_a_checkpoint_that_cannot_be_written_is_reported_and_the_last_good_one_stays(open_at, monkeypatch):
    checkpoints = open_at()
    saved(checkpoints, 1)
    real = storage.write_bytes

    def full(url, content):
        if STATE in url:
            raise QprError(f"{url}: No space left on device")
        real(url, content)

    monkeypatch.setattr(storage, "write_bytes", full)
    saved(checkpoints, 2)
    monkeypatch.setattr(storage, "write_bytes", real)
    assert "No space left on device. Training goes on; the last one is of epoch 1, step 1" in open_at.said[0]
    assert len(names(checkpoints)) == 1
    assert open_at().load().progress.step == 1
