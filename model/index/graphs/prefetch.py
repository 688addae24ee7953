"""An instruction of the processor for loops that numba compiles: memory is asked for before it is read.

array, places -> fetch
"""

from __future__ import annotations

from typing import Any, Final

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

_LINE: Final = 64
"""Bytes that come from memory together."""


@intrinsic
def fetch(_: Any, array: Any, first: Any, count: Any) -> Any:
    """Ask for the memory of some successive numbers of an array, without waiting for it.

    All lines are asked for: the first number is seldom at the beginning of one, so the last number may be in one more.
    """

    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        first, count = (
            context.cast(builder, value, kind, types.intp)
            for value, kind in zip(arguments[1:], signature.args[1:], strict=True)
        )
        number, place = ir.IntType(32), context.get_value_type(types.intp)
        byte = ir.IntType(8).as_pointer()
        start = builder.bitcast(builder.gep(data, [first]), byte)
        size = builder.mul(count, place(context.get_abi_sizeof(context.get_data_type(signature.args[0].dtype))))
        kind = ir.FunctionType(ir.VoidType(), [byte, number, number, number])
        instruction = builder.module.declare_intrinsic("llvm.prefetch", (byte,), kind)

        def ask(at: Any) -> None:
            pointer = builder.gep(start, [at])
            builder.call(instruction, [pointer, number(0), number(3), number(1)])  # to read, into all caches, data

        with cgutils.for_range_slice(builder, place(0), size, place(_LINE), place) as (at, _):
            ask(at)
        ask(builder.sub(size, place(1)))
        return context.get_dummy_value()

    return types.void(array, first, count), code
