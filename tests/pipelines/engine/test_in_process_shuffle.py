import platform
import subprocess
import sys
import types

import apache_beam as beam
import pytest
from apache_beam.coders import coders
from apache_beam.portability.api import beam_fn_api_pb2
from apache_beam.runners.portability.fn_api_runner.execution import GroupingBuffer, ListBuffer
from apache_beam.runners.portability.fn_api_runner.fn_runner import BundleManager, FnApiRunner
from apache_beam.runners.worker.bundle_processor import DataInputOperation
from apache_beam.runners.worker.data_plane import InMemoryDataChannel
from apache_beam.testing.test_pipeline import TestPipeline as PipelineUnderTest
from apache_beam.testing.util import assert_that, equal_to
from apache_beam.transforms import core, window
from apache_beam.utils.windowed_value import WindowedValue

from pipelines.engine import in_process_shuffle
from pipelines.engine.in_process_shuffle import hold_shuffles_once

PAIR = coders.WindowedValueCoder(
    coders.TupleCoder([coders.VarIntCoder(), coders.BytesCoder()]), coders.GlobalWindowCoder()
)
GROUP = coders.WindowedValueCoder(
    coders.TupleCoder([coders.VarIntCoder(), coders.IterableCoder(coders.BytesCoder())]), coders.GlobalWindowCoder()
)
SMALL = [(key, bytes([key % 7])) for key in range(2_500)] + [(3, b"again")]
LARGE = [(key, bytes([key]) * size) for key in range(5) for size in (3, 700_000)]
PATCHED = [
    (GroupingBuffer, "partition"),
    (GroupingBuffer, "__iter__"),
    (GroupingBuffer, "copy"),
    (BundleManager, "_send_input_to_worker"),
    (InMemoryDataChannel, "input_elements"),
    (FnApiRunner, "_execute_bundle"),
    (DataInputOperation, "process_encoded"),
]


@pytest.fixture
def held_once(monkeypatch):
    for kind, name in PATCHED:
        monkeypatch.setattr(kind, name, getattr(kind, name))
    hold_shuffles_once()


@pytest.fixture
def of_beam(monkeypatch):
    monkeypatch.setattr(GroupingBuffer, "partition", in_process_shuffle._partition_by_beam)
    monkeypatch.setattr(GroupingBuffer, "__iter__", in_process_shuffle._blocks_by_beam)
    monkeypatch.setattr(GroupingBuffer, "copy", in_process_shuffle._copy_by_beam)
    monkeypatch.setattr(BundleManager, "_send_input_to_worker", in_process_shuffle._send_by_beam)
    monkeypatch.setattr(InMemoryDataChannel, "input_elements", in_process_shuffle._elements_by_beam)


def encoded(pair):
    return PAIR.get_impl().encode_nested(WindowedValue(pair, 0, (window.GlobalWindow(),)))


def buffer_of(pairs):
    buffer = GroupingBuffer(PAIR, GROUP, core.Windowing(window.GlobalWindows()))
    for pair in pairs:
        buffer.append(encoded(pair))
    return buffer


def groups_in(blocks):
    found = [value.value for block in blocks for value in GROUP.get_impl().decode_all(block)]
    return sorted((key, sorted(values)) for key, values in found)


def grouped(pairs):
    values_of = {}
    for key, value in pairs:
        values_of.setdefault(key, []).append(value)
    return sorted((key, sorted(values)) for key, values in values_of.items())


def sent_through_a_channel(source, *, repeated=False):
    channel = InMemoryDataChannel()
    manager = BundleManager.__new__(BundleManager)
    manager._worker_handler = type("Handler", (), {"data_conn": channel})
    manager.bundle_context_manager = types.SimpleNamespace(is_repeated=repeated)
    manager._send_input_to_worker("bundle", "read", source)
    return channel.inverse().input_elements("bundle", ["read"])


def test_the_tests_of_beam_itself_find_it_unchanged_in_any_order(held_once, of_beam):
    buffer = buffer_of(LARGE)
    assert len([*buffer]) == 1


@pytest.mark.usefixtures("of_beam")
def test_beam_itself_encodes_all_groups_at_once_or_the_patch_can_go():
    buffer = buffer_of(LARGE)
    (blocks,) = buffer.partition(1)
    assert len(blocks) == 1
    assert groups_in(blocks) == grouped(LARGE)
    elements = sent_through_a_channel(buffer)
    assert len(next(elements).data) == len(blocks[0])
    assert buffer.partition(1) == [blocks]  # also when they have been sent


