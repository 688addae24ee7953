import pytest
from apache_beam.options.pipeline_options import FlinkRunnerOptions, PortableOptions

from pipelines.engine.engine_options import LONGEST_S, EngineOptions
from pipelines.engine.runner import parse_options
from schemas.errors import UsageError


@pytest.mark.parametrize("runner", ["FlinkRunner", "flink", "PortableRunner", "my.own.Runner"])
def test_an_option_of_the_job_server_alone_is_accepted(runner):
    flags = [f"--runner={runner}", "--checkpointing_interval=60000", "--object_reuse", "--operator_chaining=false"]
    options = parse_options([*flags, "--parallelism=4"])
    job = options.view_as(EngineOptions)
    assert (job.checkpointing_interval, job.object_reuse, job.operator_chaining) == (60_000, True, False)
    assert job.max_bundle_size is None
    assert options.view_as(FlinkRunnerOptions).parallelism == 4


def test_spark_takes_its_own():
    options = parse_options(["--runner=SparkRunner", "--bundle_size=1000", "--storage_level=MEMORY_AND_DISK"])
    job = options.view_as(EngineOptions)
    assert (job.bundle_size, job.storage_level, job.cache_disabled) == (1000, "MEMORY_AND_DISK", None)


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (
            ["--flink_master=host:8081"],
            "--flink_master is an option of Flink, but --runner=FnApiRunner. Add --runner=F",
        ),
        (["--runner=SparkRunner", "--checkpointing_interval", "5"], "--checkpointing_interval is an option of Flink"),
        (["--runner=FlinkRunner", "--bundle_size=5"], "--bundle_size is an option of Spark, but --runner=FlinkRunner"),
        (["--runner=DirectRunner", "--prism_location=/prism"], "--prism_location is an option of Prism"),
        (
            ["--job_endpoint=jobserver:8099"],
            "--job_endpoint is an option of a job server, but --runner=FnApiRunner. Add --runner=PortableRunner",
        ),
        (["--runner=direct", "--environment_type", "EXTERNAL"], "--environment_type is an option of a job server"),
    ],
)
def test_an_option_of_an_engine_that_will_not_run_is_refused(flags, message):
    with pytest.raises(UsageError, match=message):
        parse_options(flags)


@pytest.mark.parametrize(
    ("flag", "message"),
    [
        (
            "--checkpointing_intervall=5",
            r"no option --checkpointing_intervall; did you mean --checkpointing_interval\?",
        ),
        ("--checkpointing_interval=5s", "argument --checkpointing_interval: invalid int value: '5s'"),
        ("--object_reuse=maybe", "argument --object_reuse: true or false, not 'maybe'"),
        ("--execution_mode_for_batch=FAST", "argument --execution_mode_for_batch: invalid choice"),
        ("--flink_version=1.5", "argument --flink_version: invalid choice"),
        ("--parallelism=many", "argument --parallelism: invalid int value"),
    ],
)
def test_a_wrong_option_of_flink_is_one_line(flag, message):
    with pytest.raises(UsageError, match=message) as refused:
        parse_options(["--runner=FlinkRunner", flag])
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("flags", "kept"), [([], 60_000), (["--environment_cache_millis=5"], 5), (["--environment_cache_millis=0"], 0)]
)
def test_workers_live_from_stage_to_stage_unless_the_user_sets_a_time(flags, kept):
    options = parse_options(["--runner=SparkRunner", *flags])
    assert int(options.view_as(PortableOptions).environment_cache_millis) == kept


@pytest.mark.parametrize(
    ("flags", "seconds"),
    [
        (["--runner=PrismRunner"], LONGEST_S),
        (["--runner=prism", "--job_server_timeout=5"], 5),
        (["--runner=FlinkRunner"], 300),  # it waits so long for a job server that is not there
    ],
)
def test_a_job_on_prism_may_take_longer_than_a_request(flags, seconds):
    assert parse_options(flags).view_as(PortableOptions).job_server_timeout == seconds
