"""Encoder of a night: trained on the nights of `--retrain`, else that of the version before.

dataset, version before, rule -> encoder_of_night -> model, date of its training
"""

from __future__ import annotations

import datetime
import functools
from typing import TYPE_CHECKING, Any

from jobs.display.console import say, warn
from jobs.nightly.steps import finished, key_of, named, place_of
from jobs.options.encoder_training import EncoderTraining
from jobs.options.training_run import TrainTerms
from pipelines.summary.cluster_changes import changed_share, cluster_changes, count_changes
from schemas.artifacts import storage
from schemas.artifacts.dataset import open_dataset
from schemas.artifacts.writer import CHECKPOINTS, Output
from schemas.errors import QprError, UnusableInputError
from schemas.quantities import rounded_percent
from schemas.versions.version import Artefact, Training, Version

if TYPE_CHECKING:
    from model.encoders.config import Shape

WEEK = datetime.timedelta(days=7)


def reason_to_train(
    warehouse: str, rule: str, *, date: datetime.date, dataset: Artefact, parent: Version | None
) -> str | None:
    """Return why an encoder is trained tonight, or None to keep the one of the version before.

    Args:
        warehouse: its URL.
        rule: always, weekly, never, or changed:X for more than this share of the clusters changed since the training.
        date: of the night.
        dataset: of the night.
        parent: the version before; the first night always trains.

    Raises:
        QprError: the dataset of the last training is gone or damaged.
    """
    if parent is None:
        return "there is no encoder yet"
    if rule == "always":
        return "--retrain always"
    if rule == "weekly":
        age = date - parent.trained.date
        return f"the encoder is {age.days} days old" if age >= WEEK else None
    if rule == "never":
        return None
    limit = float(rule.partition(":")[2])
    columns = ["cluster_id", "question_ids"]
    before, after = (
        open_dataset(storage.join(warehouse, artefact.path)).table("clusters", columns=columns)
        for artefact in (parent.trained.dataset, dataset)
    )
    share = changed_share(count_changes(cluster_changes(before, after)))
    return f"{rounded_percent(share)} of the clusters changed since the training" if share > limit else None


def warn_of_preset(warehouse: str, parent: Version, chosen: EncoderTraining) -> None:
    """Warn where a preset is given and the encoder that is kept is not of its shape.

    Args:
        warehouse: its URL.
        parent: version whose encoder is kept.
        chosen: settings of the next training.

    Raises:
        QprError: the encoder is damaged.
    """
    if chosen.preset is None:
        return
    if difference := _shape_difference(warehouse, parent, chosen.shape):
        stays = f"the encoder of {parent.trained.date} stays, since none is trained tonight: {difference}"
        warn(f"--preset {chosen.preset}: {stays}. --retrain always trains one with these options")


def encoder_of_night(
    warehouse: str,
    dataset: Artefact,
    chosen: EncoderTraining,
    rule: str,
    *,
    date: datetime.date,
    parent: Version | None,
) -> tuple[Artefact, Training]:
    """Train an encoder, or keep the one of the version before, as the rule decides.

    Args:
        warehouse: its URL.
        dataset: of the night.
        chosen: settings of a training.
        rule: as of `reason_to_train`.
        date: of the night.
        parent: the version before.

    Raises:
        QprError: as of `reason_to_train` and `train_encoder`.
    """
    reason = reason_to_train(warehouse, rule, date=date, dataset=dataset, parent=parent)
    if reason is None and parent is not None:
        say(f"keeping the encoder of {parent.trained.date}")
        warn_of_preset(warehouse, parent, chosen)
        return parent.model, parent.trained
    say(f"a new encoder: {reason}")
    return train_encoder(warehouse, dataset, chosen, date=date, parent=parent)


def how_trained(chosen: EncoderTraining) -> list[Any]:
    """Return the settings that decide on an encoder, for `key_of`."""
    shape, training = chosen.shape, chosen.training
    return [type(shape).__name__, shape.model_dump(mode="json"), training.model_dump(mode="json")]


def train_encoder(
    warehouse: str, dataset: Artefact, chosen: EncoderTraining, *, date: datetime.date, parent: Version | None
) -> tuple[Artefact, Training]:
    """Train an encoder, starting from the weights of the one before where that has the same shape, unless it is there.

    A killed training continues from its last checkpoint, or starts over, with a warning, where it cannot be used.

    Raises:
        UnusableInputError: the dataset holds nothing to learn from.
        QprError: training failed.
    """
    from jobs.workflows.training.encoder_training import run_training
    from model.training.checkpoints.checkpoints import UnusableCheckpointError

    start = _start(warehouse, parent, chosen.shape)
    path = place_of("models", key_of(dataset.digest, how_trained(chosen), start.digest if start else None))
    trained = Training(date=date, dataset=dataset)
    if manifest := finished(warehouse, path, "model"):
        say("it was trained before, from the same dataset with the same settings")
        return named(path, manifest), trained
    terms = TrainTerms(init_from=storage.join(warehouse, start.path) if start else None)
    source = open_dataset(storage.join(warehouse, dataset.path))
    with Output(storage.join(warehouse, path), "model", overwrite=True) as target:
        train = functools.partial(run_training, source, target, shape=chosen.shape, settings=chosen.training)
        checkpoints = storage.join(target.url, CHECKPOINTS)
        try:
            train(terms=terms.model_copy(update={"resume": bool(storage.children(checkpoints))}))
        except UnusableCheckpointError as error:
            warn(f"{str(error).rpartition('. ')[0]}. The training starts over")
            storage.delete(checkpoints)
            train(terms=terms)
        except UnusableInputError as error:
            raise UnusableInputError(f"{error}{_instead(parent)}") from error
    made = finished(warehouse, path, "model")
    if made is None:
        raise QprError(f"{warehouse}/{path}: was removed while the night went on. Run this again")
    return named(path, made), trained


def _instead(parent: Version | None) -> str:
    """Return the other next step of a night whose dataset has nothing to learn from."""
    return f", or keep the encoder of {parent.trained.date} by --retrain never" if parent else ""


def _start(warehouse: str, parent: Version | None, shape: Shape) -> Artefact | None:
    """Return the model to start from; None where there is none of this shape."""
    if parent is None:
        return None
    if difference := _shape_difference(warehouse, parent, shape):
        say(f"starting from fresh weights: {difference}")
        return None
    return parent.model


def _shape_difference(warehouse: str, parent: Version, shape: Shape) -> str | None:
    from model.encoders.saved_model import read_config
    from model.training.initialization import shape_difference

    return shape_difference(read_config(storage.join(warehouse, parent.model.path)), shape)
