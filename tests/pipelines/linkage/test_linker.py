import dataclasses
import json
import pickle

import numpy as np
import pydantic
import pytest

from pipelines.linkage.comparison.compare import Questions
from pipelines.linkage.linker import Linker, compares_words_too, read_linker
from pipelines.linkage.scoring.pair_model import LinkModel
from pipelines.linkage.scoring.shipped_weights import load_facts_model, load_model
from pipelines.linkage.settings import Linking
from pipelines.linkage.split_answers import link
from pipelines.linkage.standings import LogAgreement
from pipelines.linkage.witnesses import evidence_among
from pipelines.questions.token_frequencies import count_tokens
from schemas.errors import QprError

ANSWER = ["how do i pay my bill", "how can i pay my bill", "when do you open in the morning"]


class CosineAlone:
    def probability(self, features, answers):
        assert len(answers) == len(features)
        return features[:, -1]


@pytest.fixture
def members(members_of):
    return members_of(ANSWER)


@pytest.fixture
def weights(members):
    return count_tokens(members["token_ids"])


def test_weights_that_ship_split_an_answer_and_a_threshold_can_be_chosen(members, weights):
    linker = read_linker(Linking())
    assert linker.model.threshold == load_model("boosted").threshold
    assert np.array_equal(
        linker(members, weights).group, link(Questions(members, weights), load_model("boosted")).group
    )
    strict = read_linker(Linking(min_probability=1.0))
    assert (strict.model.threshold, strict.model.least_of_two) == (1.0, 1.0)
    assert len(set(strict(members, weights).group.tolist())) == 3


def test_the_threshold_of_a_log_is_that_of_its_size_or_the_one_that_was_chosen(weights):
    linker, log = read_linker(Linking()), LogAgreement()
    assert linker.threshold_of(weights, log, None) == linker.model.threshold_of_small
    large = dataclasses.replace(weights, questions=100_000)
    assert linker.threshold_of(large, log, None) == linker.model.threshold
    assert linker.threshold_of(large, log, 0.6) == 0.6
    assert read_linker(Linking(min_probability=0.7)).threshold_of(large, log, None) == 0.7
    of_facts = dataclasses.replace(large, frequencies=np.full(50_000, 2))
    assert linker.threshold_of(of_facts, LogAgreement(1_000, 100), 0.6) == load_facts_model().threshold


def test_a_model_with_the_cosine_gets_the_vectors_of_the_texts(members, weights):
    seen = []

    def encode(texts):
        seen.extend(texts.to_pylist())
        return np.array([[1.0, 0.0] if "open" in text or "can" in text else [0.0, 1.0] for text in seen])

    linker = Linker(LinkModel(CosineAlone(), 0.5, cosine=True), encode)
    group = linker(members, weights).group
    text = members["text"].to_pylist()
    assert seen == text
    together = {text[i] for i in range(3) if group[i] == group[text.index(ANSWER[2])]}
    assert together == {ANSWER[1], ANSWER[2]}
    with pytest.raises(ValueError, match="needs the encoder"):
        Linker(LinkModel(CosineAlone(), 0.5, cosine=True))(members, weights)


def one_vector(texts):
    """Return the same vector for all texts, as an encoder does without an embedding of any of their words."""
    return np.ones((len(texts), 8))


def test_texts_with_one_vector_are_split_as_by_words(members_of):
    subjects = ["счёт", "пароль", "адрес", "заказ", "тариф", "договор", "билет", "кабель"]
    answers = [[f"как изменить мой {one}", f"как мне изменить {one}", f"можно изменить мой {one}"] for one in subjects]
    members = members_of(*answers)
    weights = count_tokens(members["token_ids"])
    linker = read_linker(Linking(encoder="0" * 64, encoder_kind="static"), one_vector)
    assert linker.model.words_too
    found = linker(members, weights).group
    assert len(np.unique(found)) == len(subjects)
    assert np.array_equal(found, read_linker(Linking())(members, weights).group)
    by_vectors_alone = evidence_among(members, weights, one_vector)
    with pytest.raises(ValueError, match="needs both"):
        linker(members, weights, by_vectors_alone)


@pytest.mark.parametrize(("kind", "both"), [(None, False), ("static", True), ("model", True), ("st", True)])
def test_weights_of_encoders_compare_words_beside_vectors(kind, both):
    assert compares_words_too(Linking(encoder_kind=kind)) == both
    assert not compares_words_too(Linking(method="none", encoder_kind=kind))


def test_an_answer_without_others_is_compared_by_words_alone(members, weights):
    linker = read_linker(Linking(encoder="0" * 64, encoder_kind="static"), lambda texts: np.ones((len(texts), 3)))
    assert np.array_equal(linker(members, weights).group, link(Questions(members, weights), load_model().words).group)


@pytest.mark.parametrize("asked", [None, 0.4])
def test_shipped_weights_are_read_once_in_a_process_and_sent_to_no_step(asked):
    linker = read_linker(Linking(min_probability=asked))
    sent = pickle.dumps(linker)
    assert len(sent) < 2_000
    received = pickle.loads(sent)
    assert received == linker
    assert received.model is linker.model


def test_other_weights_are_sent():
    linker = read_linker(Linking())
    changed = dataclasses.replace(linker, model=linker.model.with_threshold(0.4))
    assert pickle.loads(pickle.dumps(changed)).model.threshold == 0.4
    learned = Linker(LinkModel(CosineAlone(), 0.3))
    assert pickle.loads(pickle.dumps(learned)).model.threshold == 0.3


def test_given_weights_are_used_and_those_for_other_features_refused():
    given = {"kind": "logistic", "cosine": False, "features": ["one"], "threshold": 0.5}
    linking = Linking(method="logistic", weights="0" * 64, weights_json=json.dumps(given))
    with pytest.raises(QprError, match="learned from other features"):
        read_linker(linking)


def test_the_weights_themselves_stay_out_of_what_is_written_down():
    linking = Linking(weights="ab", weights_json="{}")
    others = {"method": "boosted", "min_probability": None, "answers": "auto", "encoder": None, "encoder_kind": None}
    assert linking.model_dump() == others | {"weights": "ab"}


def test_a_method_that_learns_from_the_log_has_no_weights():
    with pytest.raises(ValueError, match="no weights to read"):
        read_linker(Linking(method="fellegi-sunter"))


@pytest.mark.parametrize("wrong", [{"method": "magic"}, {"min_probability": 0}, {"min_probability": 1.1}, {"x": 1}])
def test_a_way_to_link_that_makes_no_sense_is_refused(wrong):
    with pytest.raises(pydantic.ValidationError):
        Linking(**wrong)
