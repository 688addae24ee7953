"""Checkpoints of a training: whole or not there, and read only if every byte is what was written.

Progress, arrays -> Checkpoints.save -> folder of safetensors and checkpoint.json -> Checkpoints.load -> Checkpoint

Each is a folder of its own; ``checkpoint.json``, written last, lists the files with their digests and carries its own.
The last two are kept, so that one is there if the other is damaged.
"""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import json
import time
from collections.abc import Callable, Mapping, Sequence
from itertools import zip_longest
from typing import Any, NamedTuple

import pydantic
import safetensors
import safetensors.numpy

from model.encoders.config import Shape
from model.encoders.registry import kind_of
from model.encoders.saved_model import Weights
from model.training.progress import Progress
from model.training.settings import TrainingSettings
from schemas import words
from schemas.artifacts import storage
from schemas.artifacts.manifest import File, json_digest, read_verified
from schemas.artifacts.writer import write_file
from schemas.errors import DamagedError, QprError

STATE = "checkpoint.json"
VERSION = 2
"""Version of a checkpoint's content; one of another version is refused."""

KEPT = 2
"""Checkpoints that are kept: where the last is damaged, the one before it is read (decision 19)."""

SHARE = 0.02
"""Maximum share of a training's time for checkpoints at the ends of epochs."""

_BYTES_PER_S = 250e6
"""Expected speed of writing the first checkpoint; later ones are expected to take as long as the previous one."""

Arrays = dict[str, Weights]
"""Arrays by name, by the name of the file they stand in."""


class UnusableCheckpointError(QprError):
    """Checkpoints exist, and none can be continued; the last sentence of the message is what to do."""


class Checkpoint(NamedTuple):
    """State from which a training continues."""

    progress: Progress
    arrays: Arrays


