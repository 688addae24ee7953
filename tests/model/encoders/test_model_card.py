from __future__ import annotations

import pytest

from model.encoders.cnn.settings import CnnSettings
from model.encoders.config import ModelConfig
from model.encoders.model_card import card
from model.encoders.subword.settings import SubwordSettings
from model.encoders.transformer.settings import TransformerSettings
from model.losses.multiple_negatives import MultipleNegativesRankingLoss
from model.losses.sdml import SDMLLoss
from model.training.settings import TrainingSettings
from schemas.artifacts.manifest import Source

SETTINGS = TrainingSettings(loss=SDMLLoss(distance="euclidean", smoothing=0.125))
CONFIG = ModelConfig(
    shape=CnnSettings(dimension=20, windows=(3, 5)),
    words=12_345,
    hash_bins=6,
    training=SETTINGS.stored(),
    dataset_digest="abc123",
)


def page_of(config=CONFIG, settings=SETTINGS, **given):
    required = {"dataset_url": "d", "data": {}, "metrics": {}}
    return card(config, training=settings.flat(), loss=settings.loss.reference, **(required | given))


def test_card_names_data_settings_and_what_was_measured():
    page = page_of(dataset_url="s3://logs/day", data={"train_pairs": 98_765}, metrics={"auc": 0.98765, "loss": None})
    assert "Dataset `s3://logs/day`, digest `abc123`." in page
    for line in ["train pairs | 98,765", "auc | 0.9877", "loss | none", "windows | 3, 5", "smoothing | 0.125"]:
        assert f"| {line} |" in page
    assert "into 20 numbers" in page
    assert "by their euclidean distance" in page
    assert "12,345 words have" in page
    assert "ROC AUC: how often a validation pair is closer" in page
    assert "window of 3 or 5 words" in page


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("/home/alice/logs/day", "day"),
        ("file:///home/alice/day/", "day"),
        ("st:/home/alice/mini", "st:mini"),
        ("s3://logs/day", "s3://logs/day"),
        ("../day", "../day"),
    ],
)
def test_card_has_no_absolute_path_of_its_makers_machine(url, shown):
    source = Source(url=url, digest="def456")
    page = page_of(dataset_url=url, begun_from=source, taught_by=source)
    assert page.count(f"`{shown}`") == 3
    assert "alice" not in page


def test_card_of_a_subword_encoder_describes_no_windows():
    settings = TrainingSettings(loss=MultipleNegativesRankingLoss())
    config = CONFIG.model_copy(update={"encoder": "subword", "shape": SubwordSettings()})
    page = page_of(config, settings)
    assert "into 256 numbers" in page
    assert "character n-grams" in page
    assert "multiple-negatives ranking" in page
    assert "Word order does not count at all;" in page
    assert "| linear decay | no |" in page
    assert "windows" not in page
    assert all(len(line) <= 120 for line in page.splitlines())


def test_card_of_a_transformer_describes_its_origin_and_no_table_of_words():
    shape = TransformerSettings(
        transformer_from="models/mini", transformer_digest="def", transformer_licence="mit", dimension=384
    )
    update = {"encoder": "transformer", "shape": shape, "words": 0, "hash_bins": 0}
    page = page_of(CONFIG.model_copy(update=update))
    assert "into 384 numbers" in page
    assert "model in `models/mini` (licence as its README states it:\nmit; digest `def`)" in page
    assert "* It knows the language, the subjects and the wording of its data.\n" in page
    update["shape"] = shape.model_copy(update={"transformer_from": "/home/alice/mini"})
    assert "alice" not in page_of(CONFIG.model_copy(update=update))
    assert "case and punctuation count as its start counted them;" in page
    for absent in ("{", "vocabulary size", "hash bins", "dropout", "embedding of their own", "without a word"):
        assert absent not in page
    assert all(len(line) <= 120 for line in page.splitlines())


def test_card_is_plain_markdown_without_leftover_fields():
    page = page_of()
    assert "{" not in page
    assert page.startswith("# ")
    assert all(len(line) <= 120 for line in page.splitlines())


def test_card_describes_the_model_that_the_weights_are_from():
    page = page_of(begun_from=Source(url="s3://old", digest="def456"))
    assert "* Begun with the weights of the model `s3://old`, digest `def456`." in page.splitlines()
    assert "Begun" not in page_of()
