import datetime

import pytest

from jobs.nightly.training import train_encoder
from jobs.options.encoder_training import EncoderTraining
from model.training.checkpoints.checkpoints import STATE
from schemas.artifacts.manifest import MANIFEST, read_manifest
from schemas.artifacts.writer import CHECKPOINTS
from schemas.errors import UnusableInputError
from schemas.versions.version import Artefact
from tests.support.small_versions import make_version

VERBS = ("pay", "cancel", "find")
SMALL = {"epochs": 1, "dimension": 16, "vocabulary_size": 200, "hash_bins": 50, "ngram_bins": 50}


@pytest.mark.parametrize("damaged", [False, True])
def test_a_night_starts_a_training_and_starts_over_where_no_checkpoint_can_be_used(
    make_training_data, tmp_path, capsys, damaged
):
    url = make_training_data(str(tmp_path / "datasets" / "d"), [("train", [f"{verb} it", verb]) for verb in VERBS])
    dataset = Artefact(path="datasets/d", digest=read_manifest(url, "dataset").digest)
    chosen = EncoderTraining.of_values(SMALL)

    def trained():
        return train_encoder(str(tmp_path), dataset, chosen, date=datetime.date(2026, 1, 1), parent=None)[0]

    model = trained()
    messages = capsys.readouterr().err
    assert "checkpoint" not in messages
    assert "trained before" not in messages
    if not damaged:
        assert trained() == model
        assert "it was trained before, from the same dataset with the same settings" in capsys.readouterr().err
        return
    folder = tmp_path / model.path
    (folder / MANIFEST).unlink()
    (folder / CHECKPOINTS / "r-000001").mkdir(parents=True)
    (folder / CHECKPOINTS / "r-000001" / STATE).write_text("{}")
    assert trained() == model
    assert "no checkpoint is whole. The training starts over" in capsys.readouterr().err
    assert not (folder / CHECKPOINTS).exists()


@pytest.mark.parametrize("is_first", [False, True])
def test_a_night_with_nothing_to_learn_from_names_the_rule_that_keeps_the_encoder(
    make_training_data, tmp_path, is_first
):
    url = make_training_data(str(tmp_path / "datasets" / "d"), [("train", ["pay it", "pay"])])
    dataset = Artefact(path="datasets/d", digest=read_manifest(url, "dataset").digest)
    date, chosen = datetime.date(2026, 1, 9), EncoderTraining.of_values(SMALL)
    before = None
    if not is_first:
        pairs = [("train", [f"{verb} it", verb]) for verb in VERBS]
        older = make_training_data(str(tmp_path / "datasets" / "older"), pairs)
        learned = Artefact(path="datasets/older", digest=read_manifest(older, "dataset").digest)
        model, trained = train_encoder(str(tmp_path), learned, chosen, date=datetime.date(2026, 1, 1), parent=None)
        before = make_version(str(tmp_path), "one").model_copy(update={"model": model, "trained": trained})
    with pytest.raises(UnusableInputError, match="no negatives to learn from") as error:
        train_encoder(str(tmp_path), dataset, chosen, date=date, parent=before)
    assert str(error.value).endswith("keep the encoder of 2026-01-01 by --retrain never") is not is_first
