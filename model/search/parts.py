"""Parts of a searcher: its way of searching, its confidence model, its certificate, and all that decides its answers.

manifest, opened index, options -> retrieval_of, confidence_of, version_of, certificate_of
"""

from __future__ import annotations

from typing import TYPE_CHECKING, get_args

from model.certificates.version import RULES, Version
from model.choices import Mode
from model.index.index import Index
from model.index.lexical_files import check_lexical, open_lexical
from model.search.retrieval import Retrieval
from schemas.artifacts.manifest import Manifest, read_manifest, read_verified
from schemas.errors import QprError, UsageError
from schemas.tables import CONFIDENCE

if TYPE_CHECKING:
    from model.certificates.certificate import Loaded
    from model.confidence.confidence import Confidence


def check_mode(mode: Mode | None, rerank: str | None) -> None:
    """Check that a way of searching exists, and fits together with the reranker.

    Raises:
        UsageError: it does not.
    """
    if mode is not None and mode not in get_args(Mode):
        raise UsageError(f"mode {mode!r}: is not one of {', '.join(get_args(Mode))}. Choose one of these")
    if mode == "rerank" and rerank is None:
        raise UsageError("--mode rerank: needs a reranker. Give one with --rerank, made by `qpr train-reranker`")
    if rerank is not None and mode not in (None, "rerank"):
        raise UsageError(f"--rerank: belongs to --mode rerank, got --mode {mode}. Leave one of them out")


def check_retrieval(given: object) -> None:
    """Check that a searcher is made of an opened index.

    Raises:
        UsageError: it is a path or something else, which its first search would not find out in one line.
    """
    if not isinstance(given, Retrieval):
        raise UsageError(
            f"Searcher: is made of an opened index, got {type(given).__name__}. Call open_searcher with the path"
        )


def retrieval_of(
    manifest: Manifest,
    index: Index,
    mode: Mode | None,
    rerank: str | None,
    confidence: Confidence | None,
    *,
    compiled: bool,
) -> Retrieval:
    """Return the way to search an index; ``compiled``: BM25 runs as machine code.

    Raises:
        QprError: the index has no BM25 or no confidence model that the mode needs, or the reranker is not for it.
    """
    if rerank is not None:
        from model.reranking.saved_reranker import load_reranker  # a search without one starts 4 % faster

        return Retrieval(index, "rerank", reranker=load_reranker(rerank, model_digest=index.settings.model_digest))
    mode = mode or index.settings.mode
    if mode == "probability" and confidence is None:
        fault = f"{index.url}: has no confidence model, which mode probability needs"
        learned = "a dataset whose validation split has 100 questions or more, or of a table with 100 wordings"
        raise QprError(f"{fault}. Build the index of {learned}")
    if mode not in ("bm25", "fusion", "probability"):
        check_lexical(manifest, index)
        return Retrieval(index, mode)
    lexical = open_lexical(manifest, index, compiled=compiled)
    if lexical is None and mode != "probability":
        raise QprError(f"{index.url}: has no BM25, which mode {mode} needs. Build the index again without --no-bm25")
    return Retrieval(index, mode, lexical, index.settings.lexical_weight, confidence=confidence)


def confidence_of(url: str, manifest: Manifest) -> Confidence | None:
    """Return the confidence model of an index, None where it has none."""
    files = manifest.of(CONFIDENCE)
    if not files:
        return None
    from model.confidence.saved_confidence import read_confidence

    return read_confidence(read_verified(url, files[0]), source=f"{url}/{files[0].path}")


def version_of(manifest: Manifest, retrieval: Retrieval, rerank: str | None) -> Version:
    """Return all that decides the answers of a searcher."""
    from model.guards.registry import GUARDS

    confidence = manifest.of(CONFIDENCE)
    fuses = retrieval.mode in ("fusion", "probability") and retrieval.lexical is not None
    return Version(
        index=manifest.digest,
        confidence=confidence[0].sha256 if confidence else None,
        mode=f"{retrieval.mode} {retrieval.lexical_weight:g}" if fuses else retrieval.mode,
        reranker=read_manifest(rerank, "reranker").digest if rerank else None,
        guards=tuple(GUARDS),
        probes=retrieval.index.probes,
        k=1,
        release=RULES,
    )


def certificate_of(url: str | None, version: Version) -> Loaded | None:
    """Return the certificate of a version; None without one.

    Raises:
        QprError: it cannot be read, or is of another version.
    """
    if not url:
        return None
    from model.certificates.monitor import load_watched  # the exact tests of a certificate import scipy

    return load_watched(url, version)
