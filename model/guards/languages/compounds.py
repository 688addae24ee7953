"""Numbers in one word: "zweihundertfünfzig", "duizendtweehonderd", "duemila".

number words, powers of ten -> number words with these compounds
"""

from __future__ import annotations


def with_glued(cardinals: dict[str, str], powers: list[str]) -> dict[str, str]:
    """Return numbers and those that are written in one word with hundreds and thousands: "zweihundertfunfzig"."""
    numbers = {word: int(value) for word, value in cardinals.items() if value.isdecimal()}
    for power in powers:
        size = numbers[power]
        heads = {power: size, **{word + power: size * value for word, value in numbers.items() if 1 < value < 10}}
        step = 1 if size == 100 else 100  # of thousands only full hundreds, else there are 10,000 words
        rests = {word: value for word, value in numbers.items() if 0 < value < size and value % step == 0}
        numbers |= {head + rest: more + less for head, more in heads.items() for rest, less in rests.items()} | heads
    return {word: str(value) for word, value in numbers.items()} | cardinals
