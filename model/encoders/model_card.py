"""The model card: origin, data, settings, quality and limits of a model for a reader.

config, measured metrics, data -> card -> README.md
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from model.encoders.config import ModelConfig
from model.encoders.registry import kind_of
from schemas.artifacts.manifest import Source
from schemas.artifacts.paths import public_name

_CARD = """\
# Question encoder

Turns a question into {dimension} numbers, so that paraphrases lie close together.

* {network}.
* Trained with {loss}.{begun}

## Data

Dataset `{dataset}`, digest `{digest}`.

{data}

{start}## Settings

{settings}

## Measured

{metrics}

Every epoch is in `metrics.jsonl`, drawn in `curve.png`.{auc}

## Use

```console
$ qpr encode --model MODEL --input questions.txt --output vectors.npy
$ qpr index --questions DATASET --model MODEL --output INDEX
```

```python
from qpr import load_encoder

vectors = load_encoder("MODEL").encode(["how do i renew my passport"])
```

Compare vectors by their {distance}. Loading checks every file against `manifest.json`.

## Limits

* It knows the language, the subjects and the wording of its data{tables}
* {order}; a negation or a swapped name may go unnoticed.
* Near does not mean equal: judge a threshold on your own data before you answer a question with another one's answer.
"""


_TABLES = """; {words:,} words have an embedding of their own, all
  others share {hash_bins:,}.
* A question without a word gets the vector of an empty one."""

_BEGUN = "\n* Begun with the weights of the model `{older}`, digest `{digest}`."

_TAUGHT = """the vectors of `{teacher}` as targets, without pairs; digest of this teacher:
  `{digest}`"""

_AUC = """ ROC AUC: how often a validation pair is closer than a pair of
questions from different clusters."""

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
        dataset_url: URL of its dataset; of a local absolute path the card has the last name.
        training: settings of the training by name, without those that it did not use.
        loss: phrase that names the loss.
        data: counts of the dataset by name.
        metrics: measurements by name.
        begun_from: the model whose weights it began with; None for random ones.
        taught_by: the teacher whose vectors it learned in place of pairs; None without one.
    """
    kind = kind_of(config.shape)
    used = {name: value for name, value in training.items() if name not in kind.unused}
    begun = begun_from and _BEGUN.format(older=public_name(begun_from.url), digest=begun_from.digest)
    return _CARD.format(
        dimension=config.shape.dimension,
        dataset=public_name(dataset_url),
        digest=config.dataset_digest,
        data=_table(data),
        start=kind.card_section(config.shape),
        settings=_table({"encoder": config.encoder, **config.shape.model_dump(), **used}),
        metrics=_table(metrics),
        auc=_AUC if "auc" in metrics else "",
        distance=_DISTANCES[config.distance],
        tables=_TABLES.format(words=config.words, hash_bins=config.hash_bins) if config.words else ".",
        network=kind.title,
        loss=_TAUGHT.format(teacher=public_name(taught_by.url), digest=taught_by.digest) if taught_by else loss,
        order=kind.word_order(config.shape),
        begun=begun or "",
    )


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
    return f"{value:,}" if isinstance(value, int) else public_name(str(value))
