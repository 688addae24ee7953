"""Counts from which the worth of an answer in a log is estimated.

Linked, MEMBERS of accepted clusters -> worth_counts -> counters
Linked, MEMBERS of whole answers -> shares_of_answers -> kind_counts, extreme_answers
Linker, LogAgreement -> count_log -> counters of the log
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pipelines.linkage.linker import Linker
from pipelines.linkage.scoring.pair_model import Linked
from pipelines.linkage.standings import LogAgreement
from pipelines.linkage.strays import estimated_share
from pipelines.questions.answer_kinds import KINDS, kinds_of
from pipelines.questions.token_frequencies import TokenWeights
from pipelines.summary.agreement import PREFIX
from pipelines.summary.worth_by_kind import MANY, SHOWN, SIZES, ascending, counter, descending
from pipelines.writing.reported import JudgedAnswer, Written
from schemas.ragged import pairs_in_runs, runs_of, sums_of_runs
from schemas.text_arrays import beginnings

_SHOWN_CHARACTERS: Final = 200
"""Number of characters of an answer in a report; a shard's candidates stay small."""


class Shares(NamedTuple):
    """The answers with several questions.

    Attributes:
        answers: (A,) their texts.
        kinds: (A,) indexes in `KINDS`.
        questions: (A,) numbers of their questions.
        share: (A,) expected share of their pairs that are paraphrases.
    """

    answers: pa.ChunkedArray
    kinds: np.ndarray
    questions: np.ndarray
    share: np.ndarray


def worth_counts(linked: Linked, answers: np.ndarray, judged: pa.Table) -> dict[str, int]:
    """Return counters of pairs and of their expected paraphrases, in millionths.

    A cluster is taken to be right or wrong as a whole for the variance, which is so the largest possible one.

    Args:
        linked: groups of the questions of answers with several questions.
        answers: (R,) their answers, ascending.
        judged: MEMBERS of the accepted clusters, ordered by cluster.
    """
    _, sizes = runs_of(answers)
    of_intent = np.zeros(len(answers), bool) if linked.of_intent is None else linked.of_intent
    starts, kept = runs_of(judged["cluster_id"].to_numpy())
    kept_pairs = pairs_in_runs(kept)
    likely = judged["linkage_probability"].to_numpy()[starts]
    millionths = np.rint(likely * 1e6).astype(np.int64)
    unsure = np.rint(likely * (1 - likely) * 1e6).astype(np.int64)
    return {
        f"{PREFIX}pairs": int(pairs_in_runs(sizes).sum()),
        f"{PREFIX}pairs_expected": int(_expected(linked).sum()),
        f"{PREFIX}pairs_kept": int(kept_pairs.sum()),
        f"{PREFIX}pairs_kept_expected": _weighted_sum(millionths, kept_pairs),
        f"{PREFIX}pairs_kept_variance": _weighted_sum(unsure, kept_pairs, power=2),
        f"{PREFIX}answers": len(sizes),
        f"{PREFIX}intents": len(np.unique(answers[of_intent])),
        f"{PREFIX}strays": int(np.count_nonzero(of_intent & (linked.confidence == 0))),
    }


def count_log(
    threshold: float | None, weights: TokenWeights, linker: Linker | None, agreement: Mapping[int, LogAgreement]
) -> Written:
    """Return threshold, agreement and wrong answers of the log in millionths, nothing if answers are not split.

    Args:
        threshold: that was chosen for the log; None: none was.
        weights: weights of the log's tokens.
        linker: splits the answers.
        agreement: agreement of the log by the number of the kind, where neighbours were sought.
    """
    if linker is None:
        return Written(None, {})
    log = agreement.get(0, LogAgreement())
    shares = {
        "threshold": linker.threshold_of(weights, log, threshold),
        "agreement": log.share,
        "wrong_answers": estimated_share(log, weights),
    }
    return Written(None, {f"{PREFIX}{name}": round(share * 1e6) for name, share in shares.items() if share is not None})


def shares_of_answers(linked: Linked, several: pa.Table) -> Shares:
    """Return the share that the linkage expects of each answer.

    Args:
        linked: groups of the questions of answers with several questions.
        several: MEMBERS of these, in the same order.
    """
    starts, sizes = runs_of(several["answer_id"].to_numpy())
    answers = several["answer"].take(pa.array(starts))
    share = sums_of_runs(_expected(linked), starts) / 1e6 / pairs_in_runs(sizes)
    return Shares(answers, kinds_of(answers), sizes, share.clip(0, 1))


def kind_counts(shares: Shares) -> dict[str, int]:
    """Return counters of the answers of each kind and size: their number, expected shares, and squares of these."""
    size = np.searchsorted(SIZES, shares.questions)
    counts: dict[str, int] = {}
    for number, kind in enumerate(KINDS):
        for of_size in range(len(SIZES) + 1):
            share = shares.share[(shares.kinds == number) & (size == of_size)]
            if len(share):
                sums = {"answers": len(share), "expected": _millionths(share), "squares": _millionths(share**2)}
                counts |= {counter(kind, of_size, name): value for name, value in sums.items()}
    return counts


def extreme_answers(shares: Shares) -> list[JudgedAnswer]:
    """Return the answers of many questions with the lowest and with the highest shares."""
    many = np.flatnonzero(shares.questions >= MANY)
    texts = pc.fill_null(beginnings(shares.answers.take(pa.array(many)), _SHOWN_CHARACTERS), "")
    every = [
        JudgedAnswer(text, KINDS[shares.kinds[place]], int(shares.questions[place]), float(shares.share[place]))
        for text, place in zip(texts.to_pylist(), many, strict=True)
    ]
    return list(dict.fromkeys(answer for key in (ascending, descending) for answer in sorted(every, key=key)[:SHOWN]))


def _expected(linked: Linked) -> np.ndarray:
    return np.zeros(len(linked.group), np.int64) if linked.expected is None else linked.expected


def _weighted_sum(values: np.ndarray, pairs: np.ndarray, *, power: int = 1) -> int:
    """Return the sum of ``values * pairs**power``, exact in any order.

    The squared number of pairs of 10,000 questions times a million is above the largest int64, so each distinct number
    of pairs is multiplied as a Python integer.
    """
    distinct, place = np.unique(pairs, return_inverse=True)
    totals = np.zeros(len(distinct), np.int64)
    np.add.at(totals, place, values)
    return sum(total * number**power for number, total in zip(distinct.tolist(), totals.tolist(), strict=True))


def _millionths(share: np.ndarray) -> int:
    return int(np.rint(share * 1e6).astype(np.int64).sum())
