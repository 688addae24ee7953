"""Removal of what killed runs left in the folder of an artefact."""

import errno
import os

import pytest

from jobs.workflows.erasure.rewriting import remove_leftovers
from schemas.artifacts import storage
from schemas.artifacts.manifest import read_manifest, read_verified
from schemas.artifacts.writer import Output
from schemas.errors import QprError


def test_an_artefact_stays_when_the_disk_does_not_answer(tmp_path, monkeypatch):
    url = str(tmp_path / "dataset")
    with Output(url, "dataset") as output:
        file = output.write("questions/0", b"rows", table="questions")
        output.publish([file], inputs=[], configuration={}, counters={})
    storage.write_bytes(storage.join(url, "20200101T000000Z-abcdef", "questions", "0"), b"of a killed run")
    real = os.stat

    def stale(path, *given, **named):
        if str(path).endswith("manifest.json"):
            raise OSError(errno.ESTALE, os.strerror(errno.ESTALE))
        return real(path, *given, **named)

    with monkeypatch.context() as patched:
        patched.setattr(os, "stat", stale)
        with pytest.raises(QprError, match=r"manifest\.json: Stale file handle\. Run this again"):
            remove_leftovers(url, dry_run=False)
    assert read_verified(url, read_manifest(url).files[0]) == b"rows"
    assert remove_leftovers(url, dry_run=False) == 1
    assert storage.children(url) == sorted([read_manifest(url).run_id, "manifest.json"])
