"""Commands without options do what the settings do without arguments."""

import inspect
from pathlib import Path

import pytest

from jobs.commands.registry import COMMANDS
from jobs.options.encoder_training import DistillationTraining, EncoderTraining
from jobs.web.settings import Limits
from model.encoders.registry import KINDS
from model.losses.sdml import SDMLLoss
from model.search.searcher import Searcher
from model.search.settings import Search
from model.training.presets import PRESETS
from model.training.settings import TrainingSettings
from pipelines.graphs.settings import ClustersConfig, QuoraConfig
from schemas.artifacts.manifest import read_manifest
from schemas.option import PROBES, is_settings

ROWS = [{"question": f"how do I pay {what}", "answer": "In the app"} for what in ("my bill", "a bill", "bills")]
PAIRS = [
    {"question1": "how do I pay my bill", "question2": "how can I pay my bill", "is_duplicate": "1"},
    {"question1": "how do I pay my bill", "question2": "who is he", "is_duplicate": "0"},
]


@pytest.mark.parametrize(
    ("command", "rows", "settings"), [("clusters", ROWS, ClustersConfig), ("quora", PAIRS, QuoraConfig)]
)
def test_the_manifest_of_a_command_without_options_has_the_default_settings(
    qpr, write_jsonl, memory, command, rows, settings
):
    assert qpr(command, write_jsonl("in.jsonl", rows), "--output", f"{memory}/d").code == 0
    expected = settings(shards=1).model_dump(mode="json")  # the number of shards follows from the size of the files
    assert read_manifest(f"{memory}/d").configuration == expected


def settings_classes():
    for name, entry in COMMANDS.items():
        for parameter in inspect.signature(entry.load(), eval_str=True).parameters.values():
            if is_settings(parameter.annotation):
                yield pytest.param(name, parameter.annotation, id=f"{name}-{parameter.annotation.__name__}")


@pytest.mark.parametrize(("command", "settings"), list(settings_classes()))
def test_a_command_without_options_gets_the_default_settings(qpr, monkeypatch, command, settings):
    from jobs.options import from_settings

    built = []
    original = from_settings.settings_of

    def record(model, options, given):
        built.append(original(model, options, given))
        if model is settings:
            raise SystemExit(0)
        return built[-1]

    monkeypatch.setattr(from_settings, "settings_of", record)
    needed = [word for p in required(command) for word in (p.opts[0], "x")]
    assert qpr(command, *needed).code == 0
    assert built[-1] == settings()


@pytest.mark.parametrize(("command", "group"), [("train", EncoderTraining), ("distil", DistillationTraining)])
def test_a_training_without_options_has_the_settings_of_the_default_preset(qpr, monkeypatch, command, group):
    from jobs.options import from_settings

    built = []
    original = from_settings.group_of

    def record(model, options, given):
        built.append(original(model, options, given))
        raise SystemExit(0)

    monkeypatch.setattr(from_settings, "group_of", record)
    needed = [word for p in required(command) for word in (p.opts[0], "x")]
    assert qpr(command, *needed).code == 0
    preset = PRESETS["default"].training
    kind = KINDS[PRESETS["default"].encoder]
    training = preset if command == "train" else preset.model_copy(update=dict(kind.taught))
    assert built == [group(None, kind.settings(), training)]


def test_the_paper_preset_is_the_settings_without_arguments():
    assert PRESETS["paper"].training == TrainingSettings() == TrainingSettings(loss=SDMLLoss())


@pytest.mark.parametrize("name", PRESETS)
def test_a_default_of_a_setting_in_the_help_of_train_is_that_of_each_preset(name):
    training = PRESETS[name].training.flat()
    for option in EncoderTraining.described():
        if option.default is not None and option.path[-1] in training:
            assert training[option.path[-1]] == option.default


def required(command):
    import typer.main

    from jobs.commands.registry import app

    return [p for p in typer.main.get_command(app).commands[command].params if p.required]


@pytest.mark.parametrize(
    "option",
    [
        *(
            "--overwrite",
            "--quiet",
            "--delimiter",
            "--encoding",
            "--column",
            "--probes",
            "--exact",
            "--mode",
            "--rerank",
        ),
        *("--verify", "--filter", "--host", "--port", "--token-file", "--user-key-file", "--refine-with", "--resume"),
        *("--max-minutes", "--near-duplicate", "--split-salt", "--max-cluster-size", "--max-pairs-per-cluster"),
    ],
)
def test_an_option_of_one_meaning_has_one_text_in_all_commands(option):
    import typer.main

    from jobs.commands.registry import app

    commands = typer.main.get_command(app).commands.values()
    given = [p for command in commands for p in command.params if option in p.opts]
    assert len(given) > 1
    assert len({(p.help, p.metavar) for p in given}) == 1


def test_the_help_of_probes_is_written_in_one_module():
    root = Path(__file__).resolve().parents[3]
    modules = [path for package in ("schemas", "pipelines", "model", "jobs") for path in (root / package).rglob("*.py")]
    assert [path.name for path in modules if PROBES in path.read_text("utf-8")] == ["option.py"]


def test_every_search_returns_the_same_number_of_hits_by_default():
    searches = Searcher.search, Searcher.search_many
    assert (
        {inspect.signature(search).parameters["k"].default for search in searches}
        == {Search().k}
        == {Limits().default_k}
    )
