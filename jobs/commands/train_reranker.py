"""`qpr train-reranker`: learn from a validation split to order the hits of an index by the words of both questions.

dataset, index, further encoders -> examples -> weights -> reranker artefact, for --rerank
"""

from __future__ import annotations

import itertools
import shlex
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Annotated, Any

import typer

from jobs.display.console import counting, emit, say, two_columns
from jobs.options.output import AsJson, OutputFolder, Overwrite
from jobs.options.training_run import RunTerms
from jobs.workflows.training import ENDINGS, supervised
from schemas.artifacts.dataset import Dataset, open_dataset
from schemas.artifacts.manifest import Source, read_manifest
from schemas.artifacts.writer import Output
from schemas.errors import QprError

if TYPE_CHECKING:
    from model.evaluation.relevance import Judgements
    from model.reranking.candidates import Examples
    from model.reranking.reranker import Weights
    from model.reranking.term_statistics import Floats
    from model.training.progress import Deadline
    from model.training.trainer import Supervision

FOLDS = 5


def train_reranker(
    dataset: Annotated[str, typer.Option(metavar="FOLDER", help="Dataset whose validation split to learn from.")],
    index: Annotated[str, typer.Option(metavar="FOLDER", help="Index whose hits to order.")],
    output: OutputFolder,
    terms: RunTerms,
    depth: Annotated[int, typer.Option(min=2, max=1_000, metavar="N", help="Hits to order for a query.")] = 50,
    encoders: Annotated[
        list[str] | None,
        typer.Option(
            "--with",
            metavar="MODEL",
            help="Model that scores them too, or st:FOLDER; repeatable.",
        ),
    ] = None,
    probes: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Lists searched.", show_default="the index's")
    ] = None,
    exact: Annotated[bool, typer.Option("--exact", help="Search all lists.")] = False,
    seed: Annotated[int, typer.Option(min=0, metavar="N", help="Seed of weights, order and folds.")] = 0,
    overwrite: Overwrite = False,
    as_json: AsJson = False,
) -> None:
    """Train a reranker of an index's hits on a validation split.

    It compares the words of both questions, and their vectors by further encoders. The printed scores are
    cross-validated: a query is ordered by weights learned without its cluster.

    Examples:
      qpr train-reranker --dataset dataset --index index --output reranker
      qpr search --index index --rerank reranker "how do I pay my bill"
    """
    source = open_dataset(dataset)
    with Output(output, "reranker", overwrite=overwrite) as claimed:
        result = _run(
            source,
            claimed,
            index,
            depth=depth,
            urls=encoders or [],
            probes=probes,
            exact=exact,
            seed=seed,
            terms=terms,
        )
    emit(result, as_json=as_json, table=lambda: two_columns(f"reranker {output}", result))
    say(f"Next: qpr search --index {shlex.quote(index)} --rerank {shlex.quote(output)} QUESTION")


def _run(
    source: Dataset,
    output: Output,
    url: str,
    *,
    depth: int,
    urls: list[str],
    probes: int | None,
    exact: bool,
    seed: int,
    terms: RunTerms,
) -> dict[str, Any]:
    import numpy as np

    from model.encoders.registry import load_encoder
    from model.evaluation.relevance import judgements
    from model.reranking.candidates import examples
    from model.reranking.fitting import HIDDEN, NETWORKS
    from model.reranking.reranker import Reranker, RerankerSettings, other_encoders
    from model.reranking.saved_reranker import save_reranker
    from model.reranking.term_statistics import WordCounts
    from model.search.opening import open_index
    from model.training.progress import Deadline
    from schemas.text_arrays import key_all

    deadline = Deadline(terms.max_minutes)
    opened = open_index(url, probes=probes, exact=exact)
    judged = judgements(source.table("clusters", columns=["question_ids", "texts"], split="validation"))
    if not len(judged):
        raise QprError(f"{source.url}: no cluster in split validation, so nothing to learn from. Use more data")
    counts = WordCounts.of(key_all(opened.questions(np.arange(len(opened)))["text"].combine_chunks()))
    settings = RerankerSettings(
        model_digest=opened.settings.model_digest,
        depth=depth,
        encoders=other_encoders(urls),
        hidden=HIDDEN * NETWORKS,
        questions=counts.questions,
        mean_length=counts.mean_length,
    )
    untrained = Reranker(output.url, settings, counts, {}, tuple(map(load_encoder, urls)))
    with counting("gathering examples, queries", total=len(judged)) as show:
        found = examples(opened, judged, untrained, on_queries=show)
    inputs = [Source(url=source.url, digest=source.manifest.digest)]
    inputs += [Source(url=url, digest=read_manifest(url, "index").digest)]
    inputs += [Source(url=other.url, digest=other.digest) for other in settings.encoders]
    digests = [given.digest for given in inputs]
    identity: dict[str, Any] = {
        "the digest of --dataset": digests[0],
        "the digest of --index": digests[1],
        "--with": digests[2:],
    }
    identity |= {"--depth": depth, "--probes": probes, "--exact": exact, "--seed": seed}
    weights, measured = _learned(found, judged, output, identity, seed=seed, terms=terms, deadline=deadline)
    counters = {"queries": len(judged), "queries_with_a_paraphrase": int(found.relevant.any(axis=1).sum())}
    save_reranker(output, settings, counts, weights, inputs=inputs, counters=counters)
    return {"reranker": output.url, **counters, **measured}


def _learned(
    found: Examples,
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

    left = itertools.count(FOLDS + 1, -1)

    def supervise(part: str) -> AbstractContextManager[Supervision]:
        limit = deadline.share(next(left))
        return supervised(output, identity, terms=terms, deadline=limit, part=part, unit="queries")

    table = found.table, found.relevant, found.there
    scores = cross_fitted(*table, found.groups, folds=FOLDS, seed=seed, supervise=supervise)
    with supervise("all queries") as supervision:
        weights, ending = learn(*table, seed=seed, **supervision)
    return weights, {**_measured(found, judged, scores), "ending": ENDINGS[ending]}


def _measured(found: Examples, judged: Judgements, scores: Floats) -> dict[str, float]:
    """Return H@1, H@10 and MRR as the index has them and as reranked by these scores."""
    import numpy as np

    from model.evaluation.metrics import per_question, ranks

    order = np.argsort(-np.where(found.there, scores, -np.inf), axis=1, kind="stable")
    result: dict[str, float] = {}
    for name, ids in (("as_found", found.ids), ("reranked", np.take_along_axis(found.ids, order, axis=1))):
        places = ranks(ids, queries=judged.queries, relevant=judged.relevant)
        metrics = per_question(places, queries=judged.queries, count=len(judged))
        result |= {
            f"hits_at_1_{name}": round(metrics.hits_at_1, 4),
            f"hits_at_10_{name}": round(metrics.hits_at_10, 4),
            f"mrr_{name}": round(metrics.mrr, 4),
        }
    return result
