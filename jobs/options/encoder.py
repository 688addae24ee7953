"""Settings of an encoder and its training, from a preset and the options of `qpr train`.

preset, encoder, given values -> settings_of -> shape, TrainingSettings
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from schemas.errors import UsageError

if TYPE_CHECKING:
    from model.encoders.config import Shape, TrainingSettings


class PresetChoice(StrEnum):
    """The names of `model.training.presets.PRESETS`."""

    DEFAULT = "default"
    PAPER = "paper"
    STATIC = "static"
    TRANSFORMER = "transformer"


class EncoderChoice(StrEnum):
    """The names of `model.encoders.config.SHAPES`."""

    SUBWORD = "subword"
    CNN = "cnn"
    STATIC = "static"
    TRANSFORMER = "transformer"


class LossChoice(StrEnum):
    """The names of `model.choices.Loss`."""

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
    import pydantic

    from model.encoders.config import NOT_OF, SHAPES
    from model.training.presets import PRESET_OF, PRESETS

    chosen = PRESETS[preset or PRESET_OF.get(encoder or "", "default")]
    name = encoder or chosen.encoder
    wanted = SHAPES[name]
    of_shape, of_training = _given(shape), _given(training)
    loss = of_training.get("loss", chosen.training.loss)
    unused = _unused(loss)
    of_encoder = {"transformer_from"} if name == "transformer" else wanted.model_fields.keys()
    _refuse((of_shape.keys() - of_encoder) | (of_training.keys() & NOT_OF[name]), f"--encoder {name}")
    _refuse(of_training.keys() & unused, f"--loss {loss}")
    if name == "static":
        of_shape = _with_tokens(of_shape)
    if name == "transformer":
        of_shape = _of_transformer(of_shape)
    base = {n: v for n, v in chosen.training.model_dump().items() if n not in NOT_OF[name] | unused}
    try:
        checked = wanted.model_validate(of_shape)
        settings = type(chosen.training).model_validate(base | of_training)
    except pydantic.ValidationError as error:
        first = error.errors()[0]
        option = f"{_option(str(first['loc'][0]))} {first['input']}: " if first["loc"] else ""
        raise UsageError(f"{option}{first['msg'].removeprefix('Value error, ')}") from error
    if name in ("subword", "static") and not settings.hash_bins:
        raise UsageError(f"--hash-bins 0: --encoder {name} needs at least 1, for the words that are not listed")
    return checked, settings


def _with_tokens(given: dict[str, Any]) -> dict[str, Any]:
    """Return a static encoder's given values and what its tokens say of themselves.

    Raises:
        QprError: there are no such tokens.
        UsageError: they have fewer numbers than wanted.
    """
    from model.encoders.config import STATIC_FROM
    from model.encoders.subword.pretrained_tokens import read_static

    source = given.get("static_from", STATIC_FROM)
    found = read_static(source).settings(source)
    if given.get("dimension", 0) > found["dimension"]:
        raise UsageError(f"--dimension {given['dimension']}: the tokens of {source} have {found['dimension']} numbers")
    return found | given


def _of_transformer(given: dict[str, Any]) -> dict[str, Any]:
    """Return what the model that a transformer begins with says of itself.

    Raises:
        QprError: there is no such model.
        UsageError: none is named.
    """
    from model.encoders.transformer.checkpoint_folder import described

    if "transformer_from" not in given:
        raise UsageError("--encoder transformer: give --transformer-from, the folder of a sentence-transformers model")
    return described(given["transformer_from"])


def _unused(loss: str) -> set[str]:
    """Return the settings of other losses that this one has no use for."""
    from model.choices import LOSS_OPTIONS

    return {name for options in LOSS_OPTIONS.values() for name in options} - LOSS_OPTIONS[loss]


def _refuse(foreign: Collection[str], choice: str) -> None:
    if foreign:
        raise UsageError(f"{_option(min(foreign))} is no option of {choice}. Leave it out")


def _given(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: str(v) if isinstance(v, StrEnum) else v for name, v in values.items() if v is not None}


def _option(name: str) -> str:
    return f"--{name.replace('_', '-')}"
