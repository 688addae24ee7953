import threading
from unittest.mock import Mock

import apache_beam as beam
import pytest
from apache_beam.options.pipeline_options import PipelineOptions, StandardOptions, TypeOptions
from apache_beam.portability import python_urns
from apache_beam.portability.api import beam_fn_api_pb2
from apache_beam.runners.portability.fn_api_runner.worker_handlers import (
    BeamFnControlServicer,
    ControlConnection,
    SubprocessSdkWorkerHandler,
    WorkerHandler,
)
from apache_beam.runners.worker import sdk_worker
from apache_beam.runners.worker.sdk_worker import BundleProcessorCache
from apache_beam.transforms import core, userstate
from apache_beam.transforms.timeutil import TimeDomain

from pipelines.engine import beam_patches
from pipelines.engine.beam_patches import (
    BUNDLE_KEPT_S,
    LateWorkerHandler,
    drop_finished_bundles,
    end_late_workers,
    inspect_once,
)

DONE = BeamFnControlServicer._DONE_MARKER
CACHE_S = "DEFAULT_BUNDLE_PROCESSOR_CACHE_SHUTDOWN_THRESHOLD_S"
BEAM_CACHE_S = getattr(sdk_worker, CACHE_S)


def handler_with_work(kind):
    made = kind.__new__(kind)
    made.control_conn, made.data_conn = ControlConnection(), Mock()
    made.worker_thread = threading.Thread(target=lambda: None)
    made.worker_thread.start()
    made.control_conn.push(beam_fn_api_pb2.InstructionRequest())
    return made


def instructions_of(handler):
    return list(handler.control_conn._push_queue.queue)


def test_a_worker_that_connects_after_the_end_gets_the_end_marker_and_no_work():
    handler = handler_with_work(LateWorkerHandler)
    handler.close()
    assert instructions_of(handler) == [DONE]
    handler.data_conn.close.assert_called_once_with()


def test_beam_itself_leaves_such_a_worker_waiting_or_the_patch_can_go():
    handler = handler_with_work(SubprocessSdkWorkerHandler)
    handler.close()
    assert DONE not in instructions_of(handler)


def test_a_connected_worker_gets_its_work_before_the_end_marker():
    handler = handler_with_work(LateWorkerHandler)
    handler.control_conn.set_input(iter(()))
    handler.close()
    work, end = instructions_of(handler)
    assert isinstance(work, beam_fn_api_pb2.InstructionRequest)
    assert end is DONE


def test_beam_starts_worker_processes_through_the_patched_handler(monkeypatch):
    registered = {python_urns.SUBPROCESS_SDK: (SubprocessSdkWorkerHandler, bytes)}
    monkeypatch.setattr(WorkerHandler, "_registered_environments", registered)
    end_late_workers()
    assert registered[python_urns.SUBPROCESS_SDK] == (LateWorkerHandler, bytes)


@pytest.mark.parametrize("environment", ["LOOPBACK", "EXTERNAL", "DOCKER", None])
def test_only_workers_in_this_process_drop_a_finished_bundle_early(environment, monkeypatch):
    monkeypatch.setattr(sdk_worker, CACHE_S, BEAM_CACHE_S)
    drop_finished_bundles(PipelineOptions([f"--environment_type={environment}"] if environment else []))
    cache = BundleProcessorCache(frozenset(), None, None, {})
    thread = cache.periodic_shutdown
    cache.shutdown()
    assert thread._interval == (BUNDLE_KEPT_S if environment == "LOOPBACK" else BEAM_CACHE_S)


def test_beam_itself_keeps_a_finished_bundle_for_a_minute_without_an_option_or_the_patch_can_go():
    options = PipelineOptions([]).get_all_options()
    assert BEAM_CACHE_S == 60
    assert not [name for name in options if "bundle" in name and ("cache" in name or "shutdown" in name)]


@pytest.fixture
def inspected_once(monkeypatch):
    monkeypatch.setattr(PipelineOptions, "view_as", PipelineOptions.view_as)
    monkeypatch.setattr(core, "get_function_args_defaults", core.get_function_args_defaults)
    monkeypatch.setattr(userstate, "get_dofn_specs", userstate.get_dofn_specs)
    inspect_once()


def test_beam_itself_parses_all_flags_for_every_view_or_the_patch_can_go():
    options = PipelineOptions(["--runner=FnApiRunner"])
    one, other = (beam_patches._parsed_view(options, StandardOptions) for _ in range(2))
    assert one is not other
    assert one.runner == other.runner == "FnApiRunner"


@pytest.mark.usefixtures("inspected_once")
def test_a_view_is_parsed_once_and_shares_its_values_with_all_others():
    options, others = PipelineOptions(["--runner=FnApiRunner"]), PipelineOptions([])
    view = options.view_as(StandardOptions)
    assert options.view_as(StandardOptions) is view
    view.runner = "FlinkRunner"
    assert options.view_as(TypeOptions).view_as(StandardOptions).runner == "FlinkRunner"
    assert others.view_as(StandardOptions).runner is None


class Step(beam.DoFn):
    def process(self, element, key=beam.DoFn.TimestampParam, *, word="a"):
        yield element, key, word


@pytest.mark.usefixtures("inspected_once")
@pytest.mark.parametrize("name", ["process", "start_bundle", "setup", "to_runner_api"])
def test_the_arguments_of_a_method_are_those_that_beam_finds(name):
    method = getattr(Step(), name)
    found = core.get_function_args_defaults(method)
    assert found == beam_patches._inspected(method)
    found[0].append("changed")
    assert core.get_function_args_defaults(getattr(Step(), name)) == beam_patches._inspected(method)


@pytest.mark.usefixtures("inspected_once")
def test_functions_that_are_no_methods_are_inspected_by_beam():
    assert core.get_function_args_defaults(lambda element, bound=3: element) == (["element", "bound"], [3])


COUNT = userstate.CombiningValueStateSpec("count", sum)
END = userstate.TimerSpec("end", TimeDomain.WATERMARK)


class Counting(beam.DoFn):
    def process(self, element, count=beam.DoFn.StateParam(COUNT), end=beam.DoFn.TimerParam(END)):  # noqa: B008
        yield element


@pytest.mark.usefixtures("inspected_once")
def test_the_states_of_a_step_are_those_that_beam_finds():
    for step in (Step(), Counting(), Step(), Counting()):
        assert userstate.get_dofn_specs(step) == beam_patches._searched(step)
    assert userstate.get_dofn_specs(Counting()) == ({COUNT}, {END})
    userstate.get_dofn_specs(Counting())[0].clear()
    assert userstate.is_stateful_dofn(Counting())


@pytest.mark.usefixtures("inspected_once")
def test_a_step_that_holds_a_method_is_searched_itself():
    plain, holding = Step(), Step()
    holding.held = Counting().process
    assert userstate.get_dofn_specs(plain) == (set(), set())
    assert userstate.get_dofn_specs(holding) == ({COUNT}, {END})
