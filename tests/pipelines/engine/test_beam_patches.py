import base64
import bz2
import pickle
import sys
import threading
import types
from unittest.mock import Mock

import apache_beam as beam
import objsize.traverse
import pyarrow as pa
import pytest
from apache_beam.coders import coders
from apache_beam.internal import cloudpickle_pickler, pickler
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
from apache_beam.transforms import core, ptransform, userstate
from apache_beam.transforms.timeutil import TimeDomain
from apache_beam.typehints import decorators

from pipelines.engine import beam_patches
from pipelines.engine.beam_patches import (
    BUNDLE_KEPT_S,
    LateWorkerHandler,
    compress_what_is_sent,
    drop_finished_bundles,
    end_late_workers,
    inspect_once,
    read_sizes_of_tables,
    skip_diagnostics,
)
from pipelines.engine.runner import new_pipeline

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


@pytest.mark.parametrize(
    ("flag", "dropped"),
    [
        ("--environment_type=LOOPBACK", True),
        ("--runner=FnApiRunner", True),
        ("--environment_type=EXTERNAL", False),
        ("--environment_type=DOCKER", False),
        ("--runner=DataflowRunner", False),
    ],
)
def test_only_workers_in_this_process_drop_a_finished_bundle_early(flag, dropped, monkeypatch):
    monkeypatch.setattr(sdk_worker, CACHE_S, BEAM_CACHE_S)
    drop_finished_bundles(PipelineOptions([flag]))
    cache = BundleProcessorCache(frozenset(), None, None, {})
    thread = cache.periodic_shutdown
    cache.shutdown()
    assert thread._interval == (BUNDLE_KEPT_S if dropped else BEAM_CACHE_S)


def test_beam_itself_keeps_a_finished_bundle_for_a_minute_without_an_option_or_the_patch_can_go():
    options = PipelineOptions([]).get_all_options()
    assert BEAM_CACHE_S == 60
    assert not [name for name in options if "bundle" in name and ("cache" in name or "shutdown" in name)]


@pytest.fixture
def inspected_once(monkeypatch):
    monkeypatch.setattr(PipelineOptions, "view_as", PipelineOptions.view_as)
    monkeypatch.setattr(core, "get_function_args_defaults", core.get_function_args_defaults)
    monkeypatch.setattr(userstate, "get_dofn_specs", userstate.get_dofn_specs)
    monkeypatch.setattr(PipelineOptions, "_visible_option_list", PipelineOptions._visible_option_list)
    monkeypatch.setattr(decorators, "get_signature", decorators.get_signature)
    monkeypatch.setattr(objsize.traverse, "_iter_modules_globals", objsize.traverse._iter_modules_globals)
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


@pytest.mark.usefixtures("inspected_once")
def test_the_options_of_a_view_are_those_that_beam_lists_and_no_others_can_be_read():
    view = PipelineOptions(["--runner=FnApiRunner"]).view_as(StandardOptions)
    assert view._visible_option_list() == beam_patches._listed_options(view)
    assert (view.runner, view.streaming) == ("FnApiRunner", False)
    with pytest.raises(AttributeError, match="has no attribute 'job_name'"):
        _ = view.job_name


def typed(element: int, *more: str, key: bytes = b"") -> list[float]:
    return [element]


@pytest.mark.usefixtures("inspected_once")
@pytest.mark.parametrize("function", [typed, Step().process, Step.process, str.upper, len, Step, lambda element: 1])
def test_a_signature_is_the_one_that_beam_finds_also_the_second_time(function):
    assert decorators.get_signature(function) == beam_patches._examined(function)
    assert decorators.get_signature(function) == beam_patches._examined(function)


@pytest.mark.usefixtures("inspected_once")
def test_a_module_that_is_imported_later_is_left_out_of_the_sizes_of_side_inputs(monkeypatch):
    before = objsize.traverse._iter_modules_globals()
    assert vars(beam_patches) in before
    monkeypatch.setitem(sys.modules, "imported_later", later := types.ModuleType("imported_later"))
    assert any(vars(later) is listed for listed in objsize.traverse._iter_modules_globals())
    assert not any(vars(later) is listed for listed in before)


@pytest.fixture
def without_diagnostics(monkeypatch):
    monkeypatch.setattr(core, "_check_fn_use_yield_and_return", core._check_fn_use_yield_and_return)
    monkeypatch.setattr(decorators.IOTypeHints, "_make_origin", decorators.IOTypeHints._make_origin)
    monkeypatch.setattr(ptransform, "pickler", pickler)
    skip_diagnostics()


