"""Types that "how" asks for: of degree ("how old"), of number ("how many days"), or the way ("how do I").

words behind "how" -> Kind
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Final

from model.guards.answer_types.kinds import Kind
from model.guards.answer_types.vocabulary import Types, asking_list, of_adjective, of_amount, of_unit

_AUXILIARIES: Final = asking_list("auxiliaries")
_BE: Final = asking_list("be")
_ME: Final = asking_list("me")
_OF_MONEY: Final = asking_list("of_money")
_FOR_WAITS: Final = asking_list("for_waits")
_OF_LIFE: Final = asking_list("of_life")
_OF_KNOWING: Final = asking_list("of_knowing")
_OF_PROGRESS: Final = asking_list("of_progress")
_OF_SOUNDS: Final = asking_list("of_sounds")
_RATES: Final = asking_list("rates")
_PERIODS: Final = asking_list("periods")


def ask_by_how(after: list[str], begin: int, *, is_indirect: bool) -> Kind | None:
    """Return the kind that "how" asks for.

    Args:
        after: words behind it.
        begin: place of the first of them in the text.
        is_indirect: it stands behind a request, as in "tell me how I can".
    """
    if not after:
        return None
    first = after[0]
    if first == "come":
        return Kind(frozenset(("reason",)), places=range(begin, begin + 1))
    if first in _BY_WORD:
        return _BY_WORD[first](after, begin)
    if types := of_adjective(first):
        return _of_degree(types, after, begin)
    if first in _AUXILIARIES or first == "best" or (is_indirect and first in _ME):
        return _of_way(after)
    return None


def _of_degree(types: Types, after: list[str], begin: int) -> Kind | None:
    """Return the kind of "how old" and "how far"."""
    first, following = after[0], after[1:4]
    if first in ("close", "near") and "we" in following:  # "how close are we to a war"
        return None
    if first == "far" and not _FOR_WAITS.isdisjoint(following[:2]):  # "how far in advance"
        return Kind(frozenset(("time", "duration")))
    if first == "far" and not _OF_PROGRESS.isdisjoint(following[:1]):  # "how far will technology go"
        types = types | {"degree"}
    if first in ("fast", "quick", "quickly", "slow"):
        types = types | {"duration", "time"}
    return Kind(types, (first,), range(begin, begin + 1))


def _of_number(after: list[str], begin: int) -> Kind | None:
    if len(after) < 2:
        return None
    nouns = after[1:4]
    unit = next((word for word in nouns if of_unit(word)), "")
    types = of_unit(unit) if unit and (unit == nouns[0] or after[1] in ("more", "other", "different")) else frozenset()
    if not types:
        types = frozenset(("count",))
    is_rate = not _RATES.isdisjoint(after[2:]) or any(
        word == "a" and following in _PERIODS for word, following in pairwise(after[2:])
    )
    if is_rate and "count" in types:
        types = types | {"frequency", "amount"}
    counted = () if "duration" in types and "count" not in types else (nouns[0],)
    end = begin + 1 if counted else begin + 2
    return Kind(types, counted, range(begin, end), is_listed=False)


def _of_amount(after: list[str], begin: int) -> Kind | None:
    """Return the kind of "how much": money, the amount of a thing, or a degree."""
    places = range(begin, begin + 1)
    rest = frozenset(after[1:])
    if len(after) > 1 and (types := of_amount(after[1])):
        return Kind(types, places=range(begin, begin + 2))
    if len(after) > 1 and after[1].endswith("s") and of_unit(after[1]):  # "how much hours"
        return _of_number(after, begin)
    if after[2:] and after[2] in _BE and (types := of_adjective(after[1])):  # "how much safe is"
        return Kind(types, places=range(begin, begin + 2))
    if "weigh" in rest or "weighs" in rest:
        return Kind(frozenset(("weight",)), places=places)
    if not _OF_MONEY.isdisjoint(rest):
        return Kind(frozenset(("money",)), places=places)
    if len(after) == 1 or after[1] in _BE or after[1] in ("for", "to"):
        return Kind(frozenset(("money", "amount")), places=places)
    if after[1] in _AUXILIARIES:
        return Kind(frozenset(("amount", "money", "degree")), places=places)
    return Kind(frozenset(("quantity",)), places=places)


def _of_length(after: list[str], begin: int) -> Kind:
    """Return the kind of "how long": a duration, a length, a lifespan, or a time to wait."""
    types = {"duration", "length"}
    rest = frozenset(after[1:])
    if "take" in rest or "takes" in rest:
        types = {"time_taken"}
    elif after[1:2] and after[1] in _AUXILIARIES and after[1] not in _BE and rest.isdisjoint(("be", "get", "grow")):
        types = {"duration"}
    if not _OF_LIFE.isdisjoint(rest):
        types = {"duration", "lifespan"}
    if not _FOR_WAITS.isdisjoint(rest):
        types |= {"time", "time_past", "frequency"}
    return Kind(frozenset(types), ("long",), range(begin, begin + 1))


def _of_way(after: list[str]) -> Kind | None:
    """Return the kind of "how do I pay" and "how was it made"; none where the way is one to learn the answer."""
    if not _OF_KNOWING.isdisjoint(after[1:4]):
        return None
    if not _OF_SOUNDS.isdisjoint(after[1:4]):
        return Kind(frozenset(("pronunciation", "spelling")))
    if after[0] in _BE and "paid" in after:  # "how are professors paid", "what do professors earn"
        return Kind(frozenset(("manner", "state", "money")))
    if after[0] in _BE:
        return Kind(frozenset(("manner", "state")))
    if "take" in after:  # "how do I take the medicine", "how often do I take it"
        return Kind(frozenset(("way", "manner", "frequency", "time", "dose")))
    is_mine = after[0] in ("to", "best") or not _ME.isdisjoint(after[:3])
    return Kind(frozenset(("way",) if is_mine else ("manner", "way") if after[0] in ("can", "could") else ("manner",)))


_BY_WORD: Final[dict[str, Callable[[list[str], int], Kind | None]]] = {
    "many": _of_number,
    "much": _of_amount,
    "long": _of_length,
}
