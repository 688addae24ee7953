"""A transformer to be trained.

TransformerSettings -> TransformerNetwork.read(texts) -> TransformerNetwork(inputs) -> vectors
"""

from __future__ import annotations

import pyarrow as pa
import torch
from torch import Tensor, nn

from model.encoders.device_tokens import DeviceTokens
from model.encoders.network import Network
from model.encoders.token_store import collected
from model.encoders.transformer.body import TransformerBody
from model.encoders.transformer.checkpoint_folder import first_sentences
from model.encoders.transformer.settings import TransformerSettings
from model.text.vocabulary import slices

MANY_ROWS = 10_000
"""Rows of a table from which on its gradient is sparse."""


class TransformerNetwork(Network):
    """A transformer that others trained, over the tokens of questions as they were asked.

    It stays as it is for encoding while it learns: dropout is off, so a step is repeated bit for bit, and a batch in
    chunks has the gradients of the whole batch. On a processor attention is products of matrices: the backward pass of
    PyTorch's fused one takes 5 to 10 times as long at half precision there. A batch has 17 groups of one length, each
    with a gradient for every row of the table of tokens if that was dense.
    """

    body: TransformerBody

    def __init__(self, shape: TransformerSettings) -> None:
        super().__init__()
        options = {} if torch.cuda.is_available() else {"attn_implementation": "eager"}
        self.body = TransformerBody(first_sentences(shape, **options).float())
        for part in self.body.modules():
            if isinstance(part, nn.Embedding) and part.num_embeddings >= MANY_ROWS:
                part.sparse = True

    def read(self, texts: pa.Array) -> DeviceTokens:
        """Return the token ids of questions, where the weights are."""
        tokens = collected(self.body.tokens(part.to_pylist()) for part in slices(texts))
        return DeviceTokens.of(tokens, next(self.parameters()).device)

    def train(self, mode: bool = True) -> TransformerNetwork:  # noqa: ARG002  # of `nn.Module`
        """Stay as for encoding."""
        return super().train(False)

    def forward(self, inputs: DeviceTokens) -> Tensor:
        """Return the vectors of questions."""
        vectors: Tensor = self.body(inputs.ids, inputs.offsets)
        return vectors
