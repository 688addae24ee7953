import datetime
import re
from typing import Annotated, Literal

import pydantic
import pytest
import typer
from typer.testing import CliRunner

from jobs.options.from_settings import with_settings
from schemas.errors import UsageError
from schemas.option import Option


class Inner(pydantic.BaseModel, frozen=True, extra="forbid", title="Inside"):
    share: float = pydantic.Field(default=0.5, ge=0, le=1, description="A share.")
    method: Literal["fast", "exact"] = pydantic.Field(default="fast", description="A method.")
    hidden: int = 3


class Rates(pydantic.BaseModel, frozen=True, extra="forbid"):
    low: float = 0.1


class Settings(pydantic.BaseModel, frozen=True, extra="forbid"):
    inner: Inner = Inner()
    fixed: Inner = Inner(share=0.25, method="exact")
    rates: Annotated[Rates, Option("rate")] = pydantic.Field(default=Rates(), description="Rates.")
    count: Annotated[int, Option("number", panel="Inside")] = pydantic.Field(default=2, gt=0, description="A count.")
    widths: tuple[int, ...] = pydantic.Field(default=(3, 4), description="Widths.")
    texts: tuple[str, ...] = pydantic.Field(default=(), description="Texts.")
    day: datetime.date = pydantic.Field(default=datetime.date(2024, 1, 1), description="A day.")
    n: int = pydantic.Field(default=1, description="A number.")
    off: bool = pydantic.Field(default=False, description="Is off.")
    on: bool = pydantic.Field(default=True, description="Is on.")
    either: Annotated[bool, Option("this/that")] = pydantic.Field(default=False, description="One of two.")


@pytest.fixture
def run():
    app, received = typer.Typer(rich_markup_mode=None), []

    def command(name: Annotated[str, typer.Option()], settings: Settings) -> None:
        received.append((name, settings))

    command.__annotations__ = {"name": Annotated[str, typer.Option()], "settings": Settings, "return": None}
    app.command()(with_settings(command))

    def call(*words):
        received.clear()
        result = CliRunner().invoke(app, ["--name", "n", *words])
        if result.exception and not isinstance(result.exception, SystemExit):
            raise result.exception
        return received[0][1] if received else result.output

    return call


def test_without_options_the_settings_are_those_of_the_class(run):
    assert run() == Settings()


def test_each_option_sets_its_field(run):
    lists = ["--widths", "1,2", "--texts", "b", "--texts", "a", "--rate", "low=0.2"]
    flags = ["--off", "--no-on", "--this", "--day", "2022-02-02"]
    assert run("--share", "1", "--method", "exact", "--number", "7", *lists, *flags) == Settings(
        inner=Inner(share=1, method="exact"),
        count=7,
        widths=(1, 2),
        texts=("a", "b"),
        rates=Rates(low=0.2),
        off=True,
        on=False,
        either=True,
        day=datetime.date(2022, 2, 2),
    )
    assert run("--that").either is False
    assert run("-n3") == run("-n", "3") == run("--n", "3") == Settings(n=3)


def test_what_a_default_of_inner_settings_sets_stays(run):
    settings = run("--share", "0.9")
    assert (settings.inner.share, settings.fixed) == (0.9, Settings().fixed)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--number", "0"], "--number 0: must be greater than 0"),
        (["--widths", "1,x"], "--widths 1,x: give one number, such as 5, or several, such as 3,5"),
        (["--rate", "low=x"], "--rate low=x: must be a number"),
        (["--rate", "high=1"], "--rate high=1: Extra inputs are not permitted"),
        (["--rate", "low=1", "--rate", "low=2"], "--rate low=2: low is 1 already"),
        (["--rate", "low"], "--rate low: has no value. Write --rate low=VALUE"),
        (["--day", "soon"], "--day soon: no date. Write YYYY-MM-DD, such as 2026-11-30"),
        (["--day", "2026-13-01"], "--day 2026-13-01: no date. Write YYYY-MM-DD"),
        (["--day", "2026-01-01T10:00"], "--day 2026-01-01T10:00: no date. Write YYYY-MM-DD"),
    ],
)
def test_a_value_that_does_not_fit_is_wrong_usage_and_named(run, words, message):
    with pytest.raises(UsageError, match=f"^{re.escape(message)}"):
        run(*words)


@pytest.mark.parametrize("words", [["--share", "1.1"], ["--method", "slow"], ["--hidden", "1"], ["--day"]])
def test_a_value_that_typer_can_check_is_refused_by_it(run, words):
    assert words[0] in run(*words)


def test_the_help_has_bounds_choices_defaults_and_panels(run, monkeypatch):
    monkeypatch.setenv("TERMINAL_WIDTH", "200")
    text = re.sub(r"\x1b\[[0-9;]*m", "", run("--help"))
    for shown in (
        "A share.",
        "0.5",
        "0<=x<=1",
        "[fast|exact]",
        "(3,4)",
        "(low=0.1)",
        "(2024-01-01)",
        "(that)",
    ):
        assert shown in text, shown
