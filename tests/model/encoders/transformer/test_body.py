from __future__ import annotations

import types

import numpy as np
import pytest
import torch

from model.encoders.transformer.body import TransformerBody
from model.encoders.transformer.checkpoint_folder import load_sentences
from schemas.errors import QprError

TEXTS = [
    "how do I pay my bills?",
    "pay",
    "",
    "???",
    "cancel the flight",
    "i want to find my card and " + "change the rent " * 9,  # longer than the model reads
    "Pay.",
]


@pytest.fixture(scope="module")
def sentences(tiny_sentences):
    return load_sentences(tiny_sentences, name="tiny")


@pytest.fixture(scope="module")
def body(sentences):
    return TransformerBody(sentences).eval()


def vectors_of(body, tokens):
    return body(torch.from_numpy(tokens.ids), torch.from_numpy(tokens.offsets))


def test_tokens_are_those_of_the_library_without_padding(body, sentences):
    tokens = body.tokens(TEXTS)
    expected = sentences.tokenizer(TEXTS, truncation=True, max_length=24)["input_ids"]
    assert tokens.ids.dtype == np.int32
    for start, end, ids in zip(tokens.offsets, tokens.offsets[1:], expected, strict=False):
        assert tokens.ids[start:end].tolist() == ids
    assert tokens.lengths.max() == 24
    assert len(body.tokens([])) == 0


@torch.no_grad()
def test_vectors_are_those_of_the_library_whatever_stands_beside_them(body, sentences):
    expected = sentences.encode(TEXTS, normalize_embeddings=True)
    np.testing.assert_allclose(vectors_of(body, body.tokens(TEXTS)), expected, atol=1e-5)
    order = np.random.default_rng(0).permutation(len(TEXTS) * 20) % len(TEXTS)
    np.testing.assert_allclose(vectors_of(body, body.tokens(TEXTS).take(order)), expected[order], atol=1e-5)
    assert body.dimension == expected.shape[1]


def test_gradients_are_those_of_one_padded_batch(body, sentences):
    side = torch.randn(len(TEXTS), 32, generator=torch.Generator().manual_seed(0))
    (vectors_of(body, body.tokens(TEXTS)) * side).sum().backward()
    found = {name: weight.grad for name, weight in body.named_parameters() if weight.grad is not None}
    body.zero_grad()
    padded = sentences(dict(sentences.preprocess(TEXTS)))["sentence_embedding"]
    (torch.nn.functional.normalize(padded, dim=1) * side).sum().backward()
    for name, weight in body.named_parameters():
        if weight.grad is not None:
            torch.testing.assert_close(found.pop(name), weight.grad, atol=1e-5, rtol=1e-4)
    assert not found
    body.zero_grad()


def test_no_question_has_a_gradient_of_zeros(body):
    nothing = vectors_of(body, body.tokens([]))
    assert nothing.shape == (0, 32)
    nothing.sum().backward()
    touched = [weight.grad for weight in body.parameters() if weight.grad is not None]
    assert len(touched) > 30
    assert all((gradient == 0).all() for gradient in touched)
    body.zero_grad()


@torch.no_grad()
def test_a_question_without_a_token_has_a_vector_of_zeros(body):
    tokens = body.tokens(["pay", "find my card"])
    empty = torch.from_numpy(np.insert(tokens.offsets, 1, tokens.offsets[1]))
    vectors = body(torch.from_numpy(tokens.ids), empty)
    assert (vectors[1] == 0).all()
    torch.testing.assert_close(vectors[[0, 2]], vectors_of(body, tokens), atol=1e-6, rtol=0)


@torch.no_grad()
def test_a_default_prompt_is_read_too_and_padding_may_stand_first(tiny_sentences):
    sentences = load_sentences(tiny_sentences, name="tiny")
    sentences.prompts, sentences.default_prompt_name = {"ask": "how do i "}, "ask"
    sentences.tokenizer.padding_side = "left"
    sentences[1].include_prompt = False
    body = TransformerBody(sentences).eval()
    assert len(body.tokens(["pay"]).ids) == 6  # two marks and four words
    expected = sentences.encode(["pay", "find my card"], normalize_embeddings=True, batch_size=1)
    found = [vectors_of(body, body.tokens([text]))[0].numpy() for text in ("pay", "find my card")]
    np.testing.assert_allclose(found, expected, atol=1e-5)


@pytest.mark.parametrize(
    "features",
    [
        {"pixel_values": torch.zeros(2, 3)},
        {"input_ids": torch.zeros(5), "attention_mask": torch.zeros(5)},
        {name: torch.ones(2, 3) for name in ("input_ids", "attention_mask", "token_type_ids")},
    ],
)
def test_what_reads_something_else_than_tokens_is_refused(features):
    class Sentences(torch.nn.Sequential):
        tokenizer = types.SimpleNamespace(pad_token_id=0)

        def preprocess(self, texts, *, prompt):
            return features

    with pytest.raises(QprError, match=r"not the ids of its tokens alone\. Choose another model"):
        TransformerBody(Sentences(torch.nn.Identity()))
