"""Weights that ship for each kind of encoder."""

import re
import typing
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from pipelines.linkage.scoring.learned_scorers import SETTLED
from pipelines.linkage.scoring.shipped_weights import (
    DIFFERENCES,
    DifferencesFile,
    TreesFile,
    load_facts_model,
    load_model,
    model_of_trees,
    tree_features,
    with_differences,
)
from pipelines.linkage.settings import EncoderKind
from schemas.errors import QprError

KINDS = typing.get_args(EncoderKind)
ALIGNING = {True: ("static", "model"), False: ("static",)}  # kinds whose trees, of facts or others, align words
RISING, FALLING = ("similarity", "above_", "cosine", "aligned"), ("others_nearer", "left_over")


def features(width: int) -> np.ndarray:
    return np.random.default_rng(0).uniform(-0.2, 1.2, (2_000, width)).astype(np.float32)


@pytest.mark.parametrize("of_facts", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_a_higher_cosine_never_lowers_the_probability(kind: EncoderKind, of_facts: bool) -> None:
    model, none = load_facts_model(kind) if of_facts else load_model("boosted", kind), np.zeros(0, np.int64)
    assert (model.cosine, model.agreement, model.alignment) == (True, True, kind in ALIGNING[of_facts])
    names = tree_features(cosine=True, words_too=model.words_too, alignment=model.alignment)
    rising, falling = ([name.startswith(starts) for name in names] for starts in (RISING, FALLING))
    lower = np.asfortranarray(features(len(names) + of_facts))
    before = model.pairs.probability(lower, none)
    rounding = 1 / (1 + np.exp(-SETTLED[0]))  # settled pairs are not evaluated to the end
    changed = 0
    for step in (0.05, 0.3, 2.0):
        higher = lower.copy()
        higher[:, np.flatnonzero(rising)] += np.float32(step)
        higher[:, np.flatnonzero(falling)] -= np.float32(step)
        after = model.pairs.probability(higher, none)
        assert (after >= before - rounding).all()
        changed += np.count_nonzero(after > before + 0.1)
    assert changed > 50


@pytest.mark.parametrize("kind", KINDS)
def test_answers_without_neighbours_are_compared_by_words_alone(kind: EncoderKind) -> None:
    words = load_model("boosted", kind).words
    assert words is not None
    assert not words.cosine


@pytest.mark.parametrize("kind", [None, *KINDS])
def test_facts_are_also_compared_by_the_words_in_which_they_differ(kind: EncoderKind | None) -> None:
    model, none = load_facts_model(kind), np.zeros(0, np.int64)
    assert model.differences is not None
    assert (np.diff(model.differences.key.astype(object)) > 0).all()
    encoded = kind is not None
    names = tree_features(cosine=encoded, words_too=model.words_too, alignment=model.alignment)
    assert model.alignment == (kind in ALIGNING[True])
    table = np.column_stack([features(len(names))] * 2)
    table = np.asfortranarray(table[:, : table.shape[1] // 2 + 1])
    found = []
    for score in (-2, 0, 2):
        table[:, -1] = score
        found.append(model.pairs.probability(table, none))
    assert (np.diff(found, axis=0) > 0).all()


def test_weights_of_differences_need_boosted_trees() -> None:
    with pytest.raises(TypeError, match="after boosted trees"):
        with_differences(load_model("logistic"), DIFFERENCES.empty_table(), DifferencesFile(file="", bias=0, scale=1))


def test_log_odds_of_the_trees_are_scaled_and_the_score_of_differences_added() -> None:
    trees = load_model("boosted")
    stored = pa.table([np.array([7], np.uint64), np.array([0.5], np.float32)], schema=DIFFERENCES)
    both = with_differences(trees, stored, DifferencesFile(file="", bias=-1, scale=0.5))
    assert both.differences is not None
    assert both.differences.bias == -1
    table, none = features(len(tree_features())), np.zeros(0, np.int64)
    by_trees = trees.pairs.probability(np.asfortranarray(table), none)
    unsettled = np.abs(by_trees - 0.5) < 0.4
    more = np.asfortranarray(np.column_stack([table, np.full(len(table), 0.7, np.float32)]))
    odds = np.log(by_trees / (1 - by_trees))
    expected = 1 / (1 + np.exp(-(0.5 * odds + 0.7)))
    assert both.pairs.probability(more, none)[unsettled] == pytest.approx(expected[unsettled], abs=1e-6)


def test_a_method_without_weights_for_an_encoder_is_refused() -> None:
    with pytest.raises(QprError, match="--linkage logistic has no weights for an encoder"):
        load_model("logistic", "static")


def test_trees_read_the_features_that_they_name() -> None:
    lightgbm = pytest.importorskip("lightgbm")
    words = features(len(tree_features()))
    column = tree_features().index("similarity")
    table = np.stack([words[:, column], words[:, 0]], axis=1)
    options = {"objective": "binary", "num_threads": 1, "min_data_in_leaf": 5, "verbose": -1}
    names = ["similarity", "stems"]
    trees = lightgbm.train(options, lightgbm.Dataset(table, words[:, column] > 0.5, feature_name=names), 3)
    model = model_of_trees(trees.model_to_string(), TreesFile(kind="lightgbm", file="trees.txt", threshold=0.5))
    assert (model.agreement, model.cosine) == (True, False)
    found = model.pairs.probability(words, np.zeros(0, np.int64))
    assert found == pytest.approx(trees.predict(table), abs=1e-6)
    with pytest.raises(ValueError, match=f"pairs have 3 features; the trees compare {len(tree_features())}"):
        model.pairs.probability(features(3), np.zeros(0, np.int64))


def test_trees_of_unknown_features_are_refused() -> None:
    lightgbm = pytest.importorskip("lightgbm")
    table = np.random.default_rng(0).normal(size=(100, 1))
    data = lightgbm.Dataset(table, table[:, 0] > 0, feature_name=["length"])
    text = lightgbm.train({"objective": "binary", "verbose": -1}, data, 1).model_to_string()
    with pytest.raises(QprError, match="learned from other features than this version computes"):
        model_of_trees(text, TreesFile(kind="lightgbm", file="trees.txt", threshold=0.5))


def test_the_thresholds_are_the_documented_ones() -> None:
    document = (Path(__file__).parents[4] / "docs" / "clustering.md").read_text(encoding="utf-8")
    [table] = re.findall(r"\| log \| minimum mean probability of a cluster \|\n\|---\|---\|\n((?:\|.*\n)+)", document)
    large, facts, small = (row.split("|")[2] for row in table.splitlines())
    models, of_facts = (
        {kind: load(encoder=kind) for kind in (None, *KINDS)} for load in (load_model, load_facts_model)
    )
    assert facts.strip() == ", ".join(
        f"{name}{of_facts[kind].threshold:g}".replace("0.", ".")
        for kind, name in ((None, ""), ("static", "`static` "), ("st", "`st:FOLDER` "), ("model", "`FOLDER` "))
    )
    for kind, model in models.items():
        lowest, fewest = (0.8, 0.8) if kind == "st" else (0.45, 0.35)
        assert (model.threshold, model.threshold_of_small) == (lowest, fewest)
        assert f"{lowest:g}"[1:] in large
        assert f"{fewest:g}"[1:] in small
        assert f"{100 * (model.precision or 0):g} %" in large
