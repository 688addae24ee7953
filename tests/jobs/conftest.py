import contextlib
import os
import signal

import pytest

from jobs.display import console
from jobs.display.console import results
from jobs.review.session import Review
from jobs.review.store import VerdictStore
from tests.support.fake_queue import FakeQueue


@pytest.fixture
def stopped(monkeypatch):
    """Return a context in which a scheduler stops this process after a number of training steps."""
    from model.training.trainer import Trainer

    @contextlib.contextmanager
    def stop(*, after):
        done, step = [], Trainer.step

        def signalled(self, batch):
            done.append(batch)
            if len(done) > after:
                os.kill(os.getpid(), signal.SIGTERM)
            return step(self, batch)

        with monkeypatch.context() as patch:
            patch.setattr(Trainer, "step", signalled)
            yield

    return stop


@pytest.fixture(autouse=True)
def _printing():
    """Print messages again after a test that ran a command with ``--quiet``."""
    yield
    console.set_quiet(False)


@pytest.fixture
def wide_tables():
    """Print tables 200 columns wide, so that no cell is broken into lines; `COLUMNS` is read once, at the import."""
    before = results.size
    results.size = (200, 50)
    yield
    results.size = before


@pytest.fixture
def model(tmp_path, make_model):
    """Return the folder of a small model with random weights."""
    make_model(tmp_path / "model")
    return tmp_path / "model"


@pytest.fixture
def make_queue():
    return FakeQueue


@pytest.fixture
def make_review(tmp_path):
    """Return a function that opens a review; reviews with the same queue and name share a database."""
    opened = []

    def make(queue=None, name="review.db", **options):
        queue = queue or FakeQueue()
        opened.append(VerdictStore(str(tmp_path / name), queue.source))
        return Review(queue, opened[-1], **options)

    yield make
    for store in opened:
        store.__exit__()
