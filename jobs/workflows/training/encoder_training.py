"""Training from a dataset to a published model, with a progress bar.

dataset, settings -> train_model -> run_training -> model artefact, printed counts and measurements
output, options of a run -> supervised -> checkpoints, time limit and reports of any training
"""

from __future__ import annotations

import contextlib
import os
import shlex
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from jobs.display.console import be_silent, emit, progress_bar, say, two_columns, warn
from jobs.options.encoder_training import EncoderTraining
from jobs.options.training_run import RunTerms, TrainTerms
from jobs.workflows.training.model_publication import publish_model
from jobs.workflows.training.outcome import outcome
from schemas.artifacts import storage
from schemas.artifacts.dataset import Dataset, open_dataset
from schemas.artifacts.manifest import Source
from schemas.artifacts.writer import CHECKPOINTS, Output
from schemas.errors import check_installed
from schemas.quantities import counted

if TYPE_CHECKING:
    from model.encoders.config import Shape
    from model.training.checkpoints.checkpoints import Checkpoints
    from model.training.progress import Deadline, Epoch
    from model.training.settings import TrainingSettings
    from model.training.trainer import Step, Supervision

LATE_LIBRARIES = ("matplotlib",)
"""Libraries that are used at the end alone: this one draws the learning curve."""


def process_count() -> int:
    """Return the number of processes that share this command, from the environment of `torchrun`; 1 without it."""
    return int(os.environ.get("WORLD_SIZE", "1"))


def is_first_process() -> bool:
    """Return true in the process that writes files and messages."""
    return os.environ.get("RANK", "0") == "0"


def train_model(
    dataset: str, output: str, chosen: EncoderTraining, terms: TrainTerms, *, overwrite: bool, as_json: bool
) -> None:
    """Train on a dataset, publish the model at ``output`` and print counts and measurements.

    Of several processes that train together, which `torchrun` starts, only the first writes and prints.

    Raises:
        QprError: the dataset cannot be read, the output cannot be claimed, or the training failed.
    """
    shape, settings = chosen.shape, chosen.training
    source = open_dataset(dataset)
    if not is_first_process():
        be_silent()
        run_training(source, None, shape=shape, settings=settings, terms=terms)
        return
    with Output(output, "model", overwrite=overwrite) as claimed:
        result = run_training(source, claimed, shape=shape, settings=settings, terms=terms)
    emit(result, as_json=as_json, table=lambda: two_columns(f"model {output}", result))
    say(f"Next: qpr index --questions {shlex.quote(dataset)} --model {shlex.quote(output)} --output INDEX")


def run_training(
    source: Dataset, output: Output | None, *, shape: Shape, settings: TrainingSettings, terms: TrainTerms
) -> dict[str, Any]:
    """Train on the pairs of ``source``, publish at ``output`` and return counts and measurements.

    Of several processes that train together, which `torchrun` starts, only the first has an output.

    Raises:
        QprError: the dataset holds nothing to learn from, a checkpoint cannot be resumed, or training failed.
    """
    from model.training.checkpoints.checkpoints import identity_of
    from model.training.distributed import joined, local_device
    from model.training.encoder_training import train
    from model.training.initialization import older_model
    from model.training.memory.devices import checked_device
    from model.training.progress import Deadline
    from model.training.training_pairs import read_pairs

    check_installed(*LATE_LIBRARIES)
    deadline = Deadline(terms.max_minutes)
    older = older_model(terms.init_from, shape) if terms.init_from else None
    sources = [Source(url=source.url, digest=source.manifest.digest)]
    sources += [Source(url=terms.init_from, digest=older.manifest.digest)] if terms.init_from and older else []
    identity = identity_of(shape, settings, [source.digest for source in sources], processes=process_count())
    pairs = read_pairs(source)
    if output:
        warn_of_model(shape, settings, questions=len(pairs["train"].texts), is_new=older is None)
    device = local_device(terms.device)
    with (
        supervised(output, identity, terms=terms, deadline=deadline) as supervision,
        joined(checked_device(device)) as processes,
    ):
        supervision["processes"] = processes
        trained = train(
            pairs["train"],
            pairs["validation"],
            shape=shape,
            settings=settings,
            device=device,
            older=older,
            **supervision,
        )
    counters, totals = outcome(pairs, trained, settings)
    if output is None:
        return counters | totals
    publish_model(sources, output, trained, shape=shape, settings=settings, counters=counters, totals=totals)
    return {"model": output.url, **counters, **totals}


