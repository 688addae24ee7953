"""Settings of an encoder and its training, under one set of options.

KINDS, LOSSES, PRESETS -> EncoderTraining.described -> options -> EncoderTraining.of_values -> shape, training

A new kind of encoder, loss or preset is on the command line as soon as it is registered.
"""

from __future__ import annotations

import copy
import dataclasses
import typing
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Any, ClassVar, Literal, Self

import pydantic
from pydantic_core import PydanticUndefined

from jobs.display.help import OPTIONS
from jobs.options.from_settings import OptionGroup, bounds_of
from model.encoders.kind import Shape
from model.encoders.registry import KINDS, kind_of
from model.losses.registry import LOSSES
from model.training.presets import PRESETS
from model.training.settings import TrainingSettings
from schemas.errors import UsageError
from schemas.option import Described, Option, described_settings


@dataclasses.dataclass(frozen=True)
class EncoderTraining(OptionGroup):
    """Checked settings of `qpr train`; an option that is not given is as in the preset.

    Attributes:
        preset: name of the given preset; None: that of the encoder.
        shape: settings of the encoder.
        training: settings of the training.
    """

    preset: str | None
    shape: Shape
    training: TrainingSettings

    @classmethod
    def described(cls) -> Iterator[Described]:
        """Yield the options: the three choices, then those of encoders, losses and training, equal names merged."""
        yield _choice("preset", PRESETS, "Settings of every option without a default.")
        yield _choice("encoder", KINDS, "Kind of encoder.", default="the preset's")
        yield _choice("loss", LOSSES, "Training loss.", default="the preset's")
        yield from _by_panel([*_encoder_options(), *_loss_options(), *_training_options()])

    @classmethod
    def of_values(cls, given: Mapping[str, Any]) -> Self:
        """Return the settings with these values, by the name of the field.

        Raises:
            UsageError: an option belongs to another encoder or loss; the message names it.
            pydantic.ValidationError: a value makes no sense.
        """
        values = dict(given)
        preset, encoder = values.pop("preset", None), values.pop("encoder", None)
        chosen = PRESETS[preset or (KINDS[encoder].preset if encoder else "default")]
        name = encoder or chosen.encoder
        kind, loss = KINDS[name], LOSSES[values.pop("loss", chosen.training.loss.name)]
        of_training = {option: values.pop(option) for option in TrainingSettings.model_fields if option in values}
        of_shape = _selected(values, kind.settings.model_fields.keys() - kind.derived)
        of_loss = _selected(values, loss.model_fields.keys())
        foreign = values.keys() - of_shape.keys() - of_loss.keys()
        of_encoders = {option for other in KINDS.values() for option in other.settings.model_fields}
        _refuse((foreign & of_encoders) | (of_training.keys() & kind.unused), f"--encoder {name}")
        _refuse(foreign - of_encoders, f"--loss {loss.name}")
        shape = kind.settings.model_validate(kind.complete(of_shape))
        preset_loss = chosen.training.loss.model_dump(exclude_unset=True)
        of_preset = chosen.training.model_dump(exclude={"loss", *kind.unused})
        learned_by = loss.model_validate(_selected(preset_loss, loss.model_fields.keys()) | of_loss)
        training = TrainingSettings.model_validate(of_preset | of_training | {"loss": learned_by})
        if kind.needs_hash_bins and not training.hash_bins:
            raise UsageError(f"--hash-bins 0: --encoder {name} needs at least 1, for the words that are not listed")
        return cls(preset, shape, training)


@dataclasses.dataclass(frozen=True)
class DistillationTraining(EncoderTraining):
    """Checked settings of `qpr distil`: without a loss; the kind's ``taught`` values stand in for the preset's."""

    texts: ClassVar = {
        "epochs": "Passes over the questions.",
        "batch_size": "Questions a step.",
        "learning_rate": None,
        "dropout": None,
        "vocabulary_size": None,
        "hash_bins": None,
        "seed": "Seed of weights and order.",
    }
    """Settings of the training that distillation has, and their help if it is not that of `qpr train`."""

    @classmethod
    def described(cls) -> Iterator[Described]:
        """Yield the options: preset, encoder, and those of encoders and of the training without pairs."""
        yield _choice("preset", PRESETS, "Settings of every option without a default.")
        yield _choice("encoder", KINDS, "Kind of encoder.", default="the preset's")
        training = [
            _with_text(option, cls.texts[option.path[-1]] or option.field.description or "")
            for option in _training_options()
            if option.path[-1] in cls.texts
        ]
        yield from _by_panel([*_encoder_options(), *training])

    @classmethod
    def of_values(cls, given: Mapping[str, Any]) -> Self:
        """Return the settings with these values, as `EncoderTraining.of_values` does."""
        settings = super().of_values(given)
        taught = {name: value for name, value in kind_of(settings.shape).taught.items() if name not in given}
        return dataclasses.replace(settings, training=settings.training.model_copy(update=taught))


