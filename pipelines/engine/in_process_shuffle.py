"""Memory of shuffles in Beam's in-process runner.

run -> hold_shuffles_once -> Beam's buffers, channel and stages in this process, changed

For Beam 2.72 to 2.77, like `engine.beam_patches`. `tests/pipelines/engine/test_in_process_shuffle.py` fails once Beam
is mended: then remove this module.
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final, NamedTuple

from apache_beam.coders.coders import Coder
from apache_beam.portability.api import beam_fn_api_pb2
from apache_beam.runners.portability.fn_api_runner.execution import GroupingBuffer, ListBuffer
from apache_beam.runners.portability.fn_api_runner.fn_runner import BundleManager, FnApiRunner
from apache_beam.runners.worker.bundle_processor import DataInputOperation
from apache_beam.runners.worker.data_plane import InMemoryDataChannel
from apache_beam.transforms.window import GlobalWindow, GlobalWindows
from apache_beam.utils.windowed_value import PaneInfo, PaneInfoTiming, WindowedValue

from pipelines.engine.freed_memory import trim_freed_memory

KEYS_A_BLOCK: Final = 1_000
"""Maximum number of keys that are encoded at a time."""

BLOCK_BYTES: Final = 2**20
"""Size of values from which they are encoded without those of the next key, those of one key one after the other."""

FREED_BYTES: Final = 2**29
"""Size of freed memory from which it is given back after a stage."""


def hold_shuffles_once() -> None:
    """Make Beam encode groups when a stage takes them, a few at a time, and forget what was taken.

    Beam encodes all groups of a shuffle into one string of bytes, copies it three times to send it within the process,
    and keeps shuffled values and copies until the stage has ended. No issue of Beam describes this. A large group, as
    of an answer with millions of questions, is encoded value by value, so that memory has each of these once.
    """
    GroupingBuffer.partition = _partition
    GroupingBuffer.__iter__ = lambda buffer: iter(*_partition(buffer, 1))
    GroupingBuffer.copy = _copy
    BundleManager._send_input_to_worker = _send
    InMemoryDataChannel.input_elements = _take_elements
    DataInputOperation.process_encoded = _process
    FnApiRunner._execute_bundle = _execute_bundle


class _Groups:
    """Every ``step``-th group of a buffer from the ``first`` on, encoded whenever they are asked for."""

    def __init__(self, buffer: GroupingBuffer, first: int, step: int) -> None:
        self.buffer, self.first, self.step = buffer, first, step

    def __iter__(self) -> Iterator[bytes]:
        table = self.buffer._table
        return _encode_groups(self.buffer, list(table)[self.first :: self.step], table.__getitem__)


class _Group:
    """A large group of a buffer, whose values leave it when they are processed."""

    def __init__(self, buffer: GroupingBuffer, key: bytes, values: list[Any]) -> None:
        self._coder = buffer._post_grouped_coder.wrapped_value_coder
        self._key = buffer._key_coder.get_impl().decode(key)
        self._values = values

    def take(self, coder: Coder) -> WindowedValue:
        """Return key and values as the coder of a stage decodes them; the runner can have others for the same bytes."""
        key = _translated(self._key, self._coder.key_coder(), coder.key_coder())
        of_values = [pair.value_coder().value_coder() for pair in (self._coder, coder)]
        self._values.reverse()
        values = []
        while self._values:
            values.append(_translated(self._values.pop(), *of_values))
        return GlobalWindows.windowed_value((key, values), GlobalWindow().max_timestamp(), _PANE)


def _translated(value: Any, encoder: Coder, decoder: Coder) -> Any:
    return decoder.get_impl().decode_nested(encoder.get_impl().encode_nested(value))


class _Input(NamedTuple):
    """Input of a stage in a channel; its blocks become elements of the channel when they are taken."""

    instruction_id: str
    transform_id: str
    blocks: Iterator[bytes | _Group]


@dataclasses.dataclass
class _Element:
    """What Beam takes for an element of a channel, without the two copies that its own would make of the data."""

    instruction_id: str
    transform_id: str
    data: bytes | _Group

    __class__ = property(lambda _: beam_fn_api_pb2.Elements.Data)  # read by `isinstance`


_partition_by_beam = GroupingBuffer.partition
_blocks_by_beam = GroupingBuffer.__iter__
_copy_by_beam = GroupingBuffer.copy
_send_by_beam = BundleManager._send_input_to_worker
_elements_by_beam = InMemoryDataChannel.input_elements
_execute_by_beam = FnApiRunner._execute_bundle
_process_by_beam = DataInputOperation.process_encoded
_PANE: Final = PaneInfo(is_first=True, is_last=True, timing=PaneInfoTiming.ON_TIME, index=0, nonspeculative_index=0)
"""Pane of the only firing of a group, as Beam gives it to groups of a batch pipeline."""

_CLOSED: Final = [[b""]]
"""What a buffer of groups has in place of its encoded groups, so that Beam refuses further values."""


def _partition(buffer: GroupingBuffer, n: int) -> list[_Groups]:
    """Return the groups in ``n`` parts."""
    buffer._grouped_output = _CLOSED
    return [_Groups(buffer, part, n) for part in range(n)]


def _copy(buffer: GroupingBuffer) -> GroupingBuffer:
    """Return the same values for another stage, which takes them from a table and lists of its own."""
    return _with_groups(buffer, {key: list(values) for key, values in buffer._table.items()})


def _encode_groups(
    buffer: GroupingBuffer, keys: Iterable[bytes], values_of: Callable[[bytes], list[Any]]
) -> Iterator[bytes]:
    """Yield groups as Beam encodes them, those of a few keys at a time."""
    some: dict[bytes, list[Any]] = {}
    size = 0
    for key in keys:
        some[key] = values_of(key)
        size += _bytes_in(some[key])
        if size >= BLOCK_BYTES or len(some) >= KEYS_A_BLOCK:
            yield _encode(buffer, some)
            size = 0
    if some:
        yield _encode(buffer, some)


def _take_groups(buffer: GroupingBuffer) -> Iterator[bytes | _Group]:
    """Yield large groups, and the others as Beam encodes them; each leaves the buffer before."""
    table, default = buffer._table, buffer._windowing.is_default()
    for large, keys in itertools.groupby(list(table), lambda key: default and _bytes_in(table[key]) >= BLOCK_BYTES):
        if large:
            yield from (_Group(buffer, key, table.pop(key)) for key in keys)
        else:
            yield from _encode_groups(buffer, keys, table.pop)


def _bytes_in(value: Any) -> int:
    """Return the size of the bytes in lists and in tuples, which a join of several collections makes."""
    if isinstance(value, list | tuple):
        return sum(map(_bytes_in, value))
    return len(value) if isinstance(value, bytes) else 0


def _encode(buffer: GroupingBuffer, groups: dict[bytes, list[Any]]) -> bytes:
    """Return groups encoded; they leave the dictionary, so that the caller does not keep them beside their bytes."""
    other = _with_groups(buffer, groups)
    groups.clear()
    ((encoded,),) = _partition_by_beam(other, 1)
    return bytes(encoded)


def _with_groups(buffer: GroupingBuffer, groups: Mapping[bytes, list[Any]]) -> GroupingBuffer:
    """Return another buffer for values of the same kind, with some groups."""
    other = GroupingBuffer(buffer._pre_grouped_coder, buffer._post_grouped_coder, buffer._windowing)
    other._table.update(groups)
    return other


def _take_blocks(source: GroupingBuffer | ListBuffer | Iterable[bytes]) -> Iterator[bytes | _Group]:
    """Yield the input of a stage, of which each block leaves its buffer before the next one is made."""
    if isinstance(source, GroupingBuffer):
        source._grouped_output = _CLOSED
        yield from _take_groups(source)
    elif isinstance(source, ListBuffer):
        source._inputs.reverse()
        while source._inputs:
            yield source._inputs.pop()
    else:
        yield from source


def _send(manager: BundleManager, instruction_id: str, transform_id: str, source: Any) -> None:
    """Leave the input of a stage in a channel of this process, or send it to another process."""
    channel = manager._worker_handler.data_conn
    if isinstance(channel, InMemoryDataChannel):
        given = source or []
        blocks = iter(given) if manager.bundle_context_manager.is_repeated else _take_blocks(given)
        channel.inverse()._inputs.append(_Input(instruction_id, transform_id, blocks))
    else:
        _send_by_beam(manager, instruction_id, transform_id, source)


def _take_elements(channel: InMemoryDataChannel, instruction_id: str, *_: Any, **__: Any) -> Iterator[Any]:
    """Yield the elements of an instruction, of which each leaves the channel before the next one is made."""
    place = 0
    while place < len(channel._inputs):
        if channel._inputs[place].instruction_id != instruction_id:
            place += 1
            continue
        element = channel._inputs.pop(place)
        if isinstance(element, _Input):
            make = functools.partial(_Element, instruction_id, element.transform_id)
            yield from map(make, element.blocks)  # a variable would keep the block while it is processed
        elif isinstance(element, beam_fn_api_pb2.Elements.Timers):
            if not element.is_last:
                yield element
        elif element.data or element.is_last:
            yield element


def _process(operation: DataInputOperation, encoded: bytes | _Group) -> None:
    """Process a large group, or elements as Beam decodes them."""
    if not isinstance(encoded, _Group):
        _process_by_beam(operation, encoded)
        return
    with operation.splitting_lock:
        if operation.index == operation.stop - 1:
            return
        operation.index += 1
    operation.output(encoded.take(operation.windowed_coder.wrapped_value_coder))


def _execute_bundle(runner: FnApiRunner, context: Any, stage: Any, *given: Any) -> Any:
    """Execute a stage as Beam does, then give back what it freed if that is much.

    A runner that repeats each stage, to show that nothing is written twice, takes its input several times.
    """
    stage.is_repeated = runner._bundle_repeat > 0
    result = _execute_by_beam(runner, context, stage, *given)
    trim_freed_memory(above=FREED_BYTES)
    return result
