"""The convolution the usual way: `nn.Conv1d` on padded batches, with the weights of a `QuestionEncoder`."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from model.encoders.cnn.network import QuestionEncoder
from model.text.vocabulary import TokenIds


class PaddedEncoder(nn.Module):
    """The paper's network the usual way; shares the weights of a `QuestionEncoder` of one odd window."""

    def __init__(self, encoder: QuestionEncoder) -> None:
        super().__init__()
        width, inputs = encoder.windows[0], encoder.embedding.embedding_dim
        padding = encoder.embedding.num_embeddings
        self.embedding = nn.Embedding(padding + 1, inputs, padding_idx=padding)
        self.convolution = nn.Conv1d(inputs, len(encoder.bias), width, padding=width // 2)
        self.projection = nn.Linear(*encoder.projection.weight.shape[::-1])
        with torch.no_grad():
            self.embedding.weight[:-1] = encoder.embedding.weight
            self.convolution.weight.copy_(encoder.kernels[0].view(inputs, width, -1).permute(2, 0, 1))
            self.convolution.bias.copy_(encoder.bias)  # type: ignore[union-attr]
            self.projection.load_state_dict(encoder.projection.state_dict())

    def forward(self, padded: Tensor, lengths: Tensor) -> Tensor:
        """Return the vectors of questions padded to one length."""
        convolved = torch.tanh(self.convolution(self.embedding(padded).transpose(1, 2)))
        outside = torch.arange(padded.shape[1]) >= lengths.clamp_min(1)[:, None]
        vectors: Tensor = self.projection(convolved.masked_fill(outside[:, None], -torch.inf).amax(2))
        return vectors


def pad(tokens: TokenIds, *, padding: int) -> tuple[Tensor, Tensor]:
    """Return ids filled up with ``padding``, (questions, longest), and the lengths."""
    lengths = torch.from_numpy(tokens.lengths)
    inside = torch.arange(int(lengths.max())) < lengths[:, None]
    padded = torch.full(inside.shape, padding)
    padded[inside] = torch.from_numpy(tokens.ids).long()
    return padded, lengths


def difference(ours: QuestionEncoder, theirs: PaddedEncoder) -> float:
    """Return the largest absolute difference of the gradients of all weights."""
    kernel = theirs.convolution.weight.grad.permute(1, 2, 0).flatten(1)  # type: ignore[union-attr]
    counterparts = {
        "embedding.weight": theirs.embedding.weight.grad[:-1],  # type: ignore[index]
        "kernels.0": kernel,
        "bias": theirs.convolution.bias.grad,  # type: ignore[union-attr]
        "projection.weight": theirs.projection.weight.grad,
        "projection.bias": theirs.projection.bias.grad,
    }
    own = {name: weight.grad.to_dense() for name, weight in ours.named_parameters() if weight.grad is not None}
    return max(float((own[name] - other).abs().max()) for name, other in counterparts.items())  # type: ignore[operator]