def _by_panel(options: Iterable[Described]) -> list[Described]:
    """Return the options in the order of the panels."""
    panels = {name: place for place, name in enumerate((OPTIONS, "Encoder", "Loss", "Training"))}
    return sorted(options, key=lambda option: panels.get(option.shown.panel or OPTIONS, len(panels)))


def _training_options() -> Iterator[Described]:
    """Yield the options of `TrainingSettings`, with the default that all presets share."""
    for option in described_settings(TrainingSettings):
        name = option.path[-1]
        if name != "loss":
            default = _shared(getattr(preset.training, name) for preset in PRESETS.values())
            owners = [kind.name for kind in KINDS.values() if name not in kind.unused]
            panel = option.shown.panel or "Training"
            yield _owned(option, owners, KINDS)._replace(default=default, shown=option.shown._replace(panel=panel))


def _encoder_options() -> Iterator[Described]:
    """Yield the options of all kinds of encoders, without those that a kind fills in itself."""
    options = {
        name: [option for option in described_settings(kind.settings) if option.path[-1] not in kind.derived]
        for name, kind in KINDS.items()
    }
    yield from _merged(options, "Encoder")


def _loss_options() -> Iterator[Described]:
    """Yield the options of all losses; a default is shown if no preset has another."""
    losses = [preset.training.loss for preset in PRESETS.values()]

    def default(option: Described) -> Any:
        name = option.path[-1]
        return _shared([option.default, *(getattr(loss, name) for loss in losses if name in type(loss).model_fields)])

    yield from _merged({name: list(described_settings(loss)) for name, loss in LOSSES.items()}, "Loss", default)


def _merged(
    options: Mapping[str, Iterable[Described]],
    panel: str,
    default: Callable[[Described], Any] = lambda option: option.default,
) -> Iterator[Described]:
    """Yield each option once; bounds and defaults that its owners do not share are left out, choices are united."""
    by_name: dict[str, dict[str, Described]] = {}
    for owner, described in options.items():
        for option in described:
            by_name.setdefault(option.path[-1], {})[owner] = option
    for of_owner in by_name.values():
        first, *others = of_owner.values()
        if any(bounds_of(other) != bounds_of(first) for other in others):
            first = first._replace(field=pydantic.fields.FieldInfo(description=first.field.description))
        if typing.get_origin(first.kind) is Literal:
            choices = dict.fromkeys(value for option in of_owner.values() for value in typing.get_args(option.kind))
            first = first._replace(kind=Literal[tuple(choices)])
        shown = first.shown._replace(panel=first.shown.panel or panel)
        shared = _shared(default(option) for option in of_owner.values())
        yield _owned(first, of_owner, options)._replace(default=shared, shown=shown)


def _owned(option: Described, owners: Collection[str], of: Collection[str]) -> Described:
    """Return the option with its owners in the help, unless it belongs to all."""
    if len(owners) == len(of):
        return option
    return _with_text(option, f"{(option.field.description or '').removesuffix('.')} ({', '.join(owners)}).")


def _with_text(option: Described, text: str) -> Described:
    field = copy.copy(option.field)
    field.description = text
    return option._replace(field=field)


def _choice(name: str, choices: Iterable[str], text: str, default: str | None = None) -> Described:
    field = pydantic.fields.FieldInfo(description=text)
    return Described(
        (name,), (f"--{name}",), field, Literal[tuple(choices)], None, Option(panel=OPTIONS, default=default)
    )


def _shared(values: Iterable[Any]) -> Any:
    """Return the value if all are equal, otherwise None."""
    first, *others = (None if value is PydanticUndefined else value for value in values)
    return first if all(other == first for other in others) else None


def _selected(values: Mapping[str, Any], names: Collection[str]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if name in names}


def _refuse(foreign: Collection[str], choice: str) -> None:
    if foreign:
        raise UsageError(f"--{min(foreign).replace('_', '-')} is no option of {choice}. Leave it out")