@pytest.mark.usefixtures("held_once")
@pytest.mark.parametrize("pairs", [SMALL, LARGE, []], ids=["small", "large", "none"])
@pytest.mark.parametrize("parts", [1, 3])
def test_the_groups_are_those_of_beam_and_can_be_asked_for_twice(pairs, parts):
    buffer = buffer_of(pairs)
    for _ in range(2):
        blocks = [block for part in buffer.partition(parts) for block in part]
        assert groups_in(blocks) == grouped(pairs)
        assert max(map(len, blocks), default=0) < 2_200_000
        assert (
            len(blocks)
            == {(2_500, 1): 3, (2_500, 3): 3, (5, 1): 3, (5, 3): 3, (0, 1): 0, (0, 3): 0}[len(grouped(pairs)), parts]
        )
    assert groups_in(iter(buffer)) == grouped(pairs)
    with pytest.raises(RuntimeError, match="append after read"):
        buffer.append(encoded((1, b"late")))


@pytest.mark.usefixtures("held_once")
def test_groups_that_a_stage_has_taken_are_gone_and_another_stage_has_its_own():
    buffer = buffer_of(LARGE)
    other = buffer.copy()
    elements = sent_through_a_channel(buffer)
    first = next(elements)
    assert (first.instruction_id, first.transform_id) == ("bundle", "read")
    assert len(buffer._table) < 5
    assert groups_in([first.data, *(element.data for element in elements)]) == grouped(LARGE)
    assert not buffer._table
    assert groups_in(iter(other)) == grouped(LARGE)


@pytest.mark.usefixtures("held_once")
def test_a_stage_that_is_repeated_takes_its_input_each_time():
    groups, blocks = buffer_of(LARGE), ListBuffer(None)
    blocks.append(b"a")
    for _ in range(2):
        assert groups_in(one.data for one in sent_through_a_channel(groups, repeated=True)) == grouped(LARGE)
        assert [one.data for one in sent_through_a_channel(blocks, repeated=True)] == [b"a"]


@pytest.mark.usefixtures("held_once")
def test_a_runner_that_repeats_each_stage_gives_what_one_does_that_does_not():
    with beam.Pipeline(runner=FnApiRunner(bundle_repeat=2)) as pipeline:
        pairs = pipeline | beam.Create(range(100)) | beam.Map(lambda number: (number % 3, number))
        assert_that(pairs | beam.CombinePerKey(sum), equal_to([(0, 1683), (1, 1617), (2, 1650)]))


@pytest.mark.usefixtures("held_once")
def test_a_list_is_taken_in_its_order_and_is_empty_then():
    buffer = ListBuffer(None)
    for block in (b"a", b"b", b"c"):
        buffer.append(block)
    other = buffer.copy()
    assert [element.data for element in sent_through_a_channel(buffer)] == [b"a", b"b", b"c"]
    assert [*buffer] == []
    assert [element.data for element in sent_through_a_channel(other)] == [b"a", b"b", b"c"]
    assert [*sent_through_a_channel(None)] == []


@pytest.mark.usefixtures("held_once")
def test_a_channel_keeps_the_elements_of_other_instructions_and_leaves_out_empty_ones():
    data, timers = beam_fn_api_pb2.Elements.Data, beam_fn_api_pb2.Elements.Timers
    channel = InMemoryDataChannel()
    channel._inputs = [
        data(instruction_id="other", data=b"1"),
        data(instruction_id="own", data=b"2"),
        data(instruction_id="own"),
        data(instruction_id="own", is_last=True),
        timers(instruction_id="own", timers=b"3"),
        timers(instruction_id="own", is_last=True),
        data(instruction_id="other", data=b"4"),
    ]
    by_beam = [*in_process_shuffle._elements_by_beam(_copy_of(channel), "own", [])]
    assert [*channel.input_elements("own", [], abort_callback=None)] == by_beam
    assert len(by_beam) == 3
    assert [element.data for element in channel._inputs] == [b"1", b"4"]


def _copy_of(channel):
    other = InMemoryDataChannel()
    other._inputs = [*channel._inputs]
    return other


@pytest.mark.usefixtures("held_once")
def test_groups_and_lists_with_several_readers_reach_each_of_them():
    with PipelineUnderTest(runner="FnApiRunner") as pipeline:
        pairs = pipeline | beam.Create(range(1_000)) | beam.Map(lambda number: (number % 10, number))
        groups = pairs | beam.GroupByKey()
        sums = groups | beam.MapTuple(lambda key, numbers: (key, sum(numbers)))
        sizes = groups | beam.MapTuple(lambda key, numbers: (key, len([*numbers])))
        twice = (sums, sums, sizes) | beam.Flatten() | beam.CombinePerKey(sum)
        largest = sums | beam.Values() | "Largest" >> beam.CombineGlobally(max)
        shared = sizes | beam.Map(lambda pair, top: (*pair, top), beam.pvalue.AsSingleton(largest))
        expected = {key: sum(range(key, 1_000, 10)) for key in range(10)}
        assert_that(twice, equal_to([(key, 2 * total + 100) for key, total in expected.items()]), label="twice")
        assert_that(shared, equal_to([(key, 100, expected[9]) for key in range(10)]), label="shared")


