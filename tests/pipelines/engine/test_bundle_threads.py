import concurrent.futures
import threading

import apache_beam as beam
import pytest
from apache_beam.options.pipeline_options import PipelineOptions
from apache_beam.runners.worker import bundle_processor, statesampler
from apache_beam.testing.util import assert_that, equal_to
from apache_beam.utils.counters import CounterFactory

from pipelines.engine.bundle_threads import spare_threads


@pytest.fixture(autouse=True)
def beam_itself(monkeypatch):
    monkeypatch.setattr(statesampler.statesampler_impl, "threading", threading)
    monkeypatch.setattr(bundle_processor, "concurrent", concurrent)


class Counted(beam.DoFn):
    def process(self, element):
        beam.metrics.Metrics.counter("test", "seen").inc()
        yield element


class Unmade(beam.DoFn):
    may_be_made = True

    def __reduce__(self):
        return make, ()


def make():
    if not Unmade.may_be_made:
        raise KeyError("cannot be made")
    return Unmade()


@pytest.mark.parametrize("patched", [False, True], ids=["Beam itself, or the patch can go", "patched"])
def test_a_bundle_starts_no_thread_and_steps_and_counters_are_those_of_beam(monkeypatch, patched):
    options, started, start = PipelineOptions(["--runner=FnApiRunner"]), [], threading.Thread.start
    monkeypatch.setattr(threading.Thread, "start", lambda thread: (started.append(thread.name), start(thread)))
    if patched:
        spare_threads(options)
    pipeline = beam.Pipeline(options=options)
    elements = pipeline | beam.Create([3, 4, 5], reshuffle=False) | beam.ParDo(Counted())
    grouped = elements | beam.Map(lambda number: (number % 2, number)) | beam.GroupByKey()
    assert_that(grouped | beam.MapTuple(lambda key, values: (key, sorted(values))), equal_to([(0, [4]), (1, [3, 5])]))
    result = pipeline.run()
    result.wait_until_finish()
    [counter] = result.metrics().query(beam.metrics.MetricsFilter().with_name("seen"))["counters"]
    assert counter.committed == 3
    of_bundles = [name for name in started if "ExecutionTreeCreator" in name or "(run)" in name]
    assert bool(of_bundles) != patched


@pytest.mark.parametrize("patched", [False, True], ids=["Beam itself", "patched"])
def test_a_step_that_cannot_be_made_ends_the_run_with_its_error(monkeypatch, patched):
    options = PipelineOptions(["--runner=FnApiRunner"])
    if patched:
        spare_threads(options)
    pipeline = beam.Pipeline(options=options)
    pipeline | beam.Create([1]) | beam.ParDo(Unmade())
    monkeypatch.setattr(Unmade, "may_be_made", False)
    with pytest.raises(Exception, match="cannot be made"):
        pipeline.run()


@pytest.mark.parametrize("patched", [False, True], ids=["Beam itself, or the patch can go", "patched"])
def test_a_thread_that_measures_for_another_engine_keeps_no_process_alive(patched):
    spare_threads(PipelineOptions(["--runner=FnApiRunner"]))
    statesampler.statesampler_impl.threading = threading
    if patched:
        spare_threads(PipelineOptions(["--runner=PrismRunner"]))
        assert bundle_processor.concurrent.futures.ThreadPoolExecutor is concurrent.futures.ThreadPoolExecutor
    before = {*threading.enumerate()}
    sampler = statesampler.StateSampler("a", CounterFactory())
    sampler.start()
    try:
        [thread] = {*threading.enumerate()} - before
        assert thread.daemon == patched
    finally:
        sampler.stop()
