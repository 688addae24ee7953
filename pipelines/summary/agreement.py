"""Agreement of the nearest questions of a log in their answers, and warnings about it.

counters, configuration -> agreement_of, is_near_chance, warnings
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from pipelines.questions.answer_kinds import BY_EVIDENCE, KINDS, OF_FACTS, Kind
from pipelines.questions.token_frequencies import LARGE_LOG
from pipelines.summary.worth_by_kind import SIZES, counter
from schemas.quantities import counted

PREFIX: Final = "worth_"
"""Beginning of the counters that `pipelines.clusters.answer_worth` makes."""

LOW_AGREEMENT: Final = 0.35
"""Share of the questions whose nearest question has the same answer, below which equal answers seldom mean equal
questions: logs of facts have .10 to .18, a help desk's has .83, small ones with varied wordings have .37."""

_SEVERAL: Final = 5
"""Minimum mean number of questions of an answer in a log that may be a help desk's; logs of facts have 1 to 2."""

_MOST_OF_FACTS: Final = 0.25
"""Maximum share of numbers and the like (`OF_FACTS`) among the answers of several questions in a log that may be a help
desk's; its answers are hardly ever of these kinds, of trivia about half are."""

_MOST_OF_MANY: Final = 0.5
"""Minimum share of the answers that have more than 20 questions, from which on a log without an intent has evidence
enough, and it is against them."""

_FEWEST_OF_MANY: Final = 10
_NEARLY_ALL: Final = 0.9
_SHARE_OF_FEWER: Final = 0.1
"""Minimum number of answers of many questions, share of these that are intents, and share of all answers that have
fewer: of 1,500 rows of a help desk 32 of 32 answers and 45 of 77, of 2,000 rows 57 of 61 and 16 of 77."""

_NEAR_CHANCE: Final = 0.1
_TIMES_CHANCE: Final = 5
"""Limits below which the answers are taken to be independent of the questions: logs whose answers were shuffled have
.002 to .015, at most 4.3 times chance; logs of facts have .13 and more, 280 times chance."""

_MIN_QUESTIONS: Final = 500
"""Minimum number of questions for a comparison with chance, of which the agreement has a standard error below .01."""

_MILLION: Final = 1e6  # counters are whole numbers, so shares are counted in millionths


def warnings(counters: Mapping[str, int], configuration: Mapping[str, Any]) -> list[str]:
    """Return sentences about answers as by chance, a statement that the log contradicts, and a small help desk."""
    assembly = configuration.get("assembly", {})
    linking, is_judged = assembly.get("linking", {}), bool(assembly.get("recalibration"))
    agreement = agreement_of(counters)
    if linking.get("answers") == "intent":
        return [] if agreement is None or agreement >= LOW_AGREEMENT else [_contradicted(agreement)]
    if agreement is not None and not is_judged and is_near_chance(counters):
        return [_without_information(agreement, _chance(counters))]
    if not _may_be_a_help_desk(counters, configuration):
        return []
    if counters.get(f"{PREFIX}intents"):
        return _too_few_for_evidence(counters)
    numbers = f"{counted(counters['answers'], 'answer')} with {counted(counters['questions'], 'question')}"
    if _answers_by_size(counters)[-1] >= _MOST_OF_MANY * counters["answers"]:
        return [_evidence_against(numbers)]
    return [
        f"none of {numbers} was taken for an intent, as few questions of an answer are little evidence. If each is "
        "one intent, as at a help desk, keep its questions together by --answers intent"
    ]


def agreement_of(counters: Mapping[str, int]) -> float | None:
    """Return the share of the questions whose nearest question has the same answer; None if no neighbour was found."""
    millionths = counters.get(f"{PREFIX}agreement")
    return None if millionths is None else millionths / _MILLION


def is_near_chance(counters: Mapping[str, int]) -> bool:
    """Return whether nearest questions have the same answer hardly more often than any two questions of the log."""
    agreement = agreement_of(counters)
    if agreement is None or counters.get("members_judged", 0) < _MIN_QUESTIONS:
        return False
    return agreement < min(_NEAR_CHANCE, _TIMES_CHANCE * _chance(counters))


