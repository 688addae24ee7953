import contextlib
from collections.abc import Iterator

import pyarrow as pa

_POOLS: list[pa.MemoryPool] = []  # arrays that live longer than a test return their memory to its pool


def decoded(table: pa.Table) -> pa.Table:
    """Return a table whose dictionary columns are arrays of their texts, so that tables can be sorted and compared."""
    for place, field in enumerate(table.schema):
        if pa.types.is_dictionary(field.type):
            texts = field.with_type(field.type.value_type)
            table = table.set_column(place, texts, table[field.name].cast(texts.type))
    return table


@contextlib.contextmanager
def allocations() -> Iterator[pa.MemoryPool]:
    """Yield a memory pool of Arrow that counts what is allocated meanwhile; `max_memory` is its peak."""
    before = pa.default_memory_pool()
    pool = pa.proxy_memory_pool(before)
    _POOLS.append(pool)
    pa.set_memory_pool(pool)
    try:
        yield pool
    finally:
        pa.set_memory_pool(before)
