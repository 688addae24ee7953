import contextlib
import os
import signal

import pytest

from jobs.display.console import results


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


@pytest.fixture
def wide_tables():
    """Print tables 200 columns wide, so that no cell is broken into lines; `COLUMNS` is read once, at the import."""
    before = results.size
    results.size = (200, 50)
    yield
    results.size = before
