"""Settings of an encoder and its training, under one set of options.

KINDS, LOSSES, PRESETS -> EncoderTraining.described -> options -> EncoderTraining.of_values -> shape, training

A new kind of encoder, loss or preset is on the command line as soon as it is registered.
"""

from __future__ import annotations

import copy
import dataclasses
import typing
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any, ClassVar, Literal, Self

import pydantic
from pydantic_core import PydanticUndefined

from jobs.display.help import OPTIONS
from jobs.options.from_settings import OptionGroup, bounds_of, default_text
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
        yield from _preset_and_encoder()
        losses = {name: preset.training.loss.name for name, preset in PRESETS.items()}
        yield _with_defaults(_choice("loss", LOSSES, "Training loss."), losses)
        yield from _by_panel([*_encoder_options(), *_loss_options(), *_training_options(taught=False)])

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
        yield from _preset_and_encoder()
        training = [
            _with_text(option, cls.texts[option.path[-1]] or option.field.description or "")
            for option in _training_options(taught=True)
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


def _preset_and_encoder() -> Iterator[Described]:
    """Yield the choices of the preset and of the encoder."""
    yield _choice(
        "preset",
        PRESETS,
        "Set of values. '4; paper 10' is 10 with preset paper, 4 with the others.",
        "default, or by --encoder",
    )
    yield _choice("encoder", KINDS, "Kind of encoder.", f"{PRESETS['default'].encoder}, or by --preset")


def _training_options(*, taught: bool) -> Iterator[Described]:
    """Yield the options of `TrainingSettings`, with the value of each preset.

    Args:
        taught: with the values by which distillation replaces some of them.
    """
    for option in described_settings(TrainingSettings):
        name = option.path[-1]
        if name != "loss":
            owners = [kind.name for kind in KINDS.values() if name not in kind.unused]
            values = {
                preset: (KINDS[encoder].taught if taught else {}).get(name, getattr(training, name))
                for preset, (encoder, training) in PRESETS.items()
                if encoder in owners
            }
            shown = option.shown._replace(panel=option.shown.panel or "Training")
            yield _with_defaults(_owned(option, owners, KINDS)._replace(shown=shown), values)


def _encoder_options() -> Iterator[Described]:
    """Yield the options of all kinds of encoders, without those that a kind fills in itself."""
    options = {
        name: [option for option in described_settings(kind.settings) if option.path[-1] not in kind.derived]
        for name, kind in KINDS.items()
    }
    for of_owner in _by_name(options):
        defaults = {name: option.default for name, option in of_owner.items()}
        yield _with_defaults(_merged(of_owner, options, "Encoder"), defaults)


def _loss_options() -> Iterator[Described]:
    """Yield the options of all losses, with the value of each preset if there is one that sets it."""
    losses = {name: preset.training.loss for name, preset in PRESETS.items()}
    options = {name: list(described_settings(loss)) for name, loss in LOSSES.items()}
    for of_owner in _by_name(options):
        first, *_ = of_owner.values()
        name = first.path[-1]
        by_preset = {
            preset: getattr(loss, name) if name in loss.model_fields_set else first.default
            for preset, loss in losses.items()
        }
        is_set = any(name in loss.model_fields_set for loss in losses.values())
        usual = PRESETS["default"].training.loss.name
        by_loss = {owner: of_owner[owner].default for owner in sorted(of_owner, key=lambda owner: owner != usual)}
        yield _with_defaults(_merged(of_owner, options, "Loss"), by_preset if is_set else by_loss)


def _by_name(options: Mapping[str, Iterable[Described]]) -> Iterable[dict[str, Described]]:
    """Return each option of several owners once, as its declarations by owner."""
    by_name: dict[str, dict[str, Described]] = {}
    for owner, described in options.items():
        for option in described:
            by_name.setdefault(option.path[-1], {})[owner] = option
    return by_name.values()


def _merged(of_owner: Mapping[str, Described], owners: Collection[str], panel: str) -> Described:
    """Return one option for its declarations; bounds that they do not share are left out, choices are united.

    Args:
        of_owner: the declaration of each owner.
        owners: all of the kind; an option that not all of them have names those that do.
        panel: of the help, for an option without one.
    """
    first, *others = of_owner.values()
    if any(bounds_of(other) != bounds_of(first) for other in others):
        first = first._replace(field=pydantic.fields.FieldInfo(description=first.field.description))
    if typing.get_origin(first.kind) is Literal:
        choices = dict.fromkeys(value for option in of_owner.values() for value in typing.get_args(option.kind))
        first = first._replace(kind=Literal[tuple(choices)])
    shown = first.shown._replace(panel=first.shown.panel or panel)
    return _owned(first, of_owner, owners)._replace(shown=shown)


def _with_defaults(option: Described, values: Mapping[str, Any]) -> Described:
    """Return the option with its default, and with any that differs by name, such as ``4; paper 10``.

    Args:
        option: without a default.
        values: defaults by the name of a preset, encoder or loss, the usual one first.
    """
    given = {name: value for name, value in values.items() if value is not PydanticUndefined}
    usual, *others = list(dict.fromkeys(given.values())) or [None]
    if not others:
        return option._replace(default=usual)
    texts = [default_text(usual, option.names) or ""]
    for value in others:
        owners = ", ".join(name for name in given if given[name] == value)
        texts.append(f"{owners} {default_text(value, option.names)}")
    return option._replace(default=None, shown=option.shown._replace(default="; ".join(texts)))


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
    field, shown = pydantic.fields.FieldInfo(description=text), Option(panel=OPTIONS, default=default)
    return Described((name,), (f"--{name}",), field, Literal[tuple(choices)], None, shown)


def _selected(values: Mapping[str, Any], names: Collection[str]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if name in names}


def _refuse(foreign: Collection[str], choice: str) -> None:
    if foreign:
        raise UsageError(f"--{min(foreign).replace('_', '-')} is no option of {choice}. Leave it out")