@pytest.mark.usefixtures("held_once")
def test_large_groups_reach_each_reader_value_by_value(monkeypatch):
    taken = []
    monkeypatch.setattr(in_process_shuffle, "BLOCK_BYTES", 5)
    take = in_process_shuffle._Group.take
    monkeypatch.setattr(
        in_process_shuffle._Group, "take", lambda group, coder: taken.append(take(group, coder)) or taken[-1]
    )
    with PipelineUnderTest(runner="FnApiRunner") as pipeline:
        numbers = pipeline | beam.Create(range(30))
        long = numbers | "Long" >> beam.Map(lambda number: (number % 3, bytes([number])))
        short = numbers | "Short" >> beam.Map(lambda number: (number, bytes([number])))
        groups = long | beam.GroupByKey()
        first = groups | "First" >> beam.MapTuple(lambda key, parts: (key, min(parts)[0]))
        last = groups | "Last" >> beam.MapTuple(lambda key, parts: (key, max(parts)[0]))
        joined = (long, short) | beam.CoGroupByKey()
        sizes = joined | "Sizes" >> beam.MapTuple(lambda key, parts: (key, *map(len, parts)))
        assert_that(first, equal_to([(0, 0), (1, 1), (2, 2)]), label="first")
        assert_that(last, equal_to([(0, 27), (1, 28), (2, 29)]), label="last")
        assert_that(sizes, equal_to([(key, 10 if key < 3 else 0, 1) for key in range(30)]), label="sizes")
    assert [len(group.value[1]) for group in taken if isinstance(group.value[1][0], tuple)].count(11) == 3
    assert [len(group.value[1]) for group in taken if isinstance(group.value[1][0], bytes)] == 3 * [10]
    assert {group.windows for group in taken} == {(window.GlobalWindow(),)}


@pytest.mark.usefixtures("held_once")
@pytest.mark.parametrize("windowing", [core.Windowing(window.GlobalWindows()), core.Windowing(window.FixedWindows(9))])
def test_a_group_is_large_by_its_bytes_and_has_the_default_window(monkeypatch, windowing):
    monkeypatch.setattr(in_process_shuffle, "BLOCK_BYTES", 3)
    buffer = GroupingBuffer(PAIR, GROUP, windowing)
    for key, value in ((1, b"s"), (2, b"long"), (3, b"t")):
        buffer._table[coders.VarIntCoder().encode(key)].append(value if windowing.is_default() else of_window(value))
    found = [element.data for element in sent_through_a_channel(buffer)]
    assert not buffer._table
    if windowing.is_default():
        small, large, last = found
        assert large.take(GROUP.wrapped_value_coder).value == (2, [b"long"])
        assert groups_in([small, last]) == [(1, [b"s"]), (3, [b"t"])]
    else:
        assert [type(block) for block in found] == [bytes]


@pytest.mark.usefixtures("held_once")
def test_a_large_group_that_one_stage_has_taken_is_whole_for_another(monkeypatch):
    monkeypatch.setattr(in_process_shuffle, "BLOCK_BYTES", 3)
    buffer = buffer_of([(1, b"one"), (1, b"two")])
    for source in (buffer.copy(), buffer):
        [element] = sent_through_a_channel(source)
        assert element.data.take(GROUP.wrapped_value_coder).value == (1, [b"one", b"two"])


def of_window(value):
    return WindowedValue(value, 0, (window.IntervalWindow(0, 9),))


PEAK = """
import sys
import apache_beam as beam
from apache_beam.runners.portability.fn_api_runner import FnApiRunner
from pipelines.engine.in_process_shuffle import hold_shuffles_once

if sys.argv[1] == "once":
    hold_shuffles_once()

def run(kb):
    with beam.Pipeline(runner=FnApiRunner()) as pipeline:
        made = pipeline | beam.Create(range(64)) | beam.Map(lambda i: (i % 16, bytes([i]) * (kb << 10)))
        made | beam.GroupByKey() | beam.MapTuple(lambda key, parts: sum(map(len, parts)))

def peak_mb():
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("VmHWM")) / 1024

run(1)
before = peak_mb()
run(2 << 10)
print(peak_mb() - before)
"""


@pytest.mark.skipif(platform.system() != "Linux", reason="kB on Linux alone")
def test_a_shuffle_of_128_mb_takes_half_of_the_memory_that_it_takes_by_beam():
    once, by_beam = (
        float(subprocess.run([sys.executable, "-c", PEAK, how], capture_output=True, text=True, check=True).stdout)
        for how in ("once", "beam")
    )
    assert 128 < once < 0.5 * by_beam
