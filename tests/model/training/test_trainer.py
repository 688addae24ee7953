from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
import torch

from model.encoders.cnn.inference import CnnEncoder
from model.encoders.cnn.settings import CnnSettings
from model.encoders.subword.settings import SubwordSettings
from model.losses.multiple_negatives import MultipleNegativesRankingLoss
from model.losses.registry import LOSSES
from model.losses.sdml import SDMLLoss
from model.training.batching import epoch_batches
from model.training.checkpoints.checkpoints import Checkpoints
from model.training.encoder_training import train
from model.training.pairs import pair_objective
from model.training.pairs.validation_auc import sample_non_pairs, validation_auc
from model.training.settings import TrainingSettings
from model.training.trainer import Step
from model.training.training_pairs import index_pairs
from schemas.errors import QprError
from schemas.tables import PAIRS

SHAPE = CnnSettings(embedding_dimension=16, windows=(3,), channels=16, dimension=8)
SETTINGS = TrainingSettings(epochs=4, batch_size=16, learning_rate=0.01, vocabulary_size=100, hash_bins=5)
THINGS = ["bill", "rent", "card", "flight", "train", "hotel"]


def pairs_about(verbs: list[str], *, offset: int = 0):
    """Three wordings of each verb and thing; the two must both be right."""
    rows = []
    for number, (verb, thing) in enumerate(((v, t) for v in verbs for t in THINGS), start=offset):
        texts = [f"how do i {verb} my {thing}", f"{verb} {thing} please", f"i want to {verb} the {thing}"]
        ids = [number * 3 + i for i in range(3)]
        rows += [(ids[i], texts[i], ids[j], texts[j], number) for i, j in [(0, 1), (0, 2), (1, 2)]]
    return index_pairs(pa.table(list(zip(*rows, strict=True)), schema=PAIRS))


TRAIN = pairs_about(["pay", "cancel", "find", "change", "lose"])
VALIDATION = pairs_about(["pay", "find"], offset=100)
NOTHING = index_pairs(PAIRS.empty_table())


def test_training_lowers_the_loss_and_separates_validation_pairs():
    trained = train(TRAIN, VALIDATION, shape=SHAPE, settings=SETTINGS)
    assert trained.epochs[-1].loss < 0.5 * trained.epochs[0].loss
    assert trained.best.auc > 0.9
    assert trained.best.auc == max(epoch.auc for epoch in trained.epochs)


def test_the_weights_are_those_of_the_best_epoch():
    trained = train(TRAIN, VALIDATION, shape=SHAPE, settings=SETTINGS)
    encoder = CnnEncoder("", trained.vocabulary, SHAPE.windows, trained.weights)
    vectors = encoder.encode_tokens(trained.vocabulary.ids(VALIDATION.keys))
    measured = validation_auc(vectors, VALIDATION, sample_non_pairs(VALIDATION, seed=SETTINGS.seed))
    assert measured == pytest.approx(trained.best.auc, abs=1e-3)


def test_equal_input_gives_equal_weights_and_another_seed_others():
    first, again = (train(TRAIN, VALIDATION, shape=SHAPE, settings=SETTINGS) for _ in range(2))
    other = train(TRAIN, VALIDATION, shape=SHAPE, settings=SETTINGS.model_copy(update={"seed": 1}))
    assert all((first.weights[name] == again.weights[name]).all() for name in first.weights)
    assert [e.loss for e in first.epochs] == [e.loss for e in again.epochs]
    assert (first.weights["kernels.0"] != other.weights["kernels.0"]).any()


def test_training_leaves_the_global_random_state_alone():
    state = torch.get_rng_state()
    train(TRAIN, NOTHING, shape=SHAPE, settings=SETTINGS.model_copy(update={"epochs": 1}))
    assert torch.equal(torch.get_rng_state(), state)


def judged_by(monkeypatch, scores):
    remaining = iter(scores)
    monkeypatch.setattr(pair_objective, "validation_auc", lambda *_: next(remaining))


