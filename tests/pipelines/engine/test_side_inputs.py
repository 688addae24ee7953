import apache_beam as beam
import pytest
from apache_beam.options.pipeline_options import PipelineOptions
from apache_beam.runners.portability.fn_api_runner import worker_handlers
from apache_beam.runners.worker import sdk_worker, statecache
from apache_beam.testing.util import assert_that, equal_to

from pipelines.engine.side_inputs import keep_no_side_inputs

NAME = "STATE_CACHE_SIZE_MB"
OF_BEAM = getattr(worker_handlers, NAME)


@pytest.fixture
def calls(monkeypatch):
    """Return lists of the measured side inputs and of those that were read from the engine."""
    measured, read = [], []
    measure, read_raw = statecache.get_deep_size, sdk_worker.GlobalCachingStateHandler._get_raw
    monkeypatch.setattr(statecache, "get_deep_size", lambda *values: (measured.append(values), measure(*values))[1])
    monkeypatch.setattr(
        sdk_worker.GlobalCachingStateHandler, "_get_raw", lambda *given: (read.append(given), read_raw(*given))[1]
    )
    monkeypatch.setattr(worker_handlers, NAME, OF_BEAM)
    return measured, read


@pytest.mark.parametrize("patched", [False, True], ids=["Beam itself, or the patch can go", "patched"])
@pytest.mark.parametrize(("view", "expected"), [(beam.pvalue.AsSingleton, 7), (beam.pvalue.AsList, [7])])
def test_a_side_input_of_a_step_is_read_once_and_beam_alone_visits_what_is_in_it(calls, patched, view, expected):
    measured, read = calls
    options = PipelineOptions(["--runner=FnApiRunner"])
    if patched:
        keep_no_side_inputs(options)
    with beam.Pipeline(options=options) as pipeline:
        side = pipeline | "Side" >> beam.Create([7])
        elements = pipeline | "Elements" >> beam.Create(range(5), reshuffle=False)
        given = elements | beam.Map(lambda _, given: given, view(side))
        assert_that(given, equal_to([expected] * 5))
    assert len(read) == len({given[1].SerializeToString() for given in read})
    assert len(measured) == (0 if patched else len(read))


def test_workers_of_another_engine_keep_side_inputs_as_beam_does(monkeypatch):
    monkeypatch.setattr(worker_handlers, NAME, OF_BEAM)
    keep_no_side_inputs(PipelineOptions(["--runner=FnApiRunner"]))
    assert getattr(worker_handlers, NAME) == 0
    keep_no_side_inputs(PipelineOptions(["--runner=PrismRunner"]))
    assert getattr(worker_handlers, NAME) == OF_BEAM > 0
