"""Training from a dataset to a published model, with a progress bar.

dataset, settings -> run_training -> model artefact, what came of it
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from jobs.display.console import progress_bar, say, warn
from jobs.options.training_run import Terms
from jobs.workflows.model_publication import publish_model
from jobs.workflows.model_size import size_warning
from jobs.workflows.torchrun import process_count
from schemas.artifacts import storage
from schemas.artifacts.dataset import Dataset
from schemas.artifacts.manifest import Source
from schemas.artifacts.writer import CHECKPOINTS, Output

if TYPE_CHECKING:
    from model.encoders.config import Shape
    from model.training.checkpoints.checkpoints import Checkpoints
    from model.training.settings import TrainingSettings
    from model.training.trainer import Trained
    from model.training.training_pairs import Pairs


def run_training(
    source: Dataset, output: Output | None, *, shape: Shape, settings: TrainingSettings, terms: Terms
) -> dict[str, Any]:
    """Train on ``source``, publish at ``output`` and return what came of it.

    Of several processes that train together, which `torchrun` starts, only the first has an output.

    Raises:
        QprError: the dataset holds nothing to learn from, a checkpoint cannot be gone on from, or training failed.
    """
    from model.training.initialization import older_model
    from model.training.progress import Deadline
    from model.training.training_pairs import read_pairs

    deadline = Deadline(terms.max_minutes)
    older = older_model(terms.init_from, shape) if terms.init_from else None
    sources = [Source(url=source.url, digest=source.manifest.digest)]
    sources += [Source(url=terms.init_from, digest=older.manifest.digest)] if terms.init_from and older else []
    checkpoints = _checkpoints(sources, output, shape=shape, settings=settings, terms=terms)
    pairs = read_pairs(source)
    if output and (warning := size_warning(shape, settings, questions=len(pairs["train"].texts))):
        warn(warning)
    try:
        trained = _train_with_bar(
            pairs,
            shape=shape,
            settings=settings,
            device=terms.device,
            older=older,
            checkpoints=checkpoints,
            deadline=deadline,
        )
    except BaseException:
        if checkpoints and checkpoints.place:
            warn(f"{checkpoints.url}: the checkpoint of {checkpoints.place} stays; --resume goes on from it")
        raise
    counters, totals = _outcome(pairs, trained)
    if output is None:
        return counters | totals
    publish_model(sources, output, trained, shape=shape, settings=settings, counters=counters, totals=totals)
    return {"model": output.url, **counters, **totals}


def _outcome(pairs: dict[str, Pairs], trained: Trained) -> tuple[dict[str, int], dict[str, Any]]:
    """Return what was counted and what was measured."""
    counters = {
        "train_pairs": len(pairs["train"]),
        "train_questions": len(pairs["train"].texts),
        "train_clusters": pairs["train"].cluster_count,
        "validation_pairs": len(pairs["validation"]),
        "epochs": len(trained.epochs),
        "best_epoch": trained.best.epoch,
    }
    ended = {"epochs": "all epochs done", "patience": "no better ROC AUC", "time": "time over"}[trained.ending]
    seconds = math.fsum(epoch.seconds for epoch in trained.epochs)
    totals = {
        "ending": ended,
        "auc": None if trained.best.auc is None else round(trained.best.auc, 5),
        "loss": round(trained.best.loss, 5),
        "seconds": round(seconds, 2),
        "pairs_per_s": round(math.fsum(epoch.seconds * epoch.pairs_per_s for epoch in trained.epochs) / seconds),
    }
    return counters, totals


def _checkpoints(
    sources: list[Source], output: Output | None, *, shape: Shape, settings: TrainingSettings, terms: Terms
) -> Checkpoints | None:
    """Return the checkpoints of a training; of several processes that train together the first has them."""
    from model.training.checkpoints.checkpoints import Checkpoints, identity_of

    if output is None:
        return None
    return Checkpoints(
        storage.join(output.url, CHECKPOINTS),
        run_id=output.run_id,
        identity=identity_of(shape, settings, [source.digest for source in sources], processes=process_count()),
        every_minutes=terms.checkpoint_every,
        resume=terms.resume,
        say=say,
        warn=warn,
    )


def _train_with_bar(
    pairs: dict[str, Pairs], *, shape: Shape, settings: TrainingSettings, device: str | None, **terms: Any
) -> Trained:
    from model.training.distributed import joined, local_device
    from model.training.memory.devices import checked_device
    from model.training.memory.freed_memory import keep_freed_memory
    from model.training.progress import Epoch
    from model.training.trainer import Step
    from model.training.trainer import train as train_encoder

    keep_freed_memory()
    own_device = local_device(device)
    with progress_bar("loss", "pairs/s") as bar, joined(checked_device(own_device)) as processes:
        fields: dict[str, Any] = {"loss": "", "pairs/s": ""}
        task = bar.add_task("training", total=None, **fields)

        def on_step(step: Step) -> None:
            done = (step.epoch - 1) * step.steps + step.step
            shown: dict[str, Any] = {"loss": f"{step.loss:.4f}", "pairs/s": f"{step.pairs_per_s:,.0f}"}
            name = f"epoch {step.epoch}/{settings.epochs}"
            bar.update(task, description=name, completed=done, total=settings.epochs * step.steps, **shown)

        def on_epoch(epoch: Epoch) -> None:
            auc = "" if epoch.auc is None else f", ROC AUC {epoch.auc:.4f}"
            speed = f"{epoch.seconds:.1f} s, {epoch.pairs_per_s:,.0f} pairs/s"
            say(f"epoch {epoch.epoch}: loss {epoch.loss:.4f}{auc}, {speed}")

        return train_encoder(
            pairs["train"],
            pairs["validation"],
            shape=shape,
            settings=settings,
            device=own_device,
            processes=processes,
            on_step=on_step,
            on_epoch=on_epoch,
            say=say,
            **terms,
        )
