import re
import shlex
from pathlib import Path

import pytest

from jobs.commands.registry import HELP
from jobs.display.console import results
from jobs.display.hits import print_hits
from model.search.results import Hit, Why

README = Path(__file__).parent.parent / "README.md"
SMALLER = {"--events 50000": "--events 3000", "--epochs 3": "--epochs 1"}


def blocks(language):
    return re.findall(rf"^```{language}\n(.*?)^```", README.read_text(), re.MULTILINE | re.DOTALL)


def chain():
    """The block that goes from generated logs to a search."""
    [found] = [block for block in blocks("sh") if block.startswith("qpr simulate")]
    for large, small in SMALLER.items():
        assert large in found
        found = found.replace(large, small)
    return [shlex.split(line)[1:] for line in found.splitlines()]


def test_the_first_run_in_the_help_asks_the_question_of_the_readme():
    [question] = re.findall(r'qpr search --index index (".+")', HELP)
    assert chain()[-1][-1] == question.strip('"')


def test_no_output_of_the_readme_is_a_folder_of_the_clone_in_which_people_try_it():
    outputs = {arguments[arguments.index("--output") + 1] for arguments in chain() if "--output" in arguments}
    assert len(outputs) == 4
    assert not [name for name in outputs if (README.parent / name / "__init__.py").exists()]


@pytest.mark.slow
def test_the_commands_of_the_readme_run_one_after_the_other_and_so_does_its_python(qpr, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for arguments in chain():
        outcome = qpr(*arguments)
        assert outcome.code == 0, outcome.err
    [python] = blocks("python")
    exec(compile(python, README.name, "exec"), {})
    printed = capsys.readouterr().out.splitlines()
    assert len(printed) == 3
    assert all(" -> " in line for line in printed)


def test_the_hit_that_the_readme_shows_is_printed_like_that(monkeypatch, capsys):
    [block] = re.findall(r"^```\n\$ (qpr search .+)\n((?:.+\n)+)```", README.read_text(), re.MULTILINE)
    (command, table), log = block, blocks("")[0]
    question = shlex.split(command)[-1]
    rows = [[cell.strip() for cell in line.split("│")[1:-1]] for line in table.splitlines() if line.startswith("│")]
    rank, probability, text, answer, why = (" ".join(filter(None, cells)) for cells in zip(*rows, strict=True))
    assert (text, answer) in [tuple(re.split(" {2,}", line)) for line in log.splitlines()]
    shared = [word for word in question.split() if word in text.lower().strip("?").split()]
    hit = Hit(int(rank), 7, text, answer, None, None, None, float(probability), Why(tuple(shared), 1, 1))
    monkeypatch.setattr(results, "width", 80)
    print_hits(question, [hit], as_json=False)
    assert why.endswith(", nearest 1, BM25 1")
    assert [line.rstrip() for line in capsys.readouterr().out.splitlines()] == table.splitlines()


def test_every_command_is_in_the_readme_and_every_command_of_the_readme_is_there(qpr):
    from jobs.commands.registry import COMMANDS

    assert set(re.findall(r"^\| `qpr ([\w-]+)", README.read_text(), re.MULTILINE)) == set(COMMANDS)


def test_options_that_the_readme_shows_exist(qpr):
    for line in re.findall(r"^qpr .+$", "\n".join(blocks("sh")), re.MULTILINE):
        command, *rest = shlex.split(line, comments=True)[1:]
        help_text = qpr(command, "--help").out
        for option in (word for word in rest if word.startswith("--")):
            assert option in help_text, f"{option} of: {line}"


def test_the_links_of_the_readme_lead_somewhere():
    for target in re.findall(r"\]\((?!http)([^)#]+)\)", README.read_text()):
        assert (README.parent / target).exists(), target


def test_every_script_that_the_readme_names_is_there():
    for name in re.findall(r"`(\w+\.py)`", README.read_text()):
        assert (README.parent / "benchmarks" / name).exists(), name
