"""Settings of an encoder and its training, from a preset and the options of `qpr train`.

preset, encoder, given values -> settings_of -> shape, TrainingSettings
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from enum import StrEnum
from typing import TYPE_CHECKING, Any, TypeVar

from schemas.errors import UsageError

if TYPE_CHECKING:
    import pydantic

    from model.encoders.config import Shape
    from model.training.settings import TrainingSettings

Model = TypeVar("Model", bound="pydantic.BaseModel")


class PresetChoice(StrEnum):
    """The names of `model.training.presets.PRESETS`."""

    DEFAULT = "default"
    PAPER = "paper"
    STATIC = "static"
    TRANSFORMER = "transformer"


class EncoderChoice(StrEnum):
    """The names of `model.encoders.kinds.KINDS`."""

    SUBWORD = "subword"
    CNN = "cnn"
    STATIC = "static"
    TRANSFORMER = "transformer"


class LossChoice(StrEnum):
    """The names of `model.losses.registry.LOSSES`."""

    SDML = "sdml"
    MULTIPLE_NEGATIVES = "multiple_negatives"
    TRIPLET = "triplet"
    ONLINE_CONTRASTIVE = "online_contrastive"


def numbers(option: str, given: str | None) -> tuple[int, ...] | None:
    """Return the numbers of a list such as ``3,5``; None for none.

    Raises:
        UsageError: it is no such list.
    """
    try:
        return None if given is None else tuple(int(part) for part in given.split(","))
    except ValueError as error:
        raise UsageError(f"{option} {given}: give one number, such as 5, or several, such as 3,5") from error


def settings_of(
    preset: str | None, encoder: str | None, *, shape: Mapping[str, Any], training: Mapping[str, Any]
) -> tuple[Shape, TrainingSettings]:
    """Return the checked settings; an option that is None is as in the preset.

    Args:
        preset: its name; by default that of the encoder, and without one `default`.
        encoder: its name; by default that of the preset.
        shape: given values of any encoder's shape, by name.
        training: given values of the training, by name.

    Raises:
        UsageError: a value makes no sense, or is none of this encoder's or loss's; the message names its option.
    """
    from model.encoders.kinds import KINDS
    from model.losses.registry import LOSSES
    from model.training.presets import PRESETS
    from model.training.settings import TrainingSettings

    chosen = PRESETS[preset or (KINDS[encoder].preset if encoder else "default")]
    name = encoder or chosen.encoder
    kind = KINDS[name]
    of_shape, of_training = _given(shape), _given(training)
    preset_loss = chosen.training.loss
    loss = LOSSES[of_training.pop("loss", preset_loss.name)]
    of_loss = {option: of_training.pop(option) for option in of_training.keys() - TrainingSettings.model_fields.keys()}
    of_encoder = kind.settings.model_fields.keys() - kind.derived
    _refuse((of_shape.keys() - of_encoder) | (of_training.keys() & kind.unused), f"--encoder {name}")
    _refuse(of_loss.keys() - loss.model_fields.keys(), f"--loss {loss.name}")
    unused = kind.unused | {"loss"}
    base = {option: value for option, value in chosen.training.model_dump().items() if option not in unused}
    loss_base = {
        option: value
        for option, value in preset_loss.model_dump(exclude_unset=True).items()
        if option in loss.model_fields
    }
    checked = _checked(kind.settings, kind.complete(of_shape))
    learned_by = _checked(loss, loss_base | of_loss)
    settings = _checked(TrainingSettings, base | of_training | {"loss": learned_by})
    if kind.needs_hash_bins and not settings.hash_bins:
        raise UsageError(f"--hash-bins 0: --encoder {name} needs at least 1, for the words that are not listed")
    return checked, settings


def _checked(model: type[Model], values: Mapping[str, Any]) -> Model:
    """Return the settings with these values.

    Raises:
        UsageError: one makes no sense; the message names its option.
    """
    import pydantic

    try:
        return model.model_validate(values)
    except pydantic.ValidationError as error:
        first = error.errors()[0]
        option = f"{_option(str(first['loc'][0]))} {first['input']}: " if first["loc"] else ""
        raise UsageError(f"{option}{first['msg'].removeprefix('Value error, ')}") from error


def _refuse(foreign: Collection[str], choice: str) -> None:
    if foreign:
        raise UsageError(f"{_option(min(foreign))} is no option of {choice}. Leave it out")


def _given(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: str(v) if isinstance(v, StrEnum) else v for name, v in values.items() if v is not None}


def _option(name: str) -> str:
    return f"--{name.replace('_', '-')}"
