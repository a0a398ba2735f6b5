"""Forward kinematics on a GPU: the caller's arrays as the kernels take them, and results as arrays of the caller."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from supple import _check
from supple._arrays.given import Given
from supple._cuda import driver, forward
from supple._cuda.blocks import NONE, Numbers
from supple._cuda.dlpack import imported
from supple._cuda.driver import DeviceArray
from supple._cuda.place import Stream
from supple.errors import BadInput

if TYPE_CHECKING:
    from supple.linkage import Linkage

_CACHE = "_on_gpus"
_MOST = 64  # of links on GPUs that a linkage keeps


class Call:
    """One call with arrays of a GPU: the caller's stream, and conversions in both directions."""

    def __init__(self, arrays: Given, stream: Stream | None = None) -> None:
        self.arrays, self.ordinal = arrays, arrays.place[1]
        chosen = arrays.library.stream(arrays.like, self.ordinal) if stream is None else stream
        self.stream = driver.device(self.ordinal).stream if chosen is None else chosen

    def rows(self, array: Any, tail: int, lead: tuple[int, ...] | None = None) -> DeviceArray:
        """An array (..., *last axes) as contiguous rows (rows, *last axes) of the call's precision.

        With ``lead`` it is broadcast to these leading axes first.
        """
        last = tuple(array.shape[array.ndim - tail :])
        if lead is not None and tuple(array.shape) != (*lead, *last):
            array = self.arrays.library.namespace(array).broadcast_to(array, (*lead, *last))
        count = math.prod(array.shape[: array.ndim - tail])
        flat = self._in_precision(array).reshape(count, *last)
        pointer, owner = self._address(flat)
        return driver.wrapped(pointer, (count, *last), self.arrays.dtype, self.ordinal, self.stream, owner)

    def numbers(self, array: Any, tail: int, shape: tuple[int, ...]) -> Numbers:
        """A part of goals (..., *last axes) for problems of a shape, with the strides it has, without a copy if it can.

        An array without leading axes is the same for all problems.
        """
        if array is None:
            return NONE
        library = self.arrays.library
        if library.dtype(array) not in ("float32", "float64"):
            array = self._in_precision(array)
        last = tuple(array.shape[array.ndim - tail :])
        if array.ndim > tail and tuple(array.shape[: array.ndim - tail]) != shape:
            array = library.namespace(array).broadcast_to(array, (*shape, *last))
        many = array.ndim > tail
        if array.ndim > tail + 1:
            array = array.reshape(math.prod(shape), *last)
        strides = library.strides(array)
        pointer, owner = self._address(array) if strides is not None else (0, None)
        if strides is None:
            seen = imported(array.__dlpack__(stream=int(self.stream)))
            pointer, strides, owner = seen.pointer, seen.strides, seen.owner
        line = strides[-2] if tail == 2 else 1
        single = library.dtype(array) == "float32"
        found = Numbers(pointer or None, strides[0] if many else 0, line, strides[-1], single)
        found.owner = (owner, array)  # a struct keeps no reference to the memory
        return found

    def _in_precision(self, array: Any) -> Any:
        library, kind = self.arrays.library, self.arrays.dtype
        made = library.contiguous(array, kind)
        if library.dtype(made) != kind.name:  # JAX without double precision
            raise BadInput(f"{library.name} made {library.dtype(made)} of an array that must be of {kind.name}")
        return made

    def _address(self, array: Any) -> tuple[int, Any]:
        """The address of contiguous memory, ready for the call's stream, and what keeps it alive."""
        known = self.arrays.library.address(array)
        if known is not None:
            return known, array
        seen = imported(array.__dlpack__(stream=int(self.stream)))
        return seen.pointer, (seen.owner, array)

    def finish(self) -> None:
        """To be called when all work is in the stream: waits for it if the library does not know that stream.

        It could otherwise use the memory of an argument again too soon.
        """
        if self.stream.allocate is None:
            driver.device(self.ordinal).synchronize(self.stream)

    def back(self, array: DeviceArray, *shape: int) -> Any:
        """A result as an array of the caller's library, of a shape of the same size."""
        if self.stream.allocate is not None:
            block = array.owner
            if isinstance(block, DeviceArray):  # a part of a block
                return self.arrays.library.part(block.owner, array.pointer - block.pointer, array.dtype, shape)
            return block if block.shape == shape else block.reshape(shape)
        if not array.size:
            return self.arrays.library.namespace(self.arrays.like).zeros(shape, dtype=array.dtype.name)
        return self.arrays.library.taken(array.reshape(*shape))


def frame(linkage: Linkage, arrays: Given, q: Any, link: str) -> Any:
    """Frames (..., 4, 4) of a link."""
    call = Call(arrays)
    made, _ = chain_on(linkage, link, call.ordinal).frame_and_jacobian(call.rows(q, 1), call.stream, jacobian=False)
    assert made is not None
    call.finish()
    return call.back(made, *q.shape[:-1], 4, 4)


def frames(linkage: Linkage, arrays: Given, q: Any) -> Any:
    """Frames (..., links, 4, 4) of all links."""
    call, names = Call(arrays), [link.name for link in linkage.links]
    cache = linkage.__dict__.setdefault(_CACHE, {})
    key = ("all links", call.ordinal)
    if key not in cache:
        cache[key] = forward.DeviceTree(linkage._native, names, linkage.dof, call.ordinal)
    made = cache[key].frames(call.rows(q, 1), call.stream)
    call.finish()
    return call.back(made, *q.shape[:-1], len(names), 4, 4)


def jacobian(linkage: Linkage, arrays: Given, q: Any, link: str, point: Any, in_link_axes: bool) -> Any:
    """Jacobians (..., 6, dof) of a link, or of a point (..., 3) of it."""
    call, lead = Call(arrays), tuple(q.shape[:-1])
    at = None
    if point is not None and point.ndim > 1:
        lead = _check.leading_axes(lead, tuple(point.shape[:-1]), what="q and point")
        at = call.rows(point, 1, lead)
    elif point is not None:
        at = call.rows(point, 1).reshape(3)
    chain = chain_on(linkage, link, call.ordinal)
    _, made = chain.frame_and_jacobian(
        call.rows(q, 1, lead), call.stream, frame=False, point=at, in_link_axes=in_link_axes
    )
    assert made is not None
    call.finish()
    return call.back(made, *lead, 6, linkage.dof)


def frame_and_jacobian(linkage: Linkage, arrays: Given, q: Any, link: str) -> tuple[Any, Any]:
    """Frames (..., 4, 4) and Jacobians (..., 6, dof) of a link."""
    call, lead = Call(arrays), tuple(q.shape[:-1])
    made, columns = chain_on(linkage, link, call.ordinal).frame_and_jacobian(call.rows(q, 1), call.stream)
    assert made is not None
    assert columns is not None
    call.finish()
    return call.back(made, *lead, 4, 4), call.back(columns, *lead, 6, linkage.dof)


def chain_on(linkage: Linkage, link: str, ordinal: int) -> forward.DeviceChain:
    """One link of a linkage on a GPU, from the linkage's cache."""
    cache: dict[Any, Any] = linkage.__dict__.setdefault(_CACHE, {})
    found: forward.DeviceChain | None = cache.get((link, ordinal))
    if found is None:
        if len(cache) >= _MOST:
            cache.clear()
        found = cache[link, ordinal] = forward.DeviceChain(linkage._native, link, linkage.dof, ordinal)
    return found
