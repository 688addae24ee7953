"""An encoder and a loss that no module names: what CONTRIBUTING says of new ones is enough."""

from __future__ import annotations

import dataclasses
import json

import numpy as np
import pydantic
import pytest
import typer
from torch import nn
from typer.testing import CliRunner

from jobs.options.encoder_training import EncoderTraining
from jobs.options.from_settings import with_settings
from jobs.options.training_run import TrainTerms
from jobs.workflows.training.encoder_training import run_training
from model.encoders.device_tokens import DeviceTokens
from model.encoders.interface import Encoder
from model.encoders.kind import EncoderKind, Shape
from model.encoders.loading import load_encoder
from model.encoders.network import Network
from model.encoders.registry import KINDS
from model.encoders.subword.settings import SubwordSettings
from model.encoders.token_store import token_ids
from model.losses.interface import Loss, Margin
from model.losses.registry import LOSSES
from model.text.vocabulary import Vocabulary
from model.training.settings import TrainingSettings
from schemas.artifacts.dataset import open_dataset
from schemas.artifacts.writer import Output
from schemas.text_arrays import key_all

TERMS = TrainTerms(device="cpu", checkpoint_every=0)
SMALL = {"epochs": 2, "batch_size": 6, "learning_rate": 0.05, "vocabulary_size": 50, "hash_bins": 5}
CLUSTERS = [
    (split, [f"how do i {verb} my {thing}", f"{verb} {thing} please", f"{verb} the {thing}"])
    for split, verbs in {"train": ("pay", "find", "lose"), "validation": ("cancel",), "test": ("renew",)}.items()
    for verb in verbs
    for thing in ("bill", "card", "flight")
]


class MeanSettings(Shape, frozen=True):
    """Settings of the toy."""

    dimension: int = pydantic.Field(default=8, ge=1, description="Length of a question's vector.")
    gain: float = pydantic.Field(default=1.0, gt=0, description="Factor of every vector.")


class MeanNetwork(Network):
    """The mean of a question's rows, to be trained."""

    def __init__(self, vocabulary, shape):
        super().__init__()
        self.vocabulary, self.gain = vocabulary, shape.gain
        self.body = nn.EmbeddingBag(len(vocabulary), shape.dimension, mode="mean")

    def read(self, texts):
        return DeviceTokens.of(token_ids(self.vocabulary, key_all(texts)), self.body.weight.device)

    def forward(self, inputs):
        return self.gain * self.body(inputs.ids, inputs.offsets[:-1])


@dataclasses.dataclass(frozen=True, repr=False)
class MeanEncoder(Encoder):
    """The mean of a question's rows, with numpy alone."""

    vocabulary: Vocabulary
    table: np.ndarray
    gain: float

    @property
    def dimension(self):
        return self.table.shape[1]

    def encode_keys(self, keys):
        tokens = self.vocabulary.ids(keys)
        runs = (tokens.ids[start:end] for start, end in zip(tokens.offsets, tokens.offsets[1:], strict=False))
        means = [self.table[run].mean(axis=0) if len(run) else np.zeros(self.dimension) for run in runs]
        return np.asarray(means, np.float32).reshape(len(keys), self.dimension) * np.float32(self.gain)


class MeanKind(EncoderKind[MeanSettings]):
    """All that the rest of the code gets to know of the toy."""

    name = "mean"
    title = "The mean of word vectors"
    settings = MeanSettings
    unused = frozenset({"dropout"})

    def network(self, vocabulary, shape, *, dropout, seed):
        return MeanNetwork(vocabulary, shape)

    def weights(self, shape, tokens):
        return {"weight": (tokens, shape.dimension)}

    def encoder(self, shape, parts, *, name):
        return MeanEncoder(parts.manifest.digest, parts.vocabulary, parts.weights["weight"], shape.gain)

    def word_order(self, shape):
        return "Word order does not count at all"


class HalfspaceLoss(Loss, frozen=True):
    """The toy loss: the dot product of a pair must exceed a margin."""

    name = "halfspace"
    reference = "the toy loss of a test"

    margin: Margin = 2.0

    def batch_loss(self, anchors, positives, known):
        return (self.margin - (anchors * positives).sum(dim=1)).relu().mean()


@pytest.fixture
def dataset(memory, make_training_data):
    return make_training_data(f"{memory}/d", CLUSTERS)


def train(dataset, url, *, shape, settings):
    with Output(url, "model", overwrite=False) as output:
        return run_training(open_dataset(dataset), output, shape=shape, settings=settings, terms=TERMS)


@pytest.mark.slow
def test_a_new_kind_of_encoder_is_trained_saved_loaded_indexed_and_searched(qpr, memory, dataset, monkeypatch):
    monkeypatch.setitem(KINDS, MeanKind.name, MeanKind())
    shape = MeanSettings(gain=2.0)
    result = train(dataset, f"{memory}/m", shape=shape, settings=TrainingSettings(**SMALL))
    assert result["epochs"] == 2
    encoder = load_encoder(f"{memory}/m")
    assert isinstance(encoder, MeanEncoder)
    assert encoder.encode(["pay my bill", ""]).shape == (2, 8)
    index = ("index", "--questions", dataset, "--model", f"{memory}/m", "--output", f"{memory}/i")
    assert qpr(*index).code == 0
    found = qpr("search", "--index", f"{memory}/i", "--k", 1, "--json", "--", "renew the flight")
    assert json.loads(found.out)["hits"][0]["text"] == "renew the flight"
    again = train(dataset, f"{memory}/m2", shape=shape, settings=TrainingSettings(**SMALL))
    assert again["loss"] == result["loss"]


def test_a_new_kind_and_a_new_loss_are_on_the_command_line(monkeypatch):
    monkeypatch.setitem(KINDS, MeanKind.name, MeanKind())
    monkeypatch.setitem(LOSSES, HalfspaceLoss.name, HalfspaceLoss)
    received = []

    def command(settings):
        received.append(settings)

    command.__annotations__ = {"settings": EncoderTraining}
    app = typer.Typer(rich_markup_mode=None)
    app.command()(with_settings(command))
    words = ["--encoder", "mean", "--gain", "3", "--loss", "halfspace", "--margin", "4"]
    assert CliRunner().invoke(app, words).exit_code == 0
    assert received[0].shape == MeanSettings(gain=3.0)
    assert received[0].training.loss == HalfspaceLoss(margin=4.0)
    refused = CliRunner().invoke(app, ["--gain", "3"]).exception
    assert str(refused) == "--gain is no option of --encoder subword. Leave it out"


def test_a_new_loss_trains_and_is_recorded(memory, dataset, monkeypatch):
    monkeypatch.setitem(LOSSES, HalfspaceLoss.name, HalfspaceLoss)
    settings = TrainingSettings(**SMALL, loss={"name": "halfspace", "margin": 3.0})
    assert settings.loss == HalfspaceLoss(margin=3.0)
    shape = SubwordSettings(dimension=8, ngram_bins=100)
    assert train(dataset, f"{memory}/m", shape=shape, settings=settings)["loss"] < 3
    with pytest.raises(pydantic.ValidationError, match="smoothing"):
        TrainingSettings(loss={"name": "halfspace", "smoothing": 0.1})