@pytest.mark.parametrize(
    ("scores", "ran", "best"),
    [
        ([0.5, 0.7, 0.6, 0.7, 0.9], 4, 2),  # two epochs no better than 0.7; as good is not better
        ([0.5, 0.7, 0.6, 0.8, 0.7], 5, 4),  # epochs run out first
        ([0.0, 0.0, 0.0], 3, 1),
    ],
)
def test_it_stops_after_patience_epochs_without_a_better_auc(monkeypatch, scores, ran, best):
    judged_by(monkeypatch, scores)
    said: list[str] = []
    settings = SETTINGS.model_copy(update={"epochs": 5, "patience": 2})
    trained = train(TRAIN, VALIDATION, shape=SHAPE, settings=settings, inform=said.append)
    assert (len(trained.epochs), trained.best.epoch) == (ran, best)
    assert any("stopped" in line for line in said) == (ran < 5)


def test_without_validation_pairs_all_epochs_run_and_the_last_is_kept():
    said: list[str] = []
    settings = SETTINGS.model_copy(update={"epochs": 4, "patience": 1})
    trained = train(TRAIN, NOTHING, shape=SHAPE, settings=settings, inform=said.append)
    assert [epoch.auc for epoch in trained.epochs] == [None] * 4
    assert trained.best.epoch == 4
    assert "no validation pairs" in said[0]


def test_steps_are_reported():
    steps: list[Step] = []
    train(TRAIN, NOTHING, shape=SHAPE, settings=SETTINGS.model_copy(update={"epochs": 2}), on_step=steps.append)
    # 5 verbs * 6 things * 3 pairs = 90 pairs: 5 batches of 16 and one of 10
    assert [(s.epoch, s.step, s.steps) for s in steps] == [(e, s, 6) for e in (1, 2) for s in range(1, 7)]
    assert all(s.loss > 0 and s.pairs_per_s > 0 for s in steps)


def test_a_batch_larger_than_the_data_is_reduced_and_reported():
    said: list[str] = []
    steps: list[Step] = []
    settings = SETTINGS.model_copy(update={"batch_size": 512, "epochs": 1})
    train(TRAIN, VALIDATION, shape=SHAPE, settings=settings, inform=said.append, on_step=steps.append)
    assert said[0] == "batch size reduced from 512 to 90, the number of train pairs"
    assert len(steps) == 1


def test_a_loss_that_is_no_number_stops_with_epoch_and_step():
    with pytest.raises(QprError, match=r"epoch 1, step \d: the loss is (nan|inf).*--learning-rate"):
        train(TRAIN, NOTHING, shape=SHAPE, settings=SETTINGS.model_copy(update={"learning_rate": 1e30}))


def test_questions_without_a_known_word_are_an_error_only_without_bins():
    wordless = index_pairs(pa.table([[1, 3], ["#", "%"], [2, 4], ["&", "@"], [0, 1]], schema=PAIRS))
    with pytest.raises(QprError, match="no train question has a word"):
        train(wordless, NOTHING, shape=SHAPE, settings=SETTINGS.model_copy(update={"hash_bins": 0}))
    trained = train(wordless, NOTHING, shape=SHAPE, settings=SETTINGS.model_copy(update={"epochs": 1}))
    assert np.isfinite(trained.epochs[0].loss)


@pytest.mark.parametrize("device", ["no-such-device", "meta:x", "meta", "cuda:99"])
def test_a_device_that_is_not_there_is_an_error(device):
    with pytest.raises(QprError, match=f"device {device}.*--device cpu"):
        train(TRAIN, NOTHING, shape=SHAPE, settings=SETTINGS, device=device)


def test_the_euclidean_distance_trains_too():
    trained = train(
        TRAIN, VALIDATION, shape=SHAPE, settings=SETTINGS.model_copy(update={"loss": SDMLLoss(distance="euclidean")})
    )
    assert trained.epochs[-1].loss < trained.epochs[0].loss


BAG = SubwordSettings(dimension=8, ngram_bins=200)
RANKING = SETTINGS.model_copy(
    update={"loss": MultipleNegativesRankingLoss(), "pairs_per_cluster": 2, "linear_decay": True, "dropout": 0.3}
)


def test_the_subword_encoder_learns_and_a_seed_repeats():
    first, again = (train(TRAIN, VALIDATION, shape=BAG, settings=RANKING) for _ in range(2))
    assert first.epochs[-1].loss < 0.9 * first.epochs[0].loss
    assert first.best.auc > 0.9
    assert (first.weights["embedding.weight"] == again.weights["embedding.weight"]).all()
    other = train(TRAIN, VALIDATION, shape=BAG, settings=RANKING.model_copy(update={"seed": 1}))
    assert (first.weights["embedding.weight"] != other.weights["embedding.weight"]).any()