def warn_of_model(shape: Shape, settings: TrainingSettings, *, questions: int, is_new: bool) -> None:
    """Warn of a large model for few questions, and of a loss that does not fit the encoder.

    Args:
        shape: of the encoder.
        settings: of the training.
        questions: number of questions to learn from.
        is_new: the training does not continue an existing model, whose size stays.
    """
    from model.training.model_size import size_warning

    size = size_warning(shape, settings, questions=questions) if is_new else None
    for warning in (size, _length_warning(shape, settings)):
        if warning:
            warn(warning)


def _length_warning(shape: Shape, settings: TrainingSettings) -> str | None:
    """Return the reason why an index finds less than a loss by cosine promises, or None.

    Quora's validation questions after one epoch of cnn, ranked by distance: MRR .81 by multiple_negatives, .85 by sdml.
    """
    from model.encoders.registry import kind_of

    kind, loss = kind_of(shape), settings.loss
    if kind.of_length_1 or not loss.ignores_length:
        return None
    return (
        f"--loss {loss.name} compares directions alone, and an index ranks by distance, which depends on the lengths "
        f"of the vectors of --encoder {kind.name}: it finds less. Give --loss sdml, or another --encoder"
    )


@contextlib.contextmanager
def supervised(
    output: Output | None,
    identity: Mapping[str, Any],
    *,
    terms: RunTerms,
    deadline: Deadline,
    part: str = "",
    unit: str = "pairs",
) -> Iterator[Supervision]:
    """Show a training's progress and keep its checkpoints in the output's folder.

    Args:
        output: of the command; None for a process that keeps no checkpoints.
        identity: everything that decides on the weights; a checkpoint of another identity is refused.
        terms: options of the run.
        deadline: time limit.
        part: name of the training if the command has several.
        unit: name of the examples of a batch.
    """
    from pipelines.engine.freed_memory import keep_freed_memory

    keep_freed_memory()
    named = f"{part}, " if part else ""
    checkpoints = None if output is None else _checkpoints(output, identity, terms, part)
    with progress_bar("loss", f"{unit}/s") as bar:
        fields: dict[str, Any] = {"loss": "", f"{unit}/s": ""}
        task = bar.add_task(part or "training", total=None, **fields)
        last: list[str] = []

        def on_step(step: Step) -> None:
            done = (step.epoch - 1) * step.steps + step.step
            shown: dict[str, Any] = {"loss": f"{step.loss:.4f}", f"{unit}/s": f"{step.pairs_per_s:,.0f}"}
            name = f"{named}epoch {step.epoch}/{step.epochs}"
            bar.update(task, description=name, completed=done, total=step.epochs * step.steps, **shown)

        def on_epoch(epoch: Epoch) -> None:
            last[:] = [f"loss {epoch.loss:.4f} after {counted(epoch.epoch, 'epoch')}"]
            if part:
                return
            auc = "" if epoch.auc is None else f", ROC AUC {epoch.auc:.4f}"
            speed = f"{epoch.seconds:.1f} s, {epoch.pairs_per_s:,.0f} {unit}/s"
            say(f"epoch {epoch.epoch}: loss {epoch.loss:.4f}{auc}, {speed}")

        try:
            yield {
                "checkpoints": checkpoints,
                "deadline": deadline,
                "on_step": on_step,
                "on_epoch": on_epoch,
                "inform": lambda text: say(f"{named}{text}"),
            }
        except BaseException:
            if checkpoints and checkpoints.place:
                warn(f"{checkpoints.url}: the checkpoint of {checkpoints.place} stays; --resume continues from it")
            raise
        for text in last if part else ():
            say(f"{part}: {text}")


def _checkpoints(output: Output, identity: Mapping[str, Any], terms: RunTerms, part: str) -> Checkpoints:
    """Return the checkpoints of a training, or of a part of several, in the folder of the output."""
    from model.training.checkpoints.checkpoints import Checkpoints

    return Checkpoints(
        storage.join(output.url, CHECKPOINTS, *([part.replace(" ", "-")] if part else [])),
        run_id=output.run_id,
        identity=identity,
        every_minutes=terms.checkpoint_every,
        resume=terms.resume,
        inform=say,
        warn=warn,
    )
