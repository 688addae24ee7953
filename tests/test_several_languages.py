"""The steps of "Logs in several languages" in docs/filters.md, run as they are written."""

import csv
import os
import re
import signal
import subprocess
import threading
import urllib.parse
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
TRAINING = "qpr train --dataset all --output encoder"
SMALL = " --epochs 1 --dimension 32 --vocabulary-size 500 --hash-bins 50 --ngram-bins 500"
TENANTS = ("acme", "bolt/eu")
SPELLINGS = {"en": ("en", "en-GB", "EN_us"), "de": ("de", "de-AT", "de_DE")}


def rows_of_log():
    """Return rows of two tenants and languages, some without a language, with `hotel` in each."""
    for tenant in TENANTS:
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
    """Return language and text of each block of the section; its training is smaller here."""
    text = (ROOT / "docs" / "filters.md").read_text()
    section = text[text.index("## Logs in several languages") :]
    assert TRAINING in section
    section = section.replace(TRAINING, TRAINING + SMALL)
    return re.findall(r"^```(sh|python)\n(.*?)^```", section, re.MULTILINE | re.DOTALL)


class Shell:
    """Runs shell scripts whose commands `qpr` run in this process, one after the other.

    Eight processes would load the libraries eight times. The command of the script writes its arguments to a pipe and
    gets from others what was printed and the exit code.
    """

    def __init__(self, folder, qpr):
        folder.mkdir()
        self.folder, self.qpr = folder, qpr
        for name in ("arguments", "printed", "code"):
            os.mkfifo(folder / name)
        script = f"cd '{folder}'\nprintf '%s\\0' \"$@\" > arguments\ncat printed\nexit $(cat code)\n"
        (folder / "qpr").write_text(f"#!/bin/sh\n{script}")
        (folder / "qpr").chmod(0o755)

    def run(self, script):
        """Return what a script printed that ends without an error."""
        environment = os.environ | {"PATH": f"{self.folder}{os.pathsep}{os.environ['PATH']}"}
        streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, "start_new_session": True}
        process, printed = subprocess.Popen(["bash", "-e", "-c", script], env=environment, **streams), []
        threading.Thread(target=self._wait, args=(process, printed), daemon=True).start()
        try:
            while arguments := (self.folder / "arguments").read_text():
                outcome = self.qpr(*arguments.split("\0")[:-1])
                if outcome.code:
                    print(outcome.err)  # pytest shows it if the test fails
                (self.folder / "printed").write_text(outcome.out)
                (self.folder / "code").write_text(str(outcome.code))
        except BaseException:
            os.killpg(process.pid, signal.SIGKILL)  # the script waits for an answer
            raise
        assert process.returncode == 0, printed[1]
        return printed[0]

    def _wait(self, process, printed):
        printed += process.communicate()
        (self.folder / "arguments").write_text("")  # ends the loop that reads them


@pytest.mark.slow
def test_each_tenant_and_language_of_a_mixed_log_gets_its_own_answers_and_no_row_is_lost(qpr, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = [*rows_of_log()]
    (tmp_path / "logs").mkdir()
    with (tmp_path / "logs" / "day.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)
    shell, printed = Shell(tmp_path / "bin", qpr), []
    for language, block in steps():
        if language == "sh":
            printed.append(shell.run(block))
        else:
            exec(compile(block, "filters.md", "exec"), {})
    assert "no dataset" in "".join(printed)  # rows without a language are too few for a cluster

    parts = {path.relative_to(tmp_path / "parts"): 0 for path in (tmp_path / "parts").glob("*/*")}
    for part in parts:
        with (tmp_path / "parts" / part / "day.csv").open(encoding="utf-8", newline="") as file:
            parts[part] = len([*csv.DictReader(file)])
    assert sum(parts.values()) == len(rows)
    made = {part for part in parts if (tmp_path / "datasets" / part / "manifest.json").exists()}
    assert {str(part) for part in made} == {
        f"tenant={tenant}/locale={language}" for tenant in ("acme", "bolt%2Feu") for language in FORMS
    }
    for part in made:
        counters = read_manifest(str(tmp_path / "datasets" / part)).counters
        assert counters["rows_read"] == counters["rows_kept"] + counters["rows_rejected"] == parts[part]

    searcher = open_searcher(str(tmp_path / "index"))
    sizes = {part: len(open_dataset(str(tmp_path / "datasets" / part)).table("questions")) for part in made}
    assert len(searcher.index) == sum(sizes.values())
    for part, number in sizes.items():
        filters = dict(urllib.parse.unquote(folder).split("=") for folder in part.parts)
        tenant, language = filters["tenant"], filters["locale"]
        found = searcher.answer("Hotel?", filters=filters)
        assert (found.reason, found.hit.answer) == ("exact", f"{language} answer hotel of {tenant}")
        hits = searcher.search("hotel bill rechnung", k=number, filters=filters)
        assert {(hit.answer.split()[0], hit.answer.split()[-1]) for hit in hits} == {(language, tenant)}