def percent_number(share: float) -> str:
    """Return a share as a number of percent, with one decimal below 10."""
    return f"{100 * share:.1f}" if 0 < share < 0.1 else f"{100 * share:.0f}"


def _chance(counters: Mapping[str, int]) -> float:
    """Return the share of all pairs of the log's questions that have the same answer."""
    questions = counters["members_judged"]
    return 2 * counters.get(f"{PREFIX}pairs", 0) / (questions * (questions - 1))


def _contradicted(agreement: float) -> str:
    share = f"{percent_number(agreement)} % of the questions have the answer of their nearest question"
    return (
        f"--answers intent states that equal answers mean equal questions, but only {share}, as in a log of facts. "
        "Read clusters with qpr sample, or use --answers auto"
    )


def _without_information(agreement: float, chance: float) -> str:
    shares = f"{percent_number(agreement)} % of the questions have the answer of their nearest question, by chance"
    return (
        f"{shares} {percent_number(chance)} % would. So answers and questions hardly belong together. "
        "Check the columns of the log, and have a sample judged: qpr sample --for-calibration 150, then qpr calibrate "
        "--verdicts"
    )


def _evidence_against(numbers: str) -> str:
    """Return a sentence about answers that are no intents although most of them have many questions."""
    return (
        f"none of {numbers} was taken for an intent, although most have more than {SIZES[-1]}: questions with other "
        "answers are often as near, or name many things, as where answers are topics or names that many facts share. "
        "Probabilities can be far too high there: read clusters with qpr sample. If each answer is one intent "
        "all the same, keep its questions together by --answers intent"
    )


def _too_few_for_evidence(counters: Mapping[str, int]) -> list[str]:
    """Return a sentence if intents are the answers of many questions alone, and many other answers have fewer.

    Where more answers are intents, some are so by their text, and the others are of kinds that are seldom intents. A
    sentence of few questions that is no intent is none by its text or its questions, such as a fallback.
    """
    intents, many = counters[f"{PREFIX}intents"], _answers_by_size(counters)[-1]
    of_several = sum(_answers_by_size(counters, BY_EVIDENCE)[1:-1])
    fewer = of_several - max(intents - many, 0)  # an answer of exactly 20 questions can be an intent by them
    by_evidence = many >= _FEWEST_OF_MANY and _NEARLY_ALL * many <= intents <= many / _NEARLY_ALL
    if not by_evidence or fewer < _SHARE_OF_FEWER * counters["answers"]:
        return []
    return [
        f"{intents:,} of {counted(counters['answers'], 'answer')} are intents by the evidence of their questions; "
        f"{fewer:,} others have at most {counted(SIZES[-1], 'question')}, which are little evidence. If each "
        "of these is one intent too, as at a help desk, keep its questions together by --answers intent"
    ]


def _answers_by_size(counters: Mapping[str, int], kinds: Sequence[Kind] = KINDS) -> list[int]:
    """Return the number of answers of some kinds with several questions by `worth_by_kind.size_class`."""
    sizes = range(len(SIZES) + 1)
    return [sum(counters.get(counter(kind, size, "answers"), 0) for kind in kinds) for size in sizes]


def _may_be_a_help_desk(counters: Mapping[str, int], configuration: Mapping[str, Any]) -> bool:
    """Return whether answers of a small log have several questions, which often agree, and nobody decided on them.

    Numbers and the like are answers about facts: `--answers intent` would make one cluster of all "Yes." and all "5".
    """
    linking = configuration.get("assembly", {}).get("linking", {})
    undecided = linking.get("answers", "auto") == "auto"
    few = counters.get("questions", 0) < LARGE_LOG
    several = counters.get("questions", 0) >= _SEVERAL * counters.get("answers", 1)
    agreeing = (agreement_of(counters) or 0.0) >= LOW_AGREEMENT
    of_facts, every = (sum(_answers_by_size(counters, kinds)) for kinds in (OF_FACTS, KINDS))
    about_facts = of_facts > _MOST_OF_FACTS * every
    return undecided and few and several and agreeing and not about_facts and counters.get("answers", 0) > 1
