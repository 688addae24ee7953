import datetime

import pytest

from jobs.nightly.training import train_encoder
from jobs.options.encoder_training import EncoderTraining
from model.training.checkpoints.checkpoints import STATE
from schemas.artifacts.manifest import MANIFEST, read_manifest
from schemas.artifacts.writer import CHECKPOINTS
from schemas.versions.version import Artefact

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
    assert "checkpoint" not in capsys.readouterr().err
    if not damaged:
        return
    folder = tmp_path / model.path
    (folder / MANIFEST).unlink()
    (folder / CHECKPOINTS / "r-000001").mkdir(parents=True)
    (folder / CHECKPOINTS / "r-000001" / STATE).write_text("{}")
    assert trained() == model
    assert "no checkpoint is whole. The training starts over" in capsys.readouterr().err
    assert not (folder / CHECKPOINTS).exists()
