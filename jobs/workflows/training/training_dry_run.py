"""`qpr train --dry-run`: what a training would take; nothing is written.

dataset, settings -> show_plan -> plan_run -> printed estimates
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

from jobs.display.console import say, two_columns, working
from jobs.options.encoder_training import EncoderTraining
from jobs.options.training_run import TrainTerms
from jobs.workflows.dry_run import check_output, show_dry_run
from jobs.workflows.training.encoder_training import is_first_process, warn_of_model
from schemas.artifacts.dataset import Dataset, open_dataset

if TYPE_CHECKING:
    from model.encoders.config import Shape
    from model.training.settings import TrainingSettings


def plan_run(
    source: Dataset, output: str, *, overwrite: bool, shape: Shape, settings: TrainingSettings, terms: TrainTerms
) -> dict[str, Any]:
    """Return the estimated cost of a training, after the checks it would begin with.

    Raises:
        QprError: it could not begin.
    """
    from model.training.cost_estimate import plan_training
    from model.training.initialization import older_model
    from model.training.training_pairs import read_pairs
    from pipelines.engine.freed_memory import keep_freed_memory

    keep_freed_memory()
    replaces = check_output(output, "model", overwrite=overwrite)
    older = older_model(terms.init_from, shape) if terms.init_from else None
    pairs = read_pairs(source)
    warn_of_model(shape, settings, questions=len(pairs["train"].texts), is_new=older is None)
    with working("measuring some steps"):
        estimate = plan_training(
            pairs["train"],
            pairs["validation"],
            shape=shape,
            settings=settings,
            device=terms.device,
            older=older,
            inform=say,
        )
    data = {
        "train_pairs": len(pairs["train"]),
        "train_questions": len(pairs["train"].texts),
        "train_clusters": pairs["train"].cluster_count,
        "validation_pairs": len(pairs["validation"]),
    }
    return {"output": output, "replaces": replaces, **data, **dataclasses.asdict(estimate)}


def show_plan(
    dataset: str, output: str, chosen: EncoderTraining, terms: TrainTerms, *, overwrite: bool, as_json: bool
) -> None:
    """Print the estimated cost of a training; of several processes, the first does.

    Raises:
        QprError: the training could not begin.
    """
    source = open_dataset(dataset)
    if not is_first_process():
        return
    plan = plan_run(source, output, overwrite=overwrite, shape=chosen.shape, settings=chosen.training, terms=terms)
    rows = {name: _shown(name, value) for name, value in plan.items()}
    show_dry_run(plan, as_json=as_json, table=lambda: two_columns("dry run", rows))


def _shown(name: str, value: Any) -> Any:
    """Return a value for a person: bytes as megabytes, seconds as minutes where there are many."""
    if name.endswith("_bytes"):
        return f"{value / 1e6:,.1f} MB"
    if name.startswith("seconds"):
        return f"{value / 60:.1f} minutes" if value >= 100 else f"{value:.3g} s"
    return value
