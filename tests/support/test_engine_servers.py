from pathlib import Path

import pytest

from tests.support import engine_servers


@pytest.fixture
def start(tmp_path: Path) -> Path:
    """Write a start script beside two jars, and another folder with jars of a whole Spark."""
    for folder, names in (
        ("tools/jars", ["spark-core-3.jar", "kryo-shaded-4.jar"]),
        ("whole", ["chill-java-0.10.jar", "minlog-1.jar", "objenesis-3.jar", "avro-1.11.jar", "avro-ipc-1.11.jar"]),
    ):
        (tmp_path / folder).mkdir(parents=True)
        for name in names:
            (tmp_path / folder / name).write_text(name)
    script = tmp_path / "tools" / "start"
    script.write_text("#!/bin/sh\n")
    script.chmod(0o755)
    return script


def test_jars_that_kryo_needs_are_put_beside_a_copy_of_the_script(
    start: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("QPR_SPARK_JARS", str(tmp_path / "whole"))
    copied, kryo = engine_servers._with_kryo(start, tmp_path / "logs")
    assert kryo
    assert copied.read_text() == start.read_text()
    assert copied.stat().st_mode & 0o111
    jars = {jar.name: jar.read_text() for jar in (copied.parent / "jars").iterdir()}
    assert jars == {name: name for name in jars}
    needed = {"chill-java-0.10.jar", "minlog-1.jar", "objenesis-3.jar", "avro-1.11.jar"}
    assert jars.keys() == needed | {"spark-core-3.jar", "kryo-shaded-4.jar"}


def test_without_them_the_script_is_used_where_it_is(
    start: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("QPR_SPARK_JARS", raising=False)
    assert engine_servers._with_kryo(start, tmp_path / "logs") == (start, False)
    monkeypatch.setenv("QPR_SPARK_JARS", str(tmp_path / "elsewhere"))
    assert engine_servers._with_kryo(start, tmp_path / "logs") == (start, False)
