"""Solves on a GPU: of goals in its memory, asynchronous until a result is looked at; of NumPy goals, in chunks."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from supple import _check
from supple._arrays.given import Given
from supple._arrays.gpu import Call
from supple._arrays.result import Later, exchanged_later
from supple._cuda import driver
from supple._cuda.blocks import NONE, Numbers, Part, frame_goal, numbers
from supple._cuda.driver import DeviceArray
from supple._cuda.search import DeviceSolver, Found
from supple._solve import batch, search
from supple.errors import BadInput
from supple.frame import Array
from supple.goal import Goal, with_numbers
from supple.linkage import Linkage
from supple.solution import Outcome, Solution

if TYPE_CHECKING:
    from supple._solve.compiled_solver import CompiledSolver
    from supple.solver import Solver

_CACHE = "_solvers_on_gpus"
_FRAMES = "_frame_solvers_on_gpus"
_MOST = 16  # compiled solvers on GPUs that a linkage keeps


def solve(
    solver: Solver, linkage: Linkage, goals: Sequence[Goal], start: Any, solutions: int | None, arrays: Given
) -> Solution:
    """The solution of goals in the memory of a GPU; its arrays are there too, and of the goals' library.

    It returns as soon as the work is in the caller's stream. Rows that are not finite are INVALID.
    """
    device_solver = _solver_on(linkage, goals, solver, arrays.place[1], solutions)
    dof, call = linkage.dof, Call(arrays)
    if start is not None and tuple(start.shape[-1:]) != (dof,):
        raise BadInput(f"start must have shape (..., {dof}), not {tuple(start.shape)}")
    shape = _shape([goal.shape for goal in goals], None if start is None else tuple(start.shape[:-1]))
    parts = [_parts(call, goal, shape) for goal in goals]
    begin = None
    if start is not None:
        begin = call.rows(start, 1).reshape(dof) if start.ndim == 1 else call.rows(start, 1, shape)
    found = device_solver.solve(
        parts, math.prod(shape), call.stream, starts=begin, wanted=solutions or 0, dtype=arrays.dtype
    )
    call.finish()
    return _solution(solver, linkage, goals, shape, solutions, found, call)


def solve_frames(solver: Solver, linkage: Linkage, goal: Goal) -> Solution:
    """The same for a goal that is frames of a GPU and nothing else, by the shortest way: a small solve takes
    microseconds there."""
    arrays, frames = goal._given, goal._frames
    assert arrays is not None
    library, dtype, ordinal = arrays.library, arrays.dtype, arrays.place[1]
    stream, strides = library.stream(frames, ordinal), library.strides(frames)
    if stream is None or strides is None or len(strides) > 3 or library.dtype(frames) != dtype.name:
        return solve(solver, linkage, (goal,), None, None, arrays)
    device_solver = frame_solver_on(linkage, goal, solver, ordinal)
    pointer, size, single = library.address(frames) or 0, dtype.itemsize, dtype.itemsize == 4
    shape = tuple(frames.shape[:-2])
    row, line, inner = strides if shape else (0, *strides)
    position = Numbers(pointer + 3 * inner * size, row, 0, line, single)
    part = position, Numbers(pointer, row, line, inner, single), NONE
    found = device_solver.solve((part,), shape[0] if shape else 1, stream, dtype=dtype)
    return _solution(solver, linkage, (goal,), shape, None, found, Call(arrays, stream))


def _solution(
    solver: Solver,
    linkage: Linkage,
    goals: Sequence[Goal],
    shape: tuple[int, ...],
    solutions: int | None,
    found: Found,
    call: Call,
) -> Solution:
    """Results on a GPU as a solution whose arrays are made when they are read."""
    arrays, dof, tail = call.arrays, linkage.dof, () if solutions is None else (solutions,)

    def outcomes() -> Any:
        return call.back(found.outcome, *shape, *tail)

    def error(name: str) -> Any:
        return arrays.library.contiguous(call.back(getattr(found, name), *shape, 1), arrays.dtype)

    makers: dict[str, Callable[[], Any]] = {
        "q": lambda: call.back(found.q, *shape, *tail, dof),
        "outcomes": outcomes,
        "iterations": lambda: call.back(found.iterations, *shape, *tail),
        "starts": lambda: call.back(found.restarts, *shape, *tail),
        "arrived": lambda: outcomes() == Outcome.ARRIVED.value,
    }
    if len(goals) == 1 and not solutions:
        makers["distance"] = lambda: error("position_error")
        makers["angle"] = lambda: error("angle_error")
    plain = _Later(linkage, goals, shape, tail, found, solver, arrays)
    return exchanged_later(Solution, plain, Later(makers), arrays)


def solve_compiled(find: CompiledSolver, goal: Any, start: Any, arrays: Given) -> Any:
    """The call of a compiled solver with a goal in the memory of a GPU: joint values (dof,) there, or None.

    It waits for the GPU: whether there is a result is known only then.
    """
    linkage, goals, dof = find.linkage, find.goals, find.linkage.dof
    shapes = ((4, 4),) if len(goals) == 1 else ()
    if tuple(goal.shape) not in (*shapes, (len(goals), 4, 4)):
        wanted = "(4, 4)" if len(goals) == 1 else f"({len(goals)}, 4, 4)"
        raise BadInput(f"goal must have shape {wanted}, not {tuple(goal.shape)}; for many use Solver.solve")
    if start is not None and tuple(start.shape) != (dof,):
        raise BadInput(f"start must have shape ({dof},), not {tuple(start.shape)}")
    device_solver, call = _solver_on(linkage, goals, find.solver, arrays.place[1], None), Call(arrays)
    frames = call.rows(goal, 2)
    size = 16 * frames.dtype.itemsize
    parts = [
        frame_goal(driver.wrapped(frames.pointer + size * k, (4, 4), frames.dtype, call.ordinal, call.stream, frames))
        for k in range(len(goals))
    ]
    begin = None if start is None else call.rows(start, 1).reshape(dof)
    found = device_solver.solve(parts, 1, call.stream, starts=begin, dtype=arrays.dtype)
    met = int(driver.download(found.outcome)[0]) == Outcome.ARRIVED.value
    return call.back(found.q, dof) if met else None


def _parts(call: Call, goal: Goal, shape: tuple[int, ...]) -> Part:
    """Position (or point to look at, or pole), orientation and direction of a goal, as the kernels take them."""
    position, orientation = call.numbers(goal._place, 1, shape), call.numbers(goal.orientation, 2, shape)
    return position, orientation, call.numbers(goal.direction, 1, shape)


class _Later:
    """Makes the NumPy solution when it is needed, once: waits for the GPU and copies from it."""

    def __init__(
        self,
        linkage: Linkage,
        goals: Sequence[Goal],
        shape: tuple[int, ...],
        tail: tuple[int, ...],
        found: Any,
        solver: Solver,
        arrays: Given,
    ) -> None:
        self._facts = linkage, goals, shape, tail, found, solver, arrays
        self._made: Solution | None = None

    def __call__(self) -> Solution:
        if self._made is None:
            warnings.warn(
                "this part of a solution is computed on the CPU, where q and the goals are copied to; q, outcomes, "
                "arrived, iterations, starts, distance and angle are on the GPU",
                stacklevel=4,
            )
            linkage, goals, shape, tail, found, solver, arrays = self._facts
            own = [_own(goal, arrays) for goal in goals]
            counts = (found.outcome, found.iterations, found.restarts)
            report = np.stack([each.numpy().astype(np.int64) for each in counts])
            q = found.q.numpy().astype(float)
            self._made = Solution._from_rows(linkage, own, shape, tail, q, report, solver)
        return self._made


def _own(goal: Goal, arrays: Given) -> Goal:
    """A goal whose arrays are on a GPU, with copies of them as NumPy arrays."""
    numbers, call = {}, Call(arrays)
    for name in ("position", "orientation", "direction", "look_at", "pole"):
        array = getattr(goal, name)
        if array is not None:
            rows = call.rows(array, 2 if name == "orientation" else 1)
            numbers[name] = driver.download(rows).astype(float).reshape(tuple(array.shape))
    return with_numbers(goal, numbers)


def solve_chunks(solver: Solver, request: batch.Request) -> Solution:
    """The solution of NumPy goals by a GPU: chunks come, are solved and go at the same time."""
    linkage, goals, shape = request.linkage, request.goals, request.shape
    ordinal = ordinal_of(solver.device)
    device_solver = _solver_on(linkage, goals, solver, ordinal, request.solutions)
    count, dof, wanted = math.prod(shape), linkage.dof, request.solutions or 0
    tail = (wanted,) if wanted else ()
    inputs: list[Array] = []
    places: list[list[Any]] = []
    for goal in goals:
        places.append([])
        parts_of = batch.parts(goal, shape)
        frames = _frames_of(*parts_of[:2])
        if frames is not None:
            places[-1] = [(len(inputs), 0), (len(inputs), 0), None]
            inputs.append(frames)
            continue
        for array, last in zip(parts_of, (1, 2, 1), strict=True):
            rows = None if array is None else np.ascontiguousarray(array)
            if rows is None or rows.ndim == last:  # none, or one for all rows
                places[-1].append(None if rows is None else _for_all(rows, last, ordinal))
            else:
                places[-1].append((len(inputs), last))
                inputs.append(rows)
    begin = request.start_rows
    if begin is not None:
        inputs.append(begin)
    q = np.empty((count, *tail, dof)) if request.out is None else request.out.reshape(count, dof)
    report = np.empty((3, count, *tail), np.int64)

    def work(given: list[DeviceArray], stream: int) -> list[DeviceArray]:
        rows = given[0].shape[0] if given else 1
        parts = [_parts_of(given, place) for place in places]
        starts = None if begin is None else given[-1]
        found = device_solver.solve(parts, rows, stream, starts=starts, wanted=wanted)
        return [found.q, found.outcome, found.iterations, found.restarts]

    driver.in_chunks(inputs, [q, *report], work, ordinal)
    return Solution._from_rows(linkage, goals, shape, tail, q, report, solver)


def _frames_of(position: Array | None, orientation: Array | None) -> Array | None:
    """The first three lines of frames (rows, 3, 4) whose parts these are; None if they are not."""
    if position is None or orientation is None or position.ndim != 2 or orientation.ndim != 3:
        return None
    base = position.base
    if base is None or base is not orientation.base or base.shape != (len(position), 4, 4):
        return None
    begin = base.ctypes.data
    whole = base.dtype == float and base.flags.c_contiguous
    same = position.ctypes.data == begin + 24 and orientation.ctypes.data == begin
    lines: Array = base[:, :3]
    return lines if whole and same and orientation.strides == lines[..., :3].strides else None


def _for_all(row: Array, last: int, ordinal: int) -> Any:
    """Numbers of the host that all rows have in common, on a GPU."""
    array = driver.upload(row, ordinal)
    found = numbers(array, last)
    found.owner = array  # a struct keeps no reference to the memory
    return found


def _parts_of(given: list[DeviceArray], place: list[Any]) -> Part:
    if isinstance(place[0], tuple) and not place[0][1]:
        return frame_goal(given[place[0][0]])
    return _part(given, place[0]), _part(given, place[1]), _part(given, place[2])


def _part(given: list[DeviceArray], place: Any) -> Any:
    if place is None:
        return NONE
    return numbers(given[place[0]], place[1]) if isinstance(place, tuple) else place


def ordinal_of(device: str) -> int:
    """The number of the GPU that a device such as "cuda" or "cuda:1" means."""
    return int(device.partition(":")[2] or 0)


def _shape(goals: list[tuple[int, ...]], start: tuple[int, ...] | None) -> tuple[int, ...]:
    return _check.leading_axes(*goals, *(() if start is None else (start,)), what="goals and start")


def frame_solver_on(linkage: Linkage, goal: Goal, solver: Solver, ordinal: int) -> DeviceSolver:
    """The compiled search for frames of a link: only the link is looked up."""
    cache: dict[Any, Any] = linkage.__dict__.setdefault(_FRAMES, {})
    known = cache.get((goal.link, ordinal))
    if known is None or not (known[0] is solver or known[0] == solver):
        if len(cache) >= _MOST:
            cache.clear()
        known = cache[goal.link, ordinal] = (solver, _solver_on(linkage, (goal,), solver, ordinal, None))
    found: DeviceSolver = known[1]
    return found


def _solver_on(
    linkage: Linkage, goals: Sequence[Goal], solver: Solver, ordinal: int, solutions: int | None
) -> DeviceSolver:
    """The compiled search on a GPU, from the linkage's cache."""
    if solutions is not None:
        _check.whole(solutions, "solutions", 1, 1000)
    if not solver.searches or solver.prefer.terms:
        raise BadInput("on a GPU there is method.search(), without preferences; solve on the CPU")
    if solver.timeout is not None:
        raise BadInput("on a GPU a solve has no timeout; give max_iterations, or solve on the CPU")
    if len({goal.priority for goal in goals}) > 1:
        raise BadInput("on a GPU goals have one priority; solve on the CPU")
    compiled = search.compiled(linkage, goals, solver)
    cache: dict[Any, Any] = linkage.__dict__.setdefault(_CACHE, {})
    known = cache.get((id(compiled), ordinal))
    if known is None:
        if len(cache) >= _MOST:
            cache.clear()
        known = cache[id(compiled), ordinal] = (compiled, DeviceSolver(compiled, ordinal))
    found: DeviceSolver = known[1]
    return found