class Checkpoints:
    """The checkpoints of one training.

    Args:
        url: their folder.
        run_id: of the writing run; sorts after those of earlier runs.
        identity: everything that decides on the weights, from `identity_of`.
        every_minutes: minutes between checkpoints; 0 for none.
        resume: continue from the last one.
        inform: called with notes.
        warn: called with failures to write or to read one; `inform` by default.
        clock: seconds since some moment.

    Attributes:
        place: progress of the last good checkpoint, such as "epoch 2, step 5"; "" if there is none.
    """

    def __init__(
        self,
        url: str,
        *,
        run_id: str,
        identity: Mapping[str, Any],
        every_minutes: float,
        resume: bool = False,
        inform: Callable[[str], None] = lambda _: None,
        warn: Callable[[str], None] | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.url, self.resume = url, resume
        self._run_id, self._identity, self._clock = run_id, dict(identity), clock
        self._inform, self._warn = inform, warn or inform
        self._every_s, self._last, self._cost_s = 60 * every_minutes, clock(), 0.0
        self._number, self._good, self.place = 0, list[str](), ""
        self._older = frozenset[str]()

    def load(self) -> Checkpoint | None:
        """Return the last good checkpoint; None if there is none, or no `resume`.

        Raises:
            UnusableCheckpointError: it is of another training or release, or there are some and all are damaged.
        """
        self._older = frozenset(storage.children(self.url))
        names = [name for name in sorted(self._older, reverse=True) if self._complete(name)]
        if not self.resume:
            if names:
                self._inform(f"{self.url}: starting over; --resume continues from the checkpoint that exists")
            return None
        for name in names:
            try:
                checkpoint = self._read(name)
            except DamagedError as error:
                self._warn(f"{error}. Trying the checkpoint before it")
                continue
            self._good, self.place = [name], str(checkpoint.progress)
            self._inform(f"continuing from the checkpoint of {checkpoint.progress}")
            return checkpoint
        if names:
            raise UnusableCheckpointError(f"{self.url}: no checkpoint is whole. Leave out --resume to start over")
        self._inform(f"{self.url}: no checkpoint to continue from; starting at the beginning")
        return None

    def due(self, size: int, *, epoch_ended: bool = False) -> bool:
        """Return true if a checkpoint of ``size`` bytes is due: by time, or after an epoch if it costs little."""
        waited = self._clock() - self._last
        cost = self._cost_s or size / _BYTES_PER_S
        return self._every_s > 0 and (waited >= self._every_s or (epoch_ended and cost <= SHARE * waited))

    def save(self, progress: Progress, arrays: Arrays) -> None:
        """Write a checkpoint and remove all but the last two; if it cannot be written, warn and keep the others."""
        began = self._clock()
        self._number += 1
        name = f"{self._run_id}-{self._number:06}"
        try:
            self._write(name, progress, arrays)
        except (QprError, MemoryError) as error:
            self._remove(name)
            last = f"the last one is of {self.place}" if self.place else "there is none yet"
            self._warn(f"no checkpoint of {progress}: {error or 'not enough memory'}. Training goes on; {last}")
        else:
            self._good, self.place = [*self._good, name][-KEPT:], str(progress)
            for other in set(storage.children(self.url)) - set(self._good):
                if other in self._older or other.startswith(self._run_id):  # else of a run that took the place over
                    self._remove(other)
        self._last = self._clock()
        self._cost_s = self._last - began

    def _write(self, name: str, progress: Progress, arrays: Arrays) -> None:
        folder = storage.join(self.url, name)
        files = [
            write_file(folder, f"{part}.safetensors", safetensors.numpy.save(content), table=part)
            for part, content in arrays.items()
        ]
        state = {
            "version": VERSION,
            "identity": self._identity,
            "progress": dataclasses.asdict(progress),
            "files": [file.model_dump() for file in files],
        }
        content = json.dumps({"sha256": json_digest(state), "state": state}, indent=2)
        storage.write_bytes(storage.join(folder, STATE), content.encode())  # last: a folder without it is not complete

    def _complete(self, name: str) -> bool:
        return storage.exists(storage.join(self.url, name, STATE))

    def _remove(self, name: str) -> None:
        with contextlib.suppress(QprError, OSError):
            storage.delete(storage.join(self.url, name))

    def _read(self, name: str) -> Checkpoint:
        state = self._state(name)
        if (version := state["version"]) != VERSION:
            versions = f"version {version}, this release reads {VERSION}"
            raise UnusableCheckpointError(
                f"{self.url}: a checkpoint of another release ({versions}). Leave out --resume to start over"
            )
        if different := _differences(state["identity"], self._identity):
            advice = "Give the same options and data, or leave out --resume to start over"
            raise UnusableCheckpointError(f"{self.url}: the checkpoint is of another training: {different}. {advice}")
        try:
            files = [File.model_validate(file) for file in state["files"]]
            arrays = {file.table: safetensors.numpy.load(read_verified(self.url, file)) for file in files}
            progress = pydantic.TypeAdapter(Progress).validate_python(state["progress"])
        except QprError as error:
            raise DamagedError(str(error).removesuffix(". Make it again")) from error
        except (pydantic.ValidationError, safetensors.SafetensorError, KeyError, TypeError) as error:
            raise DamagedError(f"{storage.join(self.url, name, STATE)}: damaged") from error
        return Checkpoint(progress, arrays)

    def _state(self, name: str) -> dict[str, Any]:
        url = storage.join(self.url, name, STATE)
        try:
            content = json.loads(storage.read_bytes(url))
            state: dict[str, Any] = content["state"]
            is_intact = content["sha256"] == json_digest(state)
        except QprError as error:
            raise DamagedError(str(error)) from error
        except (ValueError, KeyError, TypeError) as error:
            raise DamagedError(f"{url}: damaged") from error
        if not is_intact:
            raise DamagedError(f"{url}: does not match its own sha256")
        return state


def identity_of(
    shape: Shape, settings: TrainingSettings, digests: Sequence[str | None], *, processes: int = 1
) -> dict[str, Any]:
    """Return everything that decides on the weights of a training: equal identity, equal weights.

    Args:
        shape: of the encoder, which it names too.
        settings: of the training.
        digests: of the dataset, and of the model with the first weights if there is one.
        processes: number of processes that share the work; each draws other numbers.
    """
    named = {"encoder": kind_of(shape).name, **shape.model_dump(mode="json"), **settings.flat()}
    options = {f"--{name.replace('_', '-')}": value for name, value in named.items()}
    inputs = ("the digest of --dataset", "the digest of --init-from")
    several = {"the number of processes": processes} if processes > 1 else {}
    return options | dict(zip_longest(inputs, digests)) | {"the version of words": words.VERSION} | several


def _differences(stored: Mapping[str, Any], current: Mapping[str, Any]) -> str:
    """Return the differing names with both values."""
    names = [name for name in {**current, **stored} if current.get(name) != stored.get(name)]
    return ", ".join(
        f"{name} is {_shown(stored.get(name))} there and {_shown(current.get(name))} here" for name in names
    )


def _shown(value: Any) -> str:
    if isinstance(value, str) and len(value) == hashlib.sha256().digest_size * 2:
        return f"{value[:12]}…"
    return "absent" if value is None else json.dumps(value).strip('"')
