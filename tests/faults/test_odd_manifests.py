"""Manifests and settings with odd values, keys and files: opened, or refused by file and field, and nothing else."""

from __future__ import annotations

import contextlib
import copy
import json
import os
import shutil
import sys
import sysconfig
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jobs.workflows.calibration import read_calibration
from model.encoders.loading import load_encoder
from model.reranking.saved_reranker import load_reranker
from model.search.searcher import open_searcher
from schemas.artifacts.dataset import open_dataset
from schemas.artifacts.manifest import read_manifest, read_verified
from schemas.errors import QprError
from tests.faults.damages import sign
from tests.support.manifests import signed

ODD = [
    *("", "x", "../../x", "/etc/passwd", "a\0b", "\x1b[2J", "http://elsewhere/x", "st:x", "\ud800", "9" * 5_000),
    *(-1, 0, 1, 2**31, 2**63, 10**30, 0.5, 1e308, float("nan"), float("inf"), True, None),
    *([], {}, [[]], [None], {"path": "../../x"}),
]

_LIBRARIES = {str(Path(sysconfig.get_path(name)).resolve()) for name in ("stdlib", "purelib")}
_LIBRARIES |= {sys.prefix, sys.base_prefix, str(Path(__file__).parents[2])}
_opened: list[str] | None = None


def _note(event, arguments):
    if event == "open" and _opened is not None and isinstance(arguments[0], str):
        _opened.append(arguments[0])


sys.addaudithook(_note)


@contextlib.contextmanager
def only_within(folder):
    """Fail if anything but a file of a folder, of the program, or of its cache is opened inside the block."""
    global _opened
    _opened = opened = []
    try:
        yield
    finally:
        _opened = None
    own = [str(folder.resolve()), str(Path(os.environ["XDG_CACHE_HOME"]).resolve()), *_LIBRARIES]
    allowed = (*(f"{place}/" for place in own), "/proc/", "/sys/", "/dev/null")
    assert [path for path in opened if not str(Path(path).resolve()).startswith(allowed)] == []


@st.composite
def mutated(draw, document):
    """Return a document in which some places are changed, lost, added or doubled."""
    changed = copy.deepcopy(document)
    for _ in range(draw(st.integers(1, 3))):
        holder = changed
        while True:
            keys = sorted(holder) if isinstance(holder, dict) else range(len(holder))
            if not keys:
                break
            key = draw(st.sampled_from(list(keys)))
            if not isinstance(holder[key], dict | list) or not holder[key] or draw(st.integers(0, 3)) == 0:
                break
            holder = holder[key]
        if not holder:
            continue
        match draw(st.sampled_from(["replace", "replace", "lose", "add", "double"])):
            case "replace":
                holder[key] = copy.deepcopy(draw(st.sampled_from(ODD)))
            case "lose":
                del holder[key]
            case "add" if isinstance(holder, dict):
                holder[draw(st.sampled_from(["x", "model_url", "\x1b", ""]))] = copy.deepcopy(
                    draw(st.sampled_from(ODD))
                )
            case _ if isinstance(holder, list):
                holder.append(copy.deepcopy(holder[key]))
    return changed


def read_dataset(url):
    dataset = open_dataset(url)
    for name in ("questions", "clusters", "pairs"):
        dataset.table(name)


def read_index(url):
    open_searcher(url).search("pay my bill", 3)


def read_model(url):
    load_encoder(url).encode(["pay my bill"])
    for file in read_manifest(url, "model").files:
        read_verified(url, file)


def read_reranker(url):
    load_reranker(url, model_digest=json.loads((Path(url) / "digest").read_text()))


OPEN = {
    "dataset": read_dataset,
    "cnn": read_model,
    "subword": read_model,
    "index": read_index,
    "reranker": read_reranker,
    "calibration": read_calibration,
}
CASES = [*((name, "manifest.json") for name in OPEN), ("cnn", "*/config.json"), ("subword", "*/config.json")]
CASES += [("calibration", "*/weights.json"), ("calibration", "*/calibration.json"), ("index", "*/model/manifest.json")]


@pytest.mark.parametrize(("artefact", "pattern"), CASES)
def test_odd_documents_are_refused_by_name_and_lead_nowhere(artefact, pattern, whole, tmp_path):
    place = shutil.copytree(whole / artefact, tmp_path / artefact)
    if artefact == "reranker":
        manifest = json.loads((place / "manifest.json").read_text())
        (place / "digest").write_text(json.dumps(manifest["configuration"]["model_digest"]))
    OPEN[artefact](str(place))  # imports, and the artefact is whole
    [path] = place.glob(pattern)
    valid, manifest = json.loads(path.read_text()), (place / "manifest.json").read_bytes()
    outcomes = []

    @settings(max_examples=60)
    @given(mutated(valid))
    def check(document):
        (place / "manifest.json").write_bytes(manifest)
        path.write_text(signed(document) if path.name == "manifest.json" else json.dumps(document))
        if path.parent != place:
            sign(place)
        error = ""
        with only_within(place):
            try:
                OPEN[artefact](str(place))
            except QprError as refused:
                error = str(refused)
        assert error == "" or str(place) in error
        assert error.isprintable()
        outcomes.append(error)

    check()
    assert len(set(outcomes)) > 5
