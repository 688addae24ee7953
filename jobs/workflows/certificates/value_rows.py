"""The values of a certificate of an index that varies by columns, as rows of a table.

scored requests -> counts_by_value -> Certificate -> value_rows -> rows for the terminal
"""

from __future__ import annotations

import collections
from typing import Final

import numpy as np

from jobs.workflows.certificates.scoring import Scored
from model.certificates.certificate import Certificate, ValueCounts

SHOWN_VALUES: Final = 20
"""Maximum combinations of values that the terminal shows."""


def counts_by_value(scored: Scored, wrong: np.ndarray, in_order: np.ndarray, threshold: float) -> list[ValueCounts]:
    """Return the requests of each combination of values, most requests first.

    Args:
        scored: the requests.
        wrong: (n,) those without a right answer.
        in_order: (n,) those that ordered the thresholds.
        threshold: certified one.
    """
    tested = ~in_order
    answered = tested & (scored.scores >= threshold)
    rows = collections.defaultdict[tuple[tuple[str, str], ...], list[int]](list)
    for row, request in enumerate(scored.requests):
        rows[request.filters].append(row)
    counts = [
        ValueCounts(
            values=dict(of),
            requests=len(rows[of]),
            tested=int(tested[rows[of]].sum()),
            answered=int(answered[rows[of]].sum()),
            wrong=int((answered & wrong)[rows[of]].sum()),
        )
        for of in sorted(rows)
    ]
    return sorted(counts, key=lambda of_value: -of_value.requests)


def value_rows(certificate: Certificate) -> dict[str, str]:
    """Return rows of a table about the values of an index that varies by columns; none for another index."""
    if certificate.by_value is None:
        return {}
    rows = {"the promise holds": "over all requests together, not for each value by itself"}
    for of_value in certificate.by_value[:SHOWN_VALUES]:
        name = ", ".join(f"{column}={value}" for column, value in of_value.values.items())
        rows[name] = f"{of_value.wrong:,} wrong of {of_value.answered:,} answered, {of_value.tested:,} tested"
    if (more := len(certificate.by_value) - SHOWN_VALUES) > 0:
        rows["further values"] = f"{more:,}, in --json"
    return rows
