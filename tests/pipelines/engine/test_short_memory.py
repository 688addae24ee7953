import pytest
from apache_beam.options.pipeline_options import PipelineOptions
from apache_beam.runners.worker import sdk_worker
from apache_beam.runners.worker.sdk_worker import BundleProcessorCache

from pipelines.engine.short_memory import KEPT_S, forget_bundles

BEAMS = "DEFAULT_BUNDLE_PROCESSOR_CACHE_SHUTDOWN_THRESHOLD_S"


@pytest.fixture(autouse=True)
def restored(monkeypatch):
    monkeypatch.setattr(sdk_worker, BEAMS, getattr(sdk_worker, BEAMS))


@pytest.mark.parametrize("kind", ["LOOPBACK", "EXTERNAL", "DOCKER", None])
def test_workers_in_this_process_look_every_two_seconds_for_what_to_drop_and_others_as_beam_says(kind):
    beams = getattr(sdk_worker, BEAMS)
    forget_bundles(PipelineOptions([f"--environment_type={kind}"] if kind else []))
    cache = BundleProcessorCache(frozenset(), None, None, {})
    thread = cache.periodic_shutdown
    cache.shutdown()
    assert thread._interval == (KEPT_S if kind == "LOOPBACK" else beams)
    assert beams > KEPT_S
