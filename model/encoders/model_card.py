"""The model card: what a person who finds the model needs to know.

config, measured metrics, data -> card -> README.md
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from model.encoders.config import NOT_OF, ModelConfig, Shape, StaticSettings, SubwordSettings, TransformerSettings
from schemas.artifacts.manifest import Source

_CARD = """\
# Question encoder

Turns a question into {dimension} numbers, so that paraphrases lie close together.

* {network}.
* Trained with {loss}.{begun}

## Data

Dataset `{dataset_url}`, digest `{digest}`.

{data}

{tokens}## Settings

{settings}

## Measured

{metrics}

Every epoch is in `metrics.jsonl`, drawn in `curve.png`. ROC AUC: how often a validation pair is closer than a pair of
questions from different clusters.

## Use

```console
$ qpr encode --model MODEL --input questions.txt --output vectors.npy
$ qpr index --questions DATASET --model MODEL --output INDEX
```

```python
from model.encoders.registry import load_encoder

vectors = load_encoder("MODEL").encode(["how do i renew my passport"])
```

Compare vectors by their {distance}. Loading checks every file against `manifest.json`.

## Limits

* It knows the language, the subjects and the wording of its data{tables}
* {order}; a negation or a swapped name may go unnoticed.
* Near does not mean equal: judge a threshold on your own data before you answer a question with another one's answer.
"""


_TOKENS = """\
## Tokens

Training began with {tokens:,} token embeddings of `{source}` (licence: {static_licence}; its text is in
`LICENSE.tokens.txt`; digest `{static_digest}`), which learned with the rest. Pass the licence on with the model.

"""

_START = """\
## Start

Training began with the sentence-transformers model in `{transformer_from}` (licence as its README states it:
{transformer_licence}; digest `{transformer_digest}`), whose weights all learned. Pass the licence on with the model.
sentence-transformers can load the folder `transformer` too.

"""

_TABLES = """; {words:,} words have an embedding of their own, all
  others share {hash_bins:,}.
* A question without a word gets the vector of an empty one."""

_NETWORKS = {
    "cnn": "A convolutional network over word embeddings (Bonadiman, Kumar and Mittal 2019)",
    "static": """A bag of words, their character n-grams (after Bojanowski et al. 2017) and tokens that others embedded,
  brought to length 1""",
    "subword": "A bag of words and their character n-grams (after Bojanowski et al. 2017), brought to length 1",
    "transformer": "A transformer that others trained, of sentence-transformers, brought to length 1",
}

_TAUGHT = """the vectors of `{0.url}` (digest `{0.digest}`) as targets, without pairs; the loss and the settings of
  pairs were not used"""

_DISTANCES = {
    "squared_euclidean": "squared euclidean distance",
    "euclidean": "euclidean distance",
    "symmetric_kl": "euclidean distance, as an index does; training compared their softmaxes by KL divergence",
}


def card(
    config: ModelConfig,
    *,
    dataset_url: str,
    training: Mapping[str, Any],
    loss: str,
    data: Mapping[str, Any],
    metrics: Mapping[str, Any],
    begun_from: Source | None = None,
    taught_by: Source | None = None,
) -> str:
    """Return the card as Markdown.

    Args:
        config: the model's.
        dataset_url: where its dataset was.
        training: settings of the training by name.
        loss: phrase that names the loss.
        data: what the dataset held, by name.
        metrics: what was measured, by name.
        begun_from: the model whose weights it began with; None for fresh ones.
        taught_by: whose vectors it learned from in place of pairs; None for none.
    """
    begun = begun_from and f"\n* Begun with the weights of the model `{begun_from.url}`, digest `{begun_from.digest}`."
    return _CARD.format(
        dimension=config.shape.dimension,
        dataset_url=dataset_url,
        digest=config.dataset_digest,
        data=_table(data),
        tokens=_tokens(config.shape),
        settings=_table({"encoder": config.encoder, **config.shape.model_dump(), **_used(config, training)}),
        metrics=_table(metrics),
        distance=_DISTANCES[config.distance],
        tables=_TABLES.format(words=config.words, hash_bins=config.hash_bins) if config.words else ".",
        network=_NETWORKS[config.encoder],
        loss=_TAUGHT.format(taught_by) if taught_by else loss,
        order=_order(config.shape),
        begun=begun or "",
    )


def _used(config: ModelConfig, training: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings of the training that this encoder has a use for."""
    foreign = NOT_OF[config.encoder]
    return {name: value for name, value in training.items() if name not in foreign}


def _tokens(shape: Shape) -> str:
    """Return what of others an encoder began with, as a section; nothing for a fresh one."""
    if isinstance(shape, TransformerSettings):
        return _START.format(**shape.model_dump())
    if not isinstance(shape, StaticSettings):
        return ""
    return _TOKENS.format(source=f"{shape.static_from} {shape.static_version}".strip(), **shape.model_dump())


def _order(shape: Shape) -> str:
    """Return what word order counts."""
    if isinstance(shape, TransformerSettings):
        return "Word order, case and punctuation count as its start counted them"
    if isinstance(shape, SubwordSettings):
        return "Word order counts only between neighbours" if shape.bigram_bins else "Word order does not count at all"
    return f"Word order counts only inside a window of {' or '.join(map(str, shape.windows))} words"


def _table(rows: Mapping[str, Any]) -> str:
    return "\n".join(
        ["| | |", "|---|---|", *(f"| {name.replace('_', ' ')} | {_shown(v)} |" for name, v in rows.items())]
    )


def _shown(value: Any) -> str:
    if value is None or isinstance(value, bool):
        return {None: "none", True: "yes", False: "no"}[value]
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, tuple):
        return ", ".join(map(str, value))
    return f"{value:,}" if isinstance(value, int) else str(value)
