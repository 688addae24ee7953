import logging
import sys
import tempfile

import apache_beam as beam
import pytest
from apache_beam.options.pipeline_options import DirectOptions, PipelineOptions, StandardOptions
from apache_beam.runners.portability.fn_api_runner import FnApiRunner

from pipelines.engine.beam_patches import IN_PROCESS
from pipelines.engine.runner import new_pipeline, parse_options, run
from schemas.errors import QprError, UsageError


def fail(_):
    raise QprError("file.csv: broken")


def runner_of(*flags):
    notes = []
    return parse_options(flags, note=notes.append).view_as(StandardOptions).runner, notes


def test_without_a_runner_the_one_in_this_process_is_used_and_nothing_is_reported():
    assert runner_of() == (IN_PROCESS, [])


@pytest.mark.parametrize("name", ["DirectRunner", "directrunner", "direct", "SwitchingDirectRunner"])
def test_the_direct_runner_means_the_one_in_this_process_and_that_is_reported_once(name):
    runner, notes = runner_of(f"--runner={name}")
    assert runner == IN_PROCESS
    assert len(notes) == 1
    assert name in notes[0]


def test_another_runner_stays():
    assert runner_of("--runner=FlinkRunner", "--flink_master=host:8081") == ("FlinkRunner", [])


@pytest.mark.parametrize("name", ["flink", "fnapirunner", "my.own.Runner"])
def test_a_runner_may_be_named_as_beam_takes_it(name):
    runner, notes = runner_of(f"--runner={name}")
    assert runner == {"fnapirunner": IN_PROCESS}.get(name, name)
    assert notes == []


@pytest.mark.parametrize(("name", "advice"), [("FlnkRunner", r"did you mean FlinkRunner\?"), ("Nope", "leave it out")])
def test_an_unknown_runner_is_refused_before_anything_runs(name, advice):
    with pytest.raises(UsageError, match=f"no runner {name}; {advice}"):
        parse_options([f"--runner={name}"])


@pytest.mark.parametrize("mode", ["in_memory", "multi_processing"])
def test_modes_that_keep_all_rows_are_taken(mode):
    options = parse_options([f"--direct_running_mode={mode}", "--direct_num_workers=2"])
    assert options.view_as(DirectOptions).direct_running_mode == mode
    assert options.view_as(DirectOptions).direct_num_workers == 2


def test_the_mode_that_loses_rows_is_refused_with_the_reason():
    with pytest.raises(UsageError, match="multi_threading loses rows"):
        parse_options(["--direct_running_mode=multi_threading"])


@pytest.mark.parametrize(
    ("flag", "message"),
    [
        ("--direct_num_worker=2", r"no option --direct_num_worker; did you mean --direct_num_workers\?"),
        ("--frobnicate", r"no option --frobnicate$"),
        ("stray", r"no option stray"),
    ],
)
def test_an_unknown_option_is_refused_with_the_nearest_known_one(flag, message):
    with pytest.raises(UsageError, match=message):
        parse_options([flag])


@pytest.mark.parametrize("flag", ["--direct_num_workers=abc", "--direct_running_mode=both", "--project"])
def test_a_wrong_value_is_one_line_that_names_the_option(flag, capsys):
    with pytest.raises(UsageError, match=f"argument {flag.partition('=')[0]}: (?!.*\n)"):
        parse_options([flag])
    assert capsys.readouterr() == ("", "")


def test_a_pipeline_that_fails_raises_its_error():
    with pytest.raises(Exception, match=r"file\.csv: broken"):
        run(lambda pipeline: pipeline | beam.Create([1]) | beam.Map(fail), parse_options([]))


def test_a_pipeline_that_does_not_end_well_publishes_nothing(monkeypatch):
    class Cancelled:
        state = "CANCELLED"

        def wait_until_finish(self):
            return None

    monkeypatch.setattr(beam.Pipeline, "run", lambda self: Cancelled())
    with pytest.raises(QprError, match="ended as CANCELLED"):
        run(lambda pipeline: pipeline | beam.Create([1]), parse_options([]))


def test_options_of_a_program_without_a_runner_run_in_this_process():
    def build(pipeline):
        assert isinstance(pipeline.runner, FnApiRunner)
        pipeline | beam.Create([1])

    run(build, PipelineOptions())


def test_a_run_keeps_the_engine_quiet():
    run(lambda pipeline: pipeline | beam.Create([1]), parse_options([]))
    assert logging.getLogger("apache_beam").level >= logging.ERROR


def test_several_processes_keep_quiet_and_their_errors_are_reported(capfd):
    options = parse_options(["--direct_running_mode=multi_processing", "--direct_num_workers=2"])
    with pytest.raises(RuntimeError, match=r"QprError: file\.csv: broken"):
        run(lambda pipeline: pipeline | beam.Create([1]) | beam.Map(fail), options)
    assert capfd.readouterr() == ("", "")


class Engine(beam.runners.runner.PipelineRunner):
    """An engine that fails before it runs anything."""

    error = RuntimeError("no job server at host:8081.\nmore words")

    def run_pipeline(self, pipeline, options):
        raise self.error


def test_an_engine_that_does_not_start_is_no_defect_of_ours():
    options = parse_options([f"--runner={__name__}.Engine"])
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, __name__, sys.modules[Engine.__module__])
        with pytest.raises(QprError, match=r"Engine did not run the pipeline: no job server at host:8081\. Check"):
            run(lambda pipeline: pipeline | beam.Create([1]), options)
        patch.setattr(Engine, "error", RuntimeError("Traceback\nschemas.errors.QprError: a.csv: is bad"))
        with pytest.raises(RuntimeError, match=r"a\.csv: is bad"):
            run(lambda pipeline: pipeline | beam.Create([1]), options)


def test_an_engine_that_is_not_installed_is_wrong_usage():
    with pytest.raises(UsageError, match=r"--runner=no\.such\.Engine: No module named 'no'"):
        run(lambda pipeline: pipeline | beam.Create([1]), parse_options(["--runner=no.such.Engine"]))


def test_no_temporary_folder_stays_of_a_pipeline_that_is_not_run(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    new_pipeline(parse_options([]))
    with pytest.raises(ZeroDivisionError):
        run(lambda pipeline: pipeline | beam.Create([1 // 0]), parse_options([]))
    assert list(tmp_path.iterdir()) == []
