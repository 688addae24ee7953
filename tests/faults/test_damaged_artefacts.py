"""Every file of every artefact damaged in many ways, signed or not, and read by the commands that read it."""

from __future__ import annotations

import re
import shutil

import pytest

from tests.faults import damages as of
from tests.faults.damage_lists import paired_damages

NEXT_STEP = re.compile(r"(again|Give|Use|Check|Put the file|Make|Take|Learn|Train|Build|Fetch)\b.*$", re.DOTALL)
TIMES = re.compile(r'"(mean_ms|p95_ms|seconds|timed_queries)": [^,}]+|/[^ "]*/|20[0-9]{6}T[0-9a-f]*Z-[0-9a-f]+')
SHOWS_ALL = frozenset({"sample", "search", "evaluate", "index", "search --rerank", "evaluate --rerank"})
"""Commands whose output shows what they read; that of others tells times and digests of their inputs."""


def commands(whole, damaged, artefact, output):
    """Return the commands that read an artefact, by name; ``damaged`` stands in its place."""
    at = {name: whole / name for name in ("dataset", "cnn", "subword", "index", "reranker", "calibration", "verdicts")}
    at[artefact] = damaged
    index = at["index"]
    model = damaged if artefact in ("cnn", "subword") else at["cnn"]
    search = ("search", "--index", index, "--json", "-k", 3, "pay my bill", "cancel")
    evaluate = ("evaluate", "--dataset", at["dataset"], "--index", index, "--json")
    small = ("--dimension", 4, "--epochs", 1, "--output", output)
    logs = ("clusters", whole / "logs.jsonl", "--output", output)
    return {
        "sample": ("sample", "--dataset", at["dataset"], "--json"),
        "train": ("train", "--dataset", at["dataset"], "--preset", "paper", "--vocabulary-size", 10, *small),
        "train --init-from": ("train", "--dataset", at["dataset"], "--init-from", model, "--preset", "paper", *small),
        "index": ("index", "--questions", at["dataset"], "--model", model, "--shards", 1, "--output", output, "--json"),
        "distil": ("distil", "--dataset", at["dataset"], "--teacher", model, *small),
        "encode": ("encode", "--model", model, "--input", whole / "questions.txt", "--output", f"{output}.npy"),
        "search": search,
        "search --rerank": (*search, "--rerank", at["reranker"]),
        "evaluate": evaluate,
        "evaluate --rerank": (*evaluate, "--rerank", at["reranker"]),
        "train-reranker": ("train-reranker", "--dataset", at["dataset"], "--index", index, "--output", output),
        "clusters --refine-with": (*logs, "--refine-with", model, "--min-probability", 0.1),
        "clusters by verdicts": (*logs, "--calibration", at["verdicts"], "--precision", 0.5, "--dry-run"),
        "clusters --calibration": (*logs, "--calibration", at["calibration"], "--precision", 0.5, "--dry-run"),
    }


@pytest.fixture(scope="module")
def unharmed():
    """Return what each command prints of an artefact without damage, filled as it is needed."""
    return {}


PAIRED = list(paired_damages())


@pytest.mark.parametrize(("damage", "command"), PAIRED, ids=[f"{damage}-{command}" for damage, command in PAIRED])
def test_a_damaged_artefact_is_refused_by_name_or_read_as_before(damage, command, whole, unharmed, tmp_path, qpr):
    damaged = shutil.copytree(whole / damage.artefact, tmp_path / damage.artefact)
    [path] = damaged.glob(damage.pattern)
    before = path.read_bytes()
    path.write_bytes(damage.change(before))
    if damage.name == "a link out":
        of.outside(path, tmp_path / "outside")
    elif damage.signed and path != damaged / "manifest.json":
        of.sign(damaged)
    elif damage.signed:
        of.edit_json(path, lambda _: None)
    outcome = qpr(*commands(whole, damaged, damage.artefact, tmp_path / "output")[command])
    if outcome.code == 0:
        assert damage.maybe, outcome
        if command in SHOWS_ALL:
            if (damage.artefact, command) not in unharmed:
                shutil.rmtree(tmp_path / "output", ignore_errors=True)
                again = qpr(*commands(whole, whole / damage.artefact, damage.artefact, tmp_path / "output")[command])
                unharmed[damage.artefact, command] = TIMES.sub("", again.out)
            assert TIMES.sub("", outcome.out) == unharmed[damage.artefact, command]
        return
    assert outcome.code in (1, 2)
    error = outcome.err[outcome.err.index("error: ") :]
    assert path.name in error or path.parent == damaged
    assert damage.told in error
    assert NEXT_STEP.search(error), error
    assert not (tmp_path / "output").exists()
    assert damage.artefact in error or "st:" in damage.name
