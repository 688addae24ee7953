"""What is handed to an engine: the same steps whichever it is, and nothing that grows with the data but a shuffle."""

import json

import pytest
from apache_beam.portability import common_urns
from apache_beam.portability.api import beam_runner_api_pb2
from google.protobuf import json_format

from tests.support.engine_servers import ROOT

pytestmark = pytest.mark.xdist_group("job_graph")  # one worker makes each job once
EXTERNAL = ("--environment_type=EXTERNAL", "--environment_config=pool:50000")
ENGINES = {
    "Prism": ("--runner=PrismRunner", *EXTERNAL),
    "Spark": ("--runner=SparkRunner", "--spark_master_url=spark://master:7077", *EXTERNAL),
    "Flink": ("--runner=FlinkRunner", "--flink_master=master:8081", "--parallelism=8", *EXTERNAL),
    "a job server": ("--runner=PortableRunner", *EXTERNAL),
}
BEAMS_OWN = ("GroupParts", "GroupByKey", "ReshufflePerKey", "ToList", "Map(decode)")
PIPELINES = ["clusters", "quora", "index"]
FURTHER = [*PIPELINES, "fellegi-sunter", "static", "users"]


def graph(job):
    """Return all of a job that its engine runs."""
    found = json_format.MessageToDict(job.pipeline)
    for environment in found["components"]["environments"].values():
        environment.pop("dependencies", None)  # a list of installed packages, in a file of another name each time
    return found


@pytest.mark.parametrize("name", PIPELINES)
def test_every_engine_gets_the_same_steps_coders_and_code(submitted, name):
    graphs = {engine: graph(submitted(name, *flags)) for engine, flags in ENGINES.items()}
    assert all(found == graphs["Prism"] for found in graphs.values())
    assert len(graphs["Prism"]["components"]["transforms"]) > 20


@pytest.mark.parametrize("name", PIPELINES)
def test_where_workers_live_changes_the_environment_and_nothing_else(submitted, name):
    graphs = [
        graph(submitted(name, "--runner=FlinkRunner", f"--environment_type={kind}", f"--environment_config={at}"))
        for kind, at in (("EXTERNAL", "pool:50000"), ("DOCKER", "image:1"))
    ]
    environments = [found["components"].pop("environments") for found in graphs]
    assert graphs[0] == graphs[1]
    assert {one["urn"] for one in environments[1].values()} == {common_urns.environments.DOCKER.urn}
    assert environments[0] != environments[1]


@pytest.mark.parametrize("name", PIPELINES)
def test_a_job_has_only_steps_that_every_engine_supports(submitted, name):
    components = submitted(name, *ENGINES["Flink"]).pipeline.components
    parents = {child for transform in components.transforms.values() for child in transform.subtransforms}
    urns = {t.spec.urn for t in components.transforms.values() if not t.subtransforms}
    known = {
        common_urns.primitives.IMPULSE.urn,
        common_urns.primitives.PAR_DO.urn,
        common_urns.primitives.FLATTEN.urn,
        common_urns.primitives.GROUP_BY_KEY.urn,
        common_urns.combine_components.COMBINE_PER_KEY_PRECOMBINE.urn,
        common_urns.combine_components.COMBINE_PER_KEY_MERGE_ACCUMULATORS.urn,
        common_urns.combine_components.COMBINE_PER_KEY_EXTRACT_OUTPUTS.urn,
    }
    assert urns <= known, urns - known
    assert parents
    for transform in components.transforms.values():
        if transform.spec.urn == common_urns.primitives.PAR_DO.urn:
            payload = beam_runner_api_pb2.ParDoPayload.FromString(transform.spec.payload)
            # state, timers and splittable functions are what engines differ in
            assert not payload.state_specs
            assert not payload.timer_family_specs
            assert not payload.restriction_coder_id