@pytest.mark.usefixtures("without_diagnostics")
def test_a_hint_keeps_its_types_and_no_call_stack_and_a_wrong_one_is_still_found():
    hints = decorators.IOTypeHints.from_callable(typed)
    assert hints.output_types == ((decorators.typehints.List[float],), {})
    assert hints.origin
    assert not any(line.startswith("File") for line in hints.origin)
    assert any(line.startswith("File") for line in beam_patches._origin(decorators.IOTypeHints, []))
    with pytest.raises(decorators.TypeCheckError):
        new_pipeline(PipelineOptions(["--runner=FnApiRunner"])) | beam.Create(["text"]) | beam.FlatMap(typed)


class Pickled:
    """Counts how often it is pickled."""

    times = 0

    def __reduce__(self):
        Pickled.times += 1
        return Pickled, ()


def test_beam_itself_pickles_the_arguments_of_a_step_before_it_sends_them_or_the_patch_can_go(monkeypatch):
    monkeypatch.setattr(ptransform, "pickler", pickler)
    monkeypatch.setattr(Pickled, "times", 0)
    beam.FlatMap(lambda element, given: [element], Pickled())
    assert Pickled.times == 1


@pytest.mark.usefixtures("without_diagnostics")
def test_the_arguments_of_a_step_are_pickled_when_it_is_sent_and_what_cannot_be_is_an_error(monkeypatch):
    monkeypatch.setattr(Pickled, "times", 0)
    step = beam.FlatMap(lambda element, given: [element], Pickled())
    assert Pickled.times == 0
    with beam.Pipeline("FnApiRunner") as pipeline:
        pipeline | beam.Create(["text"]) | step
    assert Pickled.times > 0
    pipeline = beam.Pipeline("FnApiRunner")
    pipeline | beam.Create(["text"]) | beam.FlatMap(lambda element, given: [element], (n for n in ()))
    with pytest.raises(RuntimeError, match="Unable to translate FlatMap"):
        pipeline.run()


@pytest.mark.parametrize(
    ("given", "first"),
    [
        ([], b"\x80"),
        (["--direct_running_mode=multi_processing"], b"BZh1"),
        (["--runner=FlinkRunner"], b"BZh1"),
    ],
)
def test_a_step_is_compressed_where_it_leaves_the_process_and_read_with_and_without_the_patch(
    monkeypatch, given, first
):
    content = {"step": [Step, list(range(1_000))]}
    compressed = cloudpickle_pickler.dumps(content)
    monkeypatch.setattr(cloudpickle_pickler, "bz2", cloudpickle_pickler.bz2)
    compress_what_is_sent(PipelineOptions(["--runner=FnApiRunner", *given]))
    written = base64.b64decode(small := cloudpickle_pickler.dumps(content))
    assert written.startswith(first)
    assert cloudpickle_pickler.loads(small) == cloudpickle_pickler.loads(compressed) == content
    if first != b"\x80":
        assert bz2.decompress(written).startswith(b"\x80")


TABLE = pa.table({"numbers": list(range(1_000))})
MAKE_CODER = coders.FastPrimitivesCoder._create_impl


def test_beam_itself_pickles_a_table_to_find_its_size_or_the_patch_can_go():
    size, _ = MAKE_CODER(coders.FastPrimitivesCoder()).get_estimated_size_and_observables(TABLE)
    assert size > len(pickle.dumps(TABLE, pickle.HIGHEST_PROTOCOL))


@pytest.mark.parametrize(
    ("element", "size"),
    [(TABLE, TABLE.nbytes), ((TABLE, TABLE, None), 2 * TABLE.nbytes), ("text", None), ((1, 2), None)],
)
def test_the_size_of_a_table_is_read_from_it_and_its_bytes_are_those_of_beam(monkeypatch, element, size):
    monkeypatch.setattr(coders.FastPrimitivesCoder, "_create_impl", MAKE_CODER)
    of_beam = coders.FastPrimitivesCoder().get_impl()
    read_sizes_of_tables()
    ours = coders.FastPrimitivesCoder().get_impl()
    expected = of_beam.get_estimated_size_and_observables(element) if size is None else (size, [])
    assert ours.get_estimated_size_and_observables(element) == expected
    assert ours.encode(element) == of_beam.encode(element)
    assert ours.decode(of_beam.encode(element)) == element
