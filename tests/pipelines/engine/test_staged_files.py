import contextlib
import tempfile

import pytest
from apache_beam.options.pipeline_options import PipelineOptions, PortableOptions
from apache_beam.runners.portability.stager import Stager
from apache_beam.transforms import environments

from pipelines.engine.runner import run
from pipelines.engine.staged_files import removed_staged_files

OF_BEAM = environments.python_sdk_dependencies


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Make an empty folder the one of temporary files, and the list of installed packages a short one."""

    def list_packages(place):
        (tmp_path.joinpath(place) / "packages.txt").write_text("numpy")
        return []

    monkeypatch.setattr(Stager, "_create_stage_submission_env_dependencies", staticmethod(list_packages))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def stage():
    """Stage what the workers of a job need, as Beam does before it sends a job to an engine."""
    flags = ["--runner=PortableRunner", "--requirements_cache=skip", "--environment_config=pool:50000"]
    environments.ExternalEnvironment.from_options(PipelineOptions(flags).view_as(PortableOptions))


@pytest.mark.parametrize("patched", [False, True], ids=["Beam itself, or the patch can go", "patched"])
def test_files_for_workers_are_there_until_the_job_has_ended_and_beam_alone_leaves_them(folder, patched):
    with removed_staged_files() if patched else contextlib.nullcontext():
        stage()
        stage()
        assert len([*folder.rglob("packages.txt")]) == 2
    assert len([*folder.rglob("packages.txt")]) == (0 if patched else 2)
    assert len([*folder.iterdir()]) == (0 if patched else 2)
    assert environments.python_sdk_dependencies is OF_BEAM


class Engine:
    """Stands for a pipeline whose job fails after its files were staged."""

    def run(self):
        stage()
        raise RuntimeError("the job failed")


def test_a_job_that_fails_leaves_none_of_its_files(folder, monkeypatch):
    monkeypatch.setattr("pipelines.engine.runner.new_pipeline", lambda _: Engine())
    with pytest.raises(RuntimeError, match="the job failed"):
        run(lambda _: None, PipelineOptions())
    assert [*folder.iterdir()] == []
    assert environments.python_sdk_dependencies is OF_BEAM
