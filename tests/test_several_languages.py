"""The steps of "Logs in several languages" in docs/filters.md, run as they are written."""

import csv
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from qpr import open_searcher
from schemas.artifacts.dataset import open_dataset
from schemas.artifacts.manifest import read_manifest

ROOT = Path(__file__).parent.parent
FORMS = {"en": ("how do i {}", "{} please", "can i {}", "i would like to {}", "help me {}")}
FORMS["de"] = ("wie kann ich {}", "{} bitte", "kann ich {}", "ich möchte {}", "hilf mir {}")
WORDS = {"en": ("pay", "cancel", "change", "find", "print", "send"), "de": ("zahlen", "kündigen", "ändern")}
WORDS["de"] += ("finden", "drucken", "senden")
THINGS = {"en": ("bill", "order", "ticket", "address"), "de": ("rechnung", "bestellung", "karte", "adresse")}
SPELLINGS = {"en": ("en", "en-GB", "EN_us"), "de": ("de", "de-AT", "de_DE")}


def rows_of_log():
    """Return rows of two tenants and languages, some without a language, with `hotel` in each."""
    for tenant in ("acme", "bolt"):
        for language, forms in FORMS.items():
            asked = [("hotel", "hotel")] * 3
            asked += [
                (form.format(f"{thing} {word}"), f"{place}-{number}")
                for place, word in enumerate(WORDS[language])
                for number, thing in enumerate(THINGS[language])
                for form in forms
            ]
            for number, (question, answer_id) in enumerate(asked):
                locale = SPELLINGS[language][number % 3] if number % 50 != 49 else ""
                answer = f"{language} answer {answer_id} of {tenant}"
                yield {
                    "question": question,
                    "answer": answer,
                    "answer_id": answer_id,
                    "locale": locale,
                    "tenant": tenant,
                }


def steps():
    """Yield language and text of each block of the section."""
    text = (ROOT / "docs" / "filters.md").read_text()
    section = text[text.index("## Logs in several languages") :]
    return re.findall(r"^```(sh|python)\n(.*?)^```", section, re.MULTILINE | re.DOTALL)


def command_folder(folder):
    """Return a folder with a command `qpr` that runs the code of this checkout."""
    folder.mkdir()
    (folder / "qpr").write_text(f'#!/bin/sh\nPYTHONPATH="{ROOT}" exec "{sys.executable}" -m jobs "$@"\n')
    (folder / "qpr").chmod(0o755)
    return folder


@pytest.mark.slow
def test_each_tenant_and_language_of_a_mixed_log_gets_its_own_answers_and_no_row_is_lost(tmp_path):
    rows = [*rows_of_log()]
    (tmp_path / "logs").mkdir()
    with (tmp_path / "logs" / "day.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)
    environment = os.environ | {"PATH": f"{command_folder(tmp_path / 'bin')}{os.pathsep}{os.environ['PATH']}"}
    printed = []
    for language, block in steps():
        shell = ["bash", "-e", "-c", block] if language == "sh" else [sys.executable, "-c", block]
        done = subprocess.run(shell, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        printed.append(done.stdout)
    assert "no dataset" in "".join(printed)  # rows without a language are too few for a cluster

    parts = {path.relative_to(tmp_path / "parts"): 0 for path in (tmp_path / "parts").glob("*/*")}
    for part in parts:
        with (tmp_path / "parts" / part / "day.csv").open(encoding="utf-8", newline="") as file:
            parts[part] = len([*csv.DictReader(file)])
    assert sum(parts.values()) == len(rows)
    made = {part for part in parts if (tmp_path / "datasets" / part / "manifest.json").exists()}
    assert {str(part) for part in made} == {f"tenant={t}/locale={x}" for t in ("acme", "bolt") for x in ("de", "en")}
    for part in made:
        counters = read_manifest(str(tmp_path / "datasets" / part)).counters
        assert counters["rows_read"] == counters["rows_kept"] + counters["rows_rejected"] == parts[part]

    searcher = open_searcher(str(tmp_path / "index"))
    sizes = {part: len(open_dataset(str(tmp_path / "datasets" / part)).table("questions")) for part in made}
    assert len(searcher.index) == sum(sizes.values())
    for part, number in sizes.items():
        filters = dict(folder.split("=") for folder in part.parts)
        tenant, language = filters["tenant"], filters["locale"]
        found = searcher.answer("Hotel?", filters=filters)
        assert (found.reason, found.hit.answer) == ("exact", f"{language} answer hotel of {tenant}")
        hits = searcher.search("hotel bill rechnung", k=number, filters=filters)
        assert {(hit.answer.split()[0], hit.answer.split()[-1]) for hit in hits} == {(language, tenant)}
