"""Two processes that train together, stopped and gone on with. Run as a script this is one of them."""

from __future__ import annotations

import os
import pickle
import runpy
import sys
from pathlib import Path

import pytest
import torch

from model.training.checkpoints.checkpoints import Checkpoints
from model.training.distributed import joined
from model.training.encoder_training import train
from model.training.progress import Deadline
from schemas.errors import QprError
from tests.support.joined_processes import run_together

SIDE = runpy.run_path(str(Path(__file__).with_name("test_resume.py")))
PAIRS = runpy.run_path(str(Path(__file__).parents[2].joinpath("conftest.py")))["make_pairs"]
KINDS = ("paper", "default")
STOPPED_AFTER = 6
COUNT = 2


class StoppedError(Exception):
    """What stops a training between two steps."""


def trained(processes, kind, *, folder, run, stop_after=None, every_minutes=1e-9, resume=True, deadline=None):
    """Train, the first process with checkpoints in a folder; return what came of it and the steps that were done."""
    shape, settings, _ = SIDE["KINDS"][kind]
    steps, said = [], []

    def on_step(step):
        steps.append((step.epoch, step.step))
        if len(steps) == stop_after:
            raise StoppedError

    kept = Checkpoints(
        str(folder / kind), run_id=run, identity={}, every_minutes=every_minutes, resume=resume, inform=said.append
    )
    done = train(
        PAIRS("pay", "cancel", "change"),
        PAIRS("find"),
        shape=shape,
        settings=settings,
        checkpoints=None if processes.rank else kept,
        deadline=deadline,
        processes=processes,
        on_step=on_step,
    )
    return done, steps, said


def numbers(done):
    """Return all of a training that must not differ."""
    weights = {name: weight.tobytes() for name, weight in done.weights.items()}
    return weights, [(e.epoch, e.loss, e.auc) for e in done.epochs], done.best.epoch, done.ending


def outcome(processes, kind, folder):
    """Return what a training comes to that nothing stops, and one that is stopped; how much of the latter was left."""
    whole, steps, _ = trained(processes, kind, folder=folder, run="a", every_minutes=0, resume=False)
    with pytest.raises(StoppedError):
        trained(processes, kind, folder=folder, run="b", stop_after=STOPPED_AFTER, resume=False)
    resumed, left, said = trained(processes, kind, folder=folder, run="c", every_minutes=0)
    return {"whole": numbers(whole), "resumed": numbers(resumed), "steps": steps, "left": left, "said": said}


def refused(processes, folder):
    """Return what each process says if the first one cannot go on."""
    for damaged in folder.glob("paper/*/checkpoint.json"):
        damaged.write_text("{}")
    processes.of_all(None)  # wait for the first one's damage
    with pytest.raises(QprError) as raised:
        trained(processes, "paper", folder=folder, run="d")
    return str(raised.value)


def stopped_in_time(processes, folder):
    """Return how far each came by the first one's clock; that of the other stands still."""
    ticks = iter(range(1000))
    clock = (lambda: 0.0) if processes.rank else lambda: float(next(ticks))
    done, steps, _ = trained(
        processes, "default", folder=folder / "time", run="e", every_minutes=0, deadline=Deadline(0.1, clock=clock)
    )
    return steps, done.ending, numbers(done)[0]


def main(folder):
    torch.set_num_threads(1)
    with joined(torch.device("cpu")) as processes:
        found = {kind: outcome(processes, kind, folder) for kind in KINDS}
        found |= {"refused": refused(processes, folder), "time": stopped_in_time(processes, folder)}
    (folder / f"{processes.rank}.pickle").write_bytes(pickle.dumps(found))
    os._exit(0)  # a thread of gloo's may want Python's lock too late and abort (pytorch, pull request 179291)


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    """Return what two processes found, the first one's first."""
    folder = tmp_path_factory.mktemp("processes")
    run_together(__file__, folder, count=COUNT)
    return [pickle.loads((folder / f"{rank}.pickle").read_bytes()) for rank in range(COUNT)]


@pytest.mark.parametrize("kind", KINDS)
def test_stopped_they_go_on_to_the_same_weights_bit_for_bit(found, kind):
    first, second = (each[kind] for each in found)
    assert first["whole"] == second["whole"] == first["resumed"] == second["resumed"]
    assert first["left"] == second["left"] == first["steps"][STOPPED_AFTER - 1 :]
    assert [len(each["said"]) for each in (first, second)] == [1, 0]
    assert first["said"][0].startswith("continuing from the checkpoint of epoch 2")


def test_what_the_first_cannot_read_stops_all_of_them_with_its_words(found):
    assert found[0]["refused"] == found[1]["refused"]
    assert "no checkpoint is whole" in found[0]["refused"]


def test_the_clock_of_the_first_decides_for_all(found):
    (steps, ending, weights), other = (each["time"] for each in found)
    assert (steps, ending, weights) == other
    assert ending == "time"
    assert 0 < len(steps) < len(found[0]["default"]["steps"])


if __name__ == "__main__":
    main(Path(sys.argv[1]))
