import contextlib
import os
import signal

import pytest


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
