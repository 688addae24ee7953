"""The wording rules of CONTRIBUTING.md ("Writing"), applied to docstrings, comments, messages, help and Markdown."""

import ast
import io
import re
import tokenize
from pathlib import Path

import pytest

from jobs.commands.registry import COMMANDS
from schemas import tables

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("schemas", "pipelines", "model", "jobs", "qpr", "benchmarks")


CLAUSE = re.compile(r"(What|Which|Who|Whose|How|Where|Whether|When|That|Tell|Say|Let|Know)\b")
"""Beginnings of a docstring, help text or title: a free relative clause, or a verb for a person who talks."""

PHRASES = re.compile(
    r"\b("
    r"afresh|anew|so many|its like|second look|of others"  # unusual adverbs and quantities
    r"|turn(s|ed|ing)? away|meets?|met|meeting|goes no further|dies?|died"  # rows are grouped, rejected, removed
    r"|tells?|telling|told|says?|saying|said|speaks?|knows?|knowing|wants?|wanted"  # files and functions do not talk
    r"|returns? (what|which|who)|go(es)? on from|taken for"
    r")\b",
    re.IGNORECASE,
)
"""Words and phrases for which plain technical English has another word."""

MESSAGES = re.compile(r"(\w*Error|Fault|say|warn)$")
"""Functions and classes that get a text for a person."""

CODE = re.compile(r"``.*?``|`.*?`|\"[^\"\n]*\"", re.DOTALL)


def offence(text, *, title):
    """Return the words of ``text`` to change, code and quotations left out; ``title``: check its first word too."""
    clause = CLAUSE.match(text) if title else None
    phrase = PHRASES.search(CODE.sub(lambda match: "\n" * match.group().count("\n"), text))
    return (clause or phrase) and (clause or phrase).group()


def line_of(text, words):
    """Return the number of lines before ``words``."""
    at = text.find(words)
    return text.count("\n", 0, at) if at > 0 else 0


def docstrings(tree):
    """Yield line, text and whether it describes a public definition, of all docstrings and notes below an attribute."""
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        for place, child in enumerate(body if isinstance(body, list) else ()):
            match child:
                case ast.Expr(value=ast.Constant(value=str(text))):
                    yield child.lineno, text, place == 0 and not getattr(node, "name", "").startswith("_")


def messages(tree):
    """Yield line and text of all strings in errors, warnings and notes."""
    for call in ast.walk(tree):
        if isinstance(call, ast.Call) and MESSAGES.match(ast.unparse(call.func).rpartition(".")[2]):
            for node in ast.walk(call):
                if isinstance(node, ast.Constant) and isinstance(node.value, str):
                    yield node.lineno, node.value


def python_offences(path):
    source = path.read_text()
    tree = ast.parse(source)
    for line, text, title in docstrings(tree):
        if words := offence(text, title=title):
            yield line + line_of(text, words), words
    for line, text in messages(tree):
        if words := offence(text, title=False):
            yield line, words
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT and (words := offence(token.string, title=False)):
            yield token.start[0], words


def markdown_offences(path):
    fenced = False
    for number, line in enumerate(path.read_text().splitlines(), 1):
        fenced ^= line.startswith("```")
        # A decision's body is a record of its time; its title is read in lists.
        if fenced or ("decisions" in path.parts and not line.startswith("# ")):
            continue
        title = re.sub(r"^#+ (\d+\. )?", "", line)
        if words := offence(title, title="decisions" in path.parts):
            yield number, words


def pages():
    yield from (ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md"))
    yield from (path for path in sorted((ROOT / "docs").rglob("*.md")) if path.name != "log.md")


def modules():
    for package in PACKAGES:
        yield from sorted((ROOT / package).rglob("*.py"))


def option_offences():
    """Yield command and option of help texts, which may stand in another module than the command."""
    for name, entry in COMMANDS.items():
        for parameter in entry.build().params:
            help_text = getattr(parameter, "help", None) or ""
            if words := offence(help_text, title=True):
                yield f"jobs: qpr {name} {parameter.opts[0]}: {words!r} in {help_text[:60]!r}"


def all_offences():
    for path in modules():
        yield from (f"{path.relative_to(ROOT)}:{line}: {words}" for line, words in python_offences(path))
    for path in pages():
        yield from (f"{path.relative_to(ROOT)}:{line}: {words}" for line, words in markdown_offences(path))
    yield from option_offences()


def names_of_tests():
    for path in sorted((ROOT / "tests").rglob("test_*.py")):
        for name in re.findall(r"^def (test_\w+)", path.read_text("utf-8"), re.MULTILINE):
            yield f"{path.relative_to(ROOT)}: {name}", name.replace("_", " ")


def test_wording_is_plain():
    assert list(all_offences()) == []


def test_names_of_tests_are_plain():
    assert [place for place, words in names_of_tests() if PHRASES.search(words)] == []


def test_descriptions_of_columns_are_plain():
    columns = [field for schema in (tables.QA_LOG, *tables.TABLES.values()) for field in schema]
    assert [field.name for field in columns if offence(field.metadata[b"doc"].decode(), title=False)] == []


@pytest.mark.parametrize(
    "text",
    [
        "What a run read.",
        "Tell whether it is so.",
        "Rows that are turned away.",
        "Rows of one question\nmeet here.",
        "Return what is left.",
    ],
)
def test_rejected_wording_is_found(text):
    assert offence(text, title=True)


def test_rejected_wording_is_found_in_messages():
    tree = ast.parse("raise QprError(f'{url}: layout {layout}, this code knows {known}') from error")
    assert [offence(text, title=False) for _, text in messages(tree)].count("knows") == 1


@pytest.mark.parametrize("text", ["Return whether `told` is set.", 'Print "anew".', "Method of a class, at most 3."])
def test_plain_wording_and_code_pass(text):
    assert not offence(text, title=True)


if __name__ == "__main__":
    import sys

    rooms = tuple(sys.argv[1:]) or ("",)
    print("\n".join(place for place in all_offences() if place.startswith(rooms)))
