import pytest

from model.encoders.cnn.settings import CnnSettings
from model.encoders.subword.settings import SubwordSettings
from model.training.model_size import FEW_QUESTIONS, size_warning
from model.training.presets import DEFAULT


def test_few_questions_and_large_tables_are_worth_a_warning():
    # (131,072 + 65,536) rows of 256 numbers of 2 bytes
    warning = size_warning(SubwordSettings(), DEFAULT, questions=24)
    assert warning.startswith("101 MB of the model are tables shared by rare words and n-grams, large for 24 train")
    assert warning.endswith("--ngram-bins 8192 --hash-bins 4096 make them 6 MB")


@pytest.mark.parametrize(
    ("shape", "settings", "questions"),
    [
        (SubwordSettings(), DEFAULT, FEW_QUESTIONS),
        (SubwordSettings(ngram_bins=8192), DEFAULT.model_copy(update={"hash_bins": 4096}), 24),
        (CnnSettings(), DEFAULT, 24),
    ],
)
def test_many_questions_or_small_tables_are_not(shape, settings, questions):
    assert size_warning(shape, settings, questions=questions) is None


def test_rows_for_pairs_of_words_stay_and_are_no_reason_for_a_warning():
    # 131,072 rows of 256 numbers of 2 bytes more, whatever the other tables have
    warning = size_warning(SubwordSettings(bigram_bins=131_072), DEFAULT, questions=24)
    assert warning.startswith("168 MB")
    assert warning.endswith("make them 73 MB")
    followed = SubwordSettings(ngram_bins=8192, bigram_bins=131_072)
    assert size_warning(followed, DEFAULT.model_copy(update={"hash_bins": 4096}), questions=24) is None
