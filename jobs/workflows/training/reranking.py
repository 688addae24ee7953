"""Training of a reranker from a dataset and an index to a published reranker.

dataset, index, further encoders -> examples -> weights -> reranker artefact, printed cross-validated metrics
"""

from __future__ import annotations

import itertools
import shlex
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, NamedTuple

from jobs.display.console import counting, emit, say, two_columns, warn
from jobs.options.training_run import RunTerms
from jobs.workflows.training.encoder_training import supervised
from jobs.workflows.training.outcome import ENDINGS
from schemas.arrays import Float32s
from schemas.artifacts.dataset import Dataset, open_dataset
from schemas.artifacts.manifest import Source, read_manifest
from schemas.artifacts.writer import Output
from schemas.errors import QprError, check_installed

if TYPE_CHECKING:
    from model.evaluation.relevance import Judgements
    from model.reranking.candidates import Examples
    from model.reranking.reranker import Weights
    from model.training.progress import Deadline
    from model.training.trainer import Supervision

FOLDS = 5
"""Folds of the validation queries, on each of which a reranker of the others is measured (decision 26)."""


class RerankerRun(NamedTuple):
    """Settings that decide on the weights of a reranker.

    Attributes:
        depth: number of hits to order for a query.
        encoders: URLs of further models that score the hits.
        probes: number of lists searched; None: the index's.
        exact: search all lists.
        seed: of weights, order and folds.
    """

    depth: int
    encoders: tuple[str, ...]
    probes: int | None
    exact: bool
    seed: int


def fit_reranker(
    dataset: str, index: str, output: str, run: RerankerRun, terms: RunTerms, *, overwrite: bool, as_json: bool
) -> None:
    """Train a reranker on the validation split of a dataset, publish it at ``output`` and print its metrics.

    Raises:
        QprError: dataset or index cannot be read, the output cannot be claimed, or there is nothing to learn from.
    """
    check_installed("torch")  # used when all examples are gathered
    source = open_dataset(dataset)
    with Output(output, "reranker", overwrite=overwrite) as claimed:
        result = _run(source, claimed, index, run, terms)
    emit(result, as_json=as_json, table=lambda: two_columns(f"reranker {output}", result))
    plain, reranked = result["mrr_as_found"], result["mrr_reranked"]
    if reranked < plain:
        warn(
            f"MRR with this reranker is {reranked}, without it {plain}: search without it, or train one with more time "
            "or a larger validation split"
        )
    say(f"Next: qpr search --index {shlex.quote(index)} --rerank {shlex.quote(output)} QUESTION")


def _run(
    source: Dataset,
    output: Output,
    url: str,
    run: RerankerRun,
    terms: RunTerms,
) -> dict[str, Any]:
    import numpy as np

    from model.encoders.loading import load_encoder
    from model.evaluation.relevance import judgements
    from model.reranking.candidates import examples
    from model.reranking.fitting import HIDDEN, NETWORKS
    from model.reranking.reranker import Reranker, RerankerSettings, other_encoders
    from model.reranking.saved_reranker import save_reranker
    from model.reranking.term_statistics import WordCounts
    from model.search.opening import open_index
    from model.training.progress import Deadline
    from schemas.text_arrays import key_all
    from schemas.words import VERSION

    deadline = Deadline(terms.max_minutes)
    opened = open_index(url, probes=run.probes, exact=run.exact)
    judged = judgements(source.cluster_texts("validation"))
    if not len(judged):
        raise QprError(f"{source.url}: no cluster in split validation, so nothing to learn from. Use more data")
    counts = WordCounts.of(key_all(opened.questions(opened.live_rows(np.arange(len(opened))))["text"].combine_chunks()))
    settings = RerankerSettings(
        model_digest=opened.settings.model_digest,
        depth=run.depth,
        encoders=other_encoders(run.encoders),
        hidden=HIDDEN * NETWORKS,
        questions=counts.questions,
        mean_length=counts.mean_length,
        tokenizer=VERSION,
    )
    untrained = Reranker(output.url, settings, counts, {}, tuple(map(load_encoder, run.encoders)))
    with counting("gathering examples, queries", total=len(judged)) as show:
        gathered = examples(opened, judged, untrained, on_queries=show)
    inputs = [Source(url=source.url, digest=source.manifest.digest)]
    inputs += [Source(url=url, digest=read_manifest(url, "index").digest)]
    inputs += [Source(url=other.url, digest=other.digest) for other in settings.encoders]
    digests = [given.digest for given in inputs]
    identity: dict[str, Any] = {
        "the digest of --dataset": digests[0],
        "the digest of --index": digests[1],
        "--with": digests[2:],
    }
    identity |= {"--depth": run.depth, "--probes": run.probes, "--exact": run.exact, "--seed": run.seed}
    weights, measured = _learned(gathered, judged, output, identity, seed=run.seed, terms=terms, deadline=deadline)
    counters = {"queries": len(judged), "queries_with_a_paraphrase": int(gathered.relevant.any(axis=1).sum())}
    save_reranker(output, settings, counts, weights, inputs=inputs, counters=counters)
    return {"reranker": output.url, **counters, **measured}


def _learned(
    gathered: Examples,
    judged: Judgements,
    output: Output,
    identity: dict[str, Any],
    *,
    seed: int,
    terms: RunTerms,
    deadline: Deadline,
) -> tuple[Weights, dict[str, Any]]:
    """Return the weights learned from all examples, and cross-validated metrics.

    The trainings of the folds and of all examples share the time equally.
    """
    from model.reranking.fitting import cross_fitted, learn

    left = itertools.count(FOLDS + 1, -1)  # trainings that are not done, the present one among them

    def supervise(part: str) -> AbstractContextManager[Supervision]:
        limit = deadline.share(next(left))
        return supervised(output, identity, terms=terms, deadline=limit, part=part, unit="queries")

    table = gathered.table, gathered.relevant, gathered.there
    scores = cross_fitted(*table, gathered.groups, folds=FOLDS, seed=seed, supervise=supervise)
    with supervise("all queries") as supervision:
        weights, ending = learn(*table, seed=seed, **supervision)
    return weights, {**_measured(gathered, judged, scores), "ending": ENDINGS[ending]}


def _measured(gathered: Examples, judged: Judgements, scores: Float32s) -> dict[str, float]:
    """Return H@1, H@10 and MRR as the index has them and as reranked by these scores."""
    import numpy as np

    from model.evaluation.evaluator import metrics_of

    order = np.argsort(-np.where(gathered.there, scores, -np.inf), axis=1, kind="stable")
    result: dict[str, float] = {}
    for name, ids in (("as_found", gathered.ids), ("reranked", np.take_along_axis(gathered.ids, order, axis=1))):
        metrics = metrics_of(ids, judged)
        result |= {
            f"hits_at_1_{name}": round(metrics.hits_at_1, 4),
            f"hits_at_10_{name}": round(metrics.hits_at_10, 4),
            f"mrr_{name}": round(metrics.mrr, 4),
        }
    return result
