"""Precision and recall of the replacement of personal data, on generated texts with near misses.

Run: python -m benchmarks.privacy.personal_data

Each kind is written in several formats with random digits and letters, and put into sentences. A form is a kind in
a particular writing: with other spaces, dashes or invisible characters, beside other numbers, in a script without
spaces. A near miss has the form of a kind but is none: wrong check digits, versions, dates, amounts, book numbers, user
names. Recall is the share of the personal data that is replaced as a whole, with no other character; precision the
share of all replacements, those of near misses too, that replace personal data of the kind.
"""

from __future__ import annotations

import random

from benchmarks.cli import AsJson, Report, Seed, run
from benchmarks.privacy.near_misses import NEAR
from benchmarks.privacy.personal_values import PERSONAL, SENTENCES
from benchmarks.privacy.written_forms import FORMS
from pipelines.privacy.patterns import replace_personal


def main(seed: Seed = 0, texts: int = 500, *, as_json: AsJson = False) -> None:
    """Measure every kind and every near miss."""
    report, draw = Report(as_json=as_json, texts_of_each=texts, seed=seed), random.Random(seed)
    replaced_wrongly: dict[str, int] = {}
    for name, near in NEAR.items():
        kinds_replaced = [replace_personal(draw.choice(SENTENCES).format(near(draw)))[1] for _ in range(texts)]
        replaced_wrongly |= {
            kind: replaced_wrongly.get(kind, 0) + sum(kind in f for f in kinds_replaced)
            for f in kinds_replaced
            for kind in f
        }
        report.row(near_miss=name, replaced=sum(map(bool, kinds_replaced)) / texts)
    for kind, drawn in PERSONAL.items():
        whole = 0
        for _ in range(texts):
            sentence = draw.choice(SENTENCES)
            whole += replace_personal(sentence.format(drawn(draw)))[0] == sentence.format(f"[{kind}]")
        report.row(kind=kind, recall=whole / texts, precision=whole / max(1, whole + replaced_wrongly.get(kind, 0)))
    for form, (kind, write) in FORMS.items():
        whole = 0
        for _ in range(texts):
            text, left = write(draw)
            whole += replace_personal(text)[0] == left
        report.row(form=form, kind=kind, recall=whole / texts)


if __name__ == "__main__":
    run(main)
