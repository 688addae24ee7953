"""Run as a script it is one of the processes: it saves the gradients of every case in the folder that it is given."""

from __future__ import annotations

import itertools
import os
import runpy
import sys
from pathlib import Path

import numpy as np
import torch

from model.training.distributed import Processes, joined, local_device
from tests.support.joined_processes import run_together

SIDE = runpy.run_path(str(Path(__file__).parent / "memory" / "test_gradients.py"))
SHAPES = {"cnn": SIDE["CNN"], "subword": SIDE["BAG"]}
LOSSES = ["sdml", "multiple_negatives", "triplet", "online_contrastive"]
CASES = [*itertools.product(SHAPES, LOSSES, [0, 4])]


def numbers_of(processes):
    """The loss and all gradients of every case, by name."""
    found = {}
    for shape, loss, chunk_size in CASES:
        gradients = SIDE["gradients_of"](SHAPES[shape], loss=loss, chunk_size=chunk_size, processes=processes)
        value, by_name = SIDE["added"](gradients)
        sparse = gradients.network.body.embedding.weight.grad.is_sparse
        case = f"{shape}-{loss}-{chunk_size}"
        found |= {f"{case}-loss": np.array(value), f"{case}-sparse": np.array(sparse)}
        found |= {f"{case}-{name}": gradient.numpy() for name, gradient in by_name.items()}
    return found


def run_processes(count, folder):
    # users of torchrun would see a warning once a process
    run_together(__file__, folder, count=count, PYTHONWARNINGS="error::UserWarning")
    return [dict(np.load(folder / f"{rank}.npz")) for rank in range(count)]


def test_two_processes_have_the_loss_and_the_gradients_of_one(tmp_path):
    expected = numbers_of(Processes())
    for found in run_processes(2, tmp_path):
        assert found.pop("first") == 0
        assert found.keys() == expected.keys()
        for name, values in expected.items():
            np.testing.assert_allclose(found[name], values, rtol=0, atol=1e-10, err_msg=name)


def test_shares_in_order_are_the_batch():
    batch = np.arange(11) * 3
    for count in (1, 2, 4, 20):
        shares = [Processes(rank, count).share(batch) for rank in range(count)]
        assert np.concatenate(shares).tolist() == batch.tolist()
        assert max(map(len, shares)) - min(map(len, shares)) <= 1


def test_alone_nothing_is_sent():
    with joined(torch.device("cpu")) as processes:
        assert processes == Processes(0, 1)
    vectors = torch.ones(3, 2)
    assert processes.gather(vectors, pairs=3) is vectors
    assert processes.of_the_first(lambda: 0.5) == 0.5
    weight = torch.nn.Parameter(torch.ones(2))
    processes.sum_gradients([weight])
    assert weight.grad is None


def test_every_process_draws_other_numbers_and_the_first_those_of_one_alone():
    states = []
    for rank in range(3):
        generator = torch.Generator().manual_seed(5)
        Processes(rank, 3).draw_apart(generator, seed=5)
        states.append(torch.rand(3, generator=generator).tolist())
    assert states[0] == torch.rand(3, generator=torch.Generator().manual_seed(5)).tolist()
    assert len({tuple(state) for state in states}) == 3
    Processes(1, 2).draw_apart(None, seed=5)


def test_each_process_of_a_machine_has_a_card_of_its_own(monkeypatch):
    assert (local_device(None), local_device("cpu")) == (None, "cpu")
    monkeypatch.setenv("LOCAL_RANK", "1")
    assert local_device("cpu") == "cpu"
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    assert (local_device(None), local_device("cuda"), local_device("cuda:7")) == ("cuda:1", "cuda:1", "cuda:7")


def main(folder):
    with joined(torch.device("cpu")) as processes:
        numbers = numbers_of(processes) | {"first": np.array(processes.of_the_first(lambda: processes.rank))}
        np.savez(Path(folder) / f"{processes.rank}.npz", **numbers)
    os._exit(0)  # a thread of gloo's may want Python's lock too late and abort (pytorch, pull request 179291)


if __name__ == "__main__":
    main(sys.argv[1])