def test_what_is_set_for_flink_reaches_the_job(submitted):
    given = {
        "flink_master": "http://master:8081",
        "flink_version": "1.20",
        "parallelism": "8",
        "max_parallelism": "128",
        "environment_type": "EXTERNAL",
        "environment_config": "pool:50000",
        "sdk_worker_parallelism": "2",
        "checkpointing_interval": "60000",
        "checkpointing_mode": "AT_LEAST_ONCE",
        "checkpoint_timeout_millis": "600000",
        "max_bundle_size": "100",
        "max_bundle_time_mills": "5000",
        "execution_mode_for_batch": "BATCH_FORCED",
        "number_of_execution_retries": "3",
        "state_backend": "rocksdb",
        "state_backend_storage_path": "s3://bucket/state",
        "flink_conf_dir": "/etc/flink",
    }
    flags = [f"--{name}={value}" for name, value in given.items()]
    job = submitted("index", "--runner=FlinkRunner", *flags, "--object_reuse", "--operator_chaining=false")
    options = json.loads(json_format.MessageToJson(job.pipeline_options))
    found = {key.removeprefix("beam:option:").removesuffix(":v1"): value for key, value in options.items()}
    assert {name: found.get(name) for name in given} == given
    assert found["environment_cache_millis"] == "60000"
    assert (found["object_reuse"], found["operator_chaining"]) == (True, False)
    assert "latency_tracking_interval" not in found  # what nobody set is left to the engine


def gathered(pipeline):
    """Return what many workers' elements come together in, and how, Beam's own plumbing of a combine left out."""
    transforms = pipeline.components.transforms.values()
    made_by = {output: t.unique_name for t in transforms if not t.subtransforms for output in t.outputs.values()}
    found = set()
    for transform in transforms:
        name = transform.unique_name
        if transform.spec.urn == common_urns.primitives.PAR_DO.urn and not name.endswith("/InjectDefault"):
            payload = beam_runner_api_pb2.ParDoPayload.FromString(transform.spec.payload)
            for tag in payload.side_inputs:
                source = made_by[transform.inputs[tag]].removesuffix("/InjectDefault")
                found.add(("side input", step(source)))
        if transform.spec.urn == common_urns.primitives.GROUP_BY_KEY.urn:
            of_combine = name.endswith("/CombinePerKey/Group")
            found.add(("combine" if of_combine else "key", step(name.removesuffix("/CombinePerKey/Group"))))
    return found


def step(name):
    """Return a step's name as this project gives it, without what Beam appends."""
    parts = name.split("/")
    while len(parts) > 1 and (parts[-1] in BEAMS_OWN or parts[-1] == parts[-2]):
        parts.pop()
    return "/".join(parts)


def argued():
    """Return what docs/engines.md says of each place where elements come together."""
    cells = [line.split("|")[1:4] for line in (ROOT / "docs" / "engines.md").read_text().splitlines()]
    rows = [[cell.strip() for cell in row] for row in cells if len(row) == 3]
    kinds = ("side input", "combine", "key")
    return {(kind, name.strip("`")): bound for kind, name, bound in rows if kind in kinds}


@pytest.mark.parametrize("name", FURTHER)
def test_elements_come_together_only_where_the_documentation_names_a_bound(submitted, name):
    assert gathered(submitted(name, *ENGINES["Flink"]).pipeline) <= argued().keys()


def test_the_documentation_lists_no_place_that_is_gone(submitted):
    every = [gathered(submitted(name, *ENGINES["Flink"]).pipeline) for name in FURTHER]
    assert set.union(*every) == argued().keys()
    assert all(argued().values())


@pytest.mark.parametrize("name", PIPELINES)
def test_what_is_combined_is_combined_before_it_is_sent(submitted, name):
    transforms = submitted(name, *ENGINES["Flink"]).pipeline.components.transforms.values()
    names = {t.unique_name: t.spec.urn for t in transforms}
    combines = [n.removesuffix("/Group") for n in names if n.endswith("/CombinePerKey/Group")]
    assert combines
    lifted = common_urns.combine_components.COMBINE_PER_KEY_PRECOMBINE.urn
    assert {names.get(f"{combine}/Precombine") for combine in combines} == {lifted}
