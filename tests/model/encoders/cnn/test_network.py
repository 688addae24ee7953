from __future__ import annotations

import itertools

import numpy as np
import pytest
import torch
from torch import nn

from model.encoders.cnn.inference import CnnEncoder
from model.encoders.cnn.network import QuestionEncoder, window_rows
from model.encoders.cnn.settings import CnnSettings
from model.encoders.config import ModelConfig
from model.encoders.network import weights_of
from model.encoders.saved_model import weight_shapes
from model.text.vocabulary import TokenIds, Vocabulary
from model.training.settings import TrainingSettings

SHAPE = CnnSettings(embedding_dimension=6, windows=(5,), channels=4, dimension=3)
TOKENS = 11


def ragged(*questions: list[int]) -> tuple[torch.Tensor, torch.Tensor]:
    lengths = [len(question) for question in questions]
    return torch.tensor(list(itertools.chain(*questions)), dtype=torch.int64), torch.tensor([0, *np.cumsum(lengths)])


def random_questions(count: int) -> list[list[int]]:
    random = np.random.default_rng(5)
    return [random.integers(0, TOKENS, random.integers(0, 13)).tolist() for _ in range(count)]


def reference(encoder: QuestionEncoder, questions: list[list[int]]) -> torch.Tensor:
    """The same network as `nn.functional.conv1d` on a padded batch."""
    longest = max(1, *map(len, questions))
    inside = torch.tensor([[place < max(len(q), 1) for place in range(longest)] for q in questions])
    embedded = torch.stack(
        [
            torch.cat([encoder.embedding.weight[q], encoder.embedding.weight.new_zeros(longest - len(q), 6)])
            for q in questions
        ]
    ).transpose(1, 2)
    pooled, bias = [], encoder.bias.chunk(len(encoder.windows))
    for width, kernel, own_bias in zip(encoder.windows, encoder.kernels, bias, strict=True):
        padded = nn.functional.pad(embedded, ((width - 1) // 2, width // 2))
        weight = kernel.view(6, width, -1).permute(2, 0, 1)
        convolved = torch.tanh(nn.functional.conv1d(padded, weight, own_bias))
        pooled.append(convolved.masked_fill(~inside[:, None], -torch.inf).amax(2))
    return encoder.projection(torch.cat(pooled, 1))


@pytest.mark.parametrize("windows", [(5,), (1,), (2,), (3, 4)])
@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float64, 1e-12), (torch.float32, 1e-5)])
def test_outputs_and_gradients_equal_a_padded_convolution(windows, dtype, tolerance):
    torch.manual_seed(1)
    encoder = QuestionEncoder(TOKENS, SHAPE.model_copy(update={"windows": windows})).to(dtype)
    nn.init.normal_(encoder.bias)
    questions = [*random_questions(20), [], [3], [4, 4, 4, 4, 4, 4, 4]]  # the last one has tied windows
    fast, slow = encoder(*ragged(*questions)), reference(encoder, questions)
    torch.testing.assert_close(fast, slow, atol=tolerance, rtol=0)
    weight = torch.randn_like(slow)
    gradients = [torch.autograd.grad((out * weight).sum(), list(encoder.parameters())) for out in (fast, slow)]
    for (name, _), ours, theirs in zip(encoder.named_parameters(), *gradients, strict=True):
        dense = ours.to_dense() if ours.is_sparse else ours
        torch.testing.assert_close(dense, theirs, atol=tolerance, rtol=0, msg=lambda text, name=name: f"{name}: {text}")


def test_gradients_agree_with_finite_differences():
    torch.manual_seed(2)
    encoder = QuestionEncoder(TOKENS, SHAPE).double()
    batch = ragged([1, 2, 3], [], [9], [4, 5, 6, 7, 8, 1])

    def output(kernel: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
        return torch.func.functional_call(encoder, {"kernels.0": kernel, "bias": bias}, batch)

    kernel, bias = encoder.kernels[0].detach().requires_grad_(), encoder.bias.detach().requires_grad_()
    assert torch.autograd.gradcheck(output, (kernel, bias))


def test_only_tokens_of_the_batch_have_an_embedding_gradient():
    encoder = QuestionEncoder(TOKENS, SHAPE)
    encoder(*ragged([7, 2, 7])).sum().backward()
    gradient = encoder.embedding.weight.grad
    assert gradient.is_sparse
    assert gradient.coalesce().indices().tolist() == [[2, 7]]


def test_longer_company_never_wins_a_maximum():
    encoder = QuestionEncoder(TOKENS, SHAPE)
    with torch.no_grad():
        encoder.kernels[0].fill_(-1)
        encoder.embedding.weight.fill_(1)  # every window is far below 0: a padded place would win
        alone = encoder(*ragged([1, 2]))
        company = encoder(*ragged([1, 2], [3] * 30))
    torch.testing.assert_close(company[:1], alone)


def test_an_empty_question_is_a_window_of_nothing():
    encoder = QuestionEncoder(TOKENS, SHAPE)
    nn.init.normal_(encoder.bias)
    expected = encoder.projection(torch.tanh(encoder.bias))
    torch.testing.assert_close(encoder(*ragged([], [1], []))[[0, 2]], expected.expand(2, -1))
    torch.testing.assert_close(encoder(*ragged([])), expected[None])


def test_window_rows_name_token_and_place():
    rows, starts, question = window_rows(torch.tensor([0, 1]), torch.tensor([0, 2, 2]), width=3)
    # windows (-, 0, 1), (0, 1, -) and one of nothing; token u at place k is row 3u + k
    assert rows.tolist() == [0 * 3 + 1, 1 * 3 + 2, 0 * 3 + 0, 1 * 3 + 1]
    assert starts.tolist() == [0, 2, 4]
    assert question.tolist() == [0, 0, 1]


@pytest.mark.parametrize("windows", [(5,), (3, 4)])
def test_the_numpy_encoder_gives_the_same_vectors(windows):
    shape = SHAPE.model_copy(update={"windows": windows})
    encoder = QuestionEncoder(TOKENS, shape)
    nn.init.normal_(encoder.bias)
    ids, offsets = ragged(*random_questions(60), [])
    vocabulary = Vocabulary((), hash_bins=TOKENS)
    numpy_encoder = CnnEncoder("", vocabulary, windows, weights_of(encoder))
    ours = numpy_encoder.encode_tokens(TokenIds(ids.numpy().astype(np.int32), offsets.numpy()))
    np.testing.assert_allclose(ours, encoder(ids, offsets).detach().numpy(), atol=1e-5)


def test_weights_have_the_names_and_shapes_a_saved_model_has():
    shape = SHAPE.model_copy(update={"windows": (2, 5)})
    config = ModelConfig(shape=shape, words=8, hash_bins=3, training=TrainingSettings().stored(), dataset_digest="")
    weights = weights_of(QuestionEncoder(TOKENS, shape))
    assert {name: weight.shape for name, weight in weights.items()} == weight_shapes(config)


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
def test_a_cuda_device_gives_the_same_vectors():
    encoder = QuestionEncoder(TOKENS, SHAPE)
    batch = ragged(*random_questions(30), [])
    expected = encoder(*batch)
    torch.testing.assert_close(encoder.cuda()(*(part.cuda() for part in batch)).cpu(), expected, atol=1e-5, rtol=0)
