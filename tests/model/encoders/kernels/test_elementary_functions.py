import pyarrow as pa
import pytest
from torch.utils._python_dispatch import TorchDispatchMode

from model.encoders.cnn.settings import CnnSettings
from model.encoders.subword.settings import SubwordSettings
from model.encoders.transformer.inference import TransformerEncoder
from model.training.encoder_training import train
from model.training.settings import TrainingSettings
from model.training.training_pairs import index_pairs
from schemas.tables import PAIRS

OF_MKL = {"acos", "asin", "atan", "cos", "erf", "exp", "log", "log10", "log2", "log_softmax", "logsumexp", "sin"}
OF_MKL |= {"sqrt", "tan", "tanh"}
ROWS = [(1, "pay the bill", 2, "how to pay bills", 1), (3, "find a flight", 4, "flights please", 2)]
TWO_PAIRS = index_pairs(pa.table(list(zip(*ROWS, strict=True)), schema=PAIRS))


class Sizes(TorchDispatchMode):
    """Remembers how many numbers each call of an elementary function was given."""

    def __init__(self):
        super().__init__()
        self.seen = []

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        if func.overloadpacket.__name__.strip("_") in OF_MKL:
            self.seen.append(args[0].numel())
        return func(*args, **(kwargs or {}))


@pytest.mark.parametrize("shape", [SubwordSettings(dimension=8, ngram_bins=20), CnnSettings(dimension=8)])
def test_before_a_training_one_thread_calls_a_function_alone(shape):
    with Sizes() as sizes:
        train(TWO_PAIRS, TWO_PAIRS, shape=shape, settings=TrainingSettings(epochs=1))
    assert sizes.seen[0] == 1 < max(sizes.seen)  # one number is never divided between threads


def test_before_a_transformer_encodes_one_thread_calls_a_function_alone(tiny_sentences):
    with Sizes() as sizes:
        TransformerEncoder("", f"st:{tiny_sentences}").encode(["pay", "find"])
    assert sizes.seen[0] == 1
