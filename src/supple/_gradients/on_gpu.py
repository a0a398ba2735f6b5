"""Forward and inverse kinematics of arrays that XLA has on a GPU: what `supple.jax` registers with it."""

from __future__ import annotations

import math
import threading
from typing import Any

import numpy as np

from supple._arrays import gpu
from supple._cuda import driver
from supple._cuda.blocks import frame_goal
from supple._cuda.driver import DeviceArray
from supple._cuda.xla import Buffer, Call
from supple._gradients.chain import Chain
from supple._gradients.inverse import Inverse
from supple._solve import on_gpu
from supple.errors import BadInput
from supple.goal import Goal

_known: list[Any] = []
_numbers: dict[Any, int] = {}
_lock = threading.Lock()


def number_of(thing: Chain | Inverse) -> int:
    """The number by which a compiled computation names a chain or an inverse, which is held from now on.

    A computation does not say when it is dropped, so these are held to the end of the process.
    """
    with _lock:
        if thing not in _numbers:
            _known.append(thing)
            _numbers[thing] = len(_known) - 1
        return _numbers[thing]


def evaluate(call: Call) -> None:
    """Frames (..., 4, 4) and movers' columns (..., 6, count) of a chain for its values (..., count)."""
    chain = _named(call, Chain)
    values, (frames, movers) = call.arguments[0], call.results
    if not math.prod(values.shape[:-1]):
        return
    ordinal, stream = call.ordinal, call.stream
    on_device = gpu.chain_on(chain.alone, chain.link, ordinal)
    given, made, columns = (
        _rows(each, tail, ordinal, stream) for each, tail in ((values, 1), (frames, 2), (movers, 2))
    )
    on_device.evaluate(given, made, columns, stream)


def solve(call: Call) -> None:
    """Joint values (..., dof) for goals (..., 4, 4) and, if there is a second argument, starts (..., dof)."""
    inverse = _named(call, Inverse)
    (goals, *starts), q = call.arguments, call.results[0]
    rows = math.prod(q.shape[:-1])
    if not rows:
        return
    ordinal, stream = call.ordinal, call.stream
    chain = inverse.chain
    solver = on_gpu.frame_solver_on(chain.linkage, Goal(chain.link, np.eye(4)), inverse.solver, ordinal)
    begin = _rows(starts[0], 1, ordinal, stream) if starts else None
    parts = (frame_goal(_rows(goals, 2, ordinal, stream)),)
    solver.solve(parts, rows, stream, starts=begin, dtype=q.dtype, q=_rows(q, 1, ordinal, stream))


def _named(call: Call, kind: type) -> Any:
    number = call.number("number")
    found = _known[number] if 0 <= number < len(_known) else None
    if not isinstance(found, kind):
        raise BadInput("a computation of supple.jax was compiled in another process; compile it in this one")
    return found


def _rows(buffer: Buffer, tail: int, ordinal: int, stream: int) -> DeviceArray:
    """An array of XLA (..., *last axes) as rows (rows, *last axes)."""
    shape = buffer.shape
    lead, last = shape[: len(shape) - tail], shape[len(shape) - tail :]
    return driver.wrapped(buffer.pointer, (math.prod(lead), *last), buffer.dtype, ordinal, stream, None)
