"""The promise of a certificate, as people read it.

alpha, delta -> promise_text
"""

from __future__ import annotations


def promise_text(alpha: float, delta: float) -> str:
    """Return the maximum share of wrong answers and the confidence, which is 1 - delta."""
    return f"at most {exact_percent(alpha)} wrong with confidence {exact_percent(1 - delta)}"


def exact_percent(share: float) -> str:
    """Return a share that a person has chosen in percent, not rounded: a rounded promise would be another one."""
    return f"{100 * share:.12g} %"