def test_with_linear_decay_all_epochs_run_and_the_last_is_kept(monkeypatch):
    judged_by(monkeypatch, [0.9, 0.8, 0.7, 0.6])
    trained = train(TRAIN, VALIDATION, shape=BAG, settings=RANKING.model_copy(update={"patience": 1}))
    assert (len(trained.epochs), trained.best.epoch) == (4, 4)


def test_the_learning_rate_falls_to_its_last_step(monkeypatch):
    rates = []
    step = torch.optim.SparseAdam.step
    monkeypatch.setattr(
        torch.optim.SparseAdam, "step", lambda self: (rates.append(self.param_groups[0]["lr"]), step(self))[1]
    )
    train(TRAIN, NOTHING, shape=BAG, settings=RANKING.model_copy(update={"epochs": 2}))
    # 30 clusters, 2 pairs of each: 60 pairs in 4 batches of 15, twice; from 0.01 in eighths
    np.testing.assert_allclose(rates, [0.01 * (8 - done) / 8 for done in range(8)])


def test_drawn_pairs_are_counted_and_differ_from_epoch_to_epoch():
    settings = RANKING.model_copy(update={"epochs": 2})
    first, second = (np.concatenate([*epoch_batches(TRAIN, settings, epoch=epoch)]) for epoch in (1, 2))
    assert len(first) == len(second) == 60
    assert set(first.tolist()) != set(second.tolist())
    steps: list[Step] = []
    train(TRAIN, NOTHING, shape=BAG, settings=settings, on_step=steps.append)
    assert [(s.epoch, s.step, s.steps) for s in steps] == [(e, s, 4) for e in (1, 2) for s in range(1, 5)]


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("shape", [SHAPE, BAG], ids=["cnn", "subword"])
def test_weights_that_are_no_numbers_end_a_training(shape, loss):
    settings = TrainingSettings(loss=loss, epochs=1, batch_size=16, learning_rate=1e30, linear_decay=True)
    with pytest.raises(QprError, match=r"epoch 1, step \d.*Lower --learning-rate"):
        train(TRAIN, VALIDATION, shape=shape, settings=settings)


def test_weights_that_are_numbers_but_not_at_half_precision_end_a_training_with_a_finite_loss():
    steps: list[Step] = []
    settings = RANKING.model_copy(update={"epochs": 2, "learning_rate": 1e5})
    with pytest.raises(QprError, match=r"epoch 1, step 4: embedding.weight is not finite as float16 \(-\d"):
        train(TRAIN, VALIDATION, shape=BAG, settings=settings, on_step=steps.append)
    assert len(steps) == 4
    assert np.isfinite([step.loss for step in steps]).all()


def test_no_checkpoint_holds_weights_that_cannot_be_stored(memory):
    checkpoints = Checkpoints(f"{memory}/c", run_id="1", identity={}, every_minutes=1e-9)
    settings = RANKING.model_copy(update={"epochs": 1, "learning_rate": 1e5})
    with pytest.raises(QprError, match=r"epoch 1, step 1: embedding.weight is not finite as float16"):
        train(TRAIN, VALIDATION, shape=BAG, settings=settings, checkpoints=checkpoints)
    assert checkpoints.place == ""


@pytest.mark.parametrize("loss", ["sdml", "multiple_negatives"])
def test_chunks_learn_what_whole_batches_do(loss):
    settings = SETTINGS.model_copy(update={"loss": LOSSES[loss](), "epochs": 2})
    whole, chunks = (
        train(TRAIN, VALIDATION, shape=SHAPE, settings=settings.model_copy(update={"chunk_size": size}))
        for size in (0, 5)
    )
    assert [epoch.loss for epoch in chunks.epochs] == pytest.approx([epoch.loss for epoch in whole.epochs], rel=1e-3)


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
def test_a_cuda_device_trains():
    trained = train(TRAIN, VALIDATION, shape=SHAPE, settings=SETTINGS, device="cuda")
    assert trained.epochs[-1].loss < 0.5 * trained.epochs[0].loss
