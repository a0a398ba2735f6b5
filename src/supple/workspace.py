"""Workspaces: where an end effector can get, and where it can be turned any way [K 5.3]."""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from supple import method
from supple._linkage import outline as _outline
from supple._linkage import reach as _reach
from supple._progress import Progress
from supple.errors import BadInput
from supple.frame import Array, Frame, finite
from supple.goal import Goal
from supple.linkage import Linkage
from supple.solver import Solver, Tolerance

CHUNK = 8_192  # samples that one thread draws at a time
MOST_VOXELS = 100_000_000
ROWS = 8_192  # solves between two looks at the clock


@dataclass(frozen=True, eq=False)
class Workspace:
    """Where a link gets: sampled positions, and how they fill a grid of voxels. Made by `reachable`, `dexterous`.

    The grid stands along the world's axes; that of a flat workspace lies in its plane and is one voxel thick.
    """

    linkage: Linkage
    link: str
    positions: Array
    """Sampled positions (n, 3) of the link's origin, in metres."""
    dimension: int
    """1, 2 or 3: a curve, a surface or a solid."""
    flat: bool
    """Whether all of it lies in one plane."""
    corner: Frame
    """Lowest corner of the grid, turned as its axes are."""
    voxel: float
    """Side of a voxel, in metres."""
    counts: NDArray[np.int64]
    """Samples in each voxel (nx, ny, nz)."""
    dexterity: Array | None = None
    """The part of all orientations that is reached at the middle of each voxel (nx, ny, nz).

    nan where nothing is reached or nothing was tried; None altogether when only positions were asked for.
    """
    complete: bool = True
    """False when Ctrl-C ended the work early, and this is what was known by then."""

    @property
    def base(self) -> Array:
        """The point (3,) that distances, and `Linkage.reach`, are measured from."""
        return _reach._measured(self.linkage, self.link)[1]

    @property
    def bounds(self) -> tuple[Array, Array]:
        """Lowest and highest corner (3,) of all samples, in metres."""
        return self.positions.min(axis=0), self.positions.max(axis=0)

    @property
    def distances(self) -> tuple[float, float]:
        """Shortest and longest distance of any sample from `base`, in metres."""
        far = np.linalg.norm(self.positions - self.base, axis=-1)
        return float(far.min()), float(far.max())

    def volume(self, dexterity: float = 0.0) -> float:
        """Cubic metres it fills, or of the part with at least that dexterity; 0 for a surface or a curve.

        An estimate from voxels. It grows a little with the samples, where they are rare: along the outer edge.
        """
        return self._cells(dexterity) * self.voxel**3 if self.dimension == 3 else 0.0

    def area(self, dexterity: float = 0.0) -> float:
        """Square metres that a flat workspace fills, or of the part with at least that dexterity; 0 for a curve."""
        if not self.flat:
            raise BadInput("this workspace is not flat: it has a volume, and an outline in any plane")
        return self._cells(dexterity) * self.voxel**2 if self.dimension == 2 else 0.0

    def contains(self, point: ArrayLike, dexterity: float = 0.0) -> Any:
        """Whether points (..., 3) are in it, or in the part with at least that dexterity: bool, or an array (...).

        As coarse as its voxels are.
        """
        there = self._at(self._reached(dexterity), finite(point, 3, "point"), False)
        return bool(there) if there.ndim == 0 else there

    def centres(self, dexterity: float = 0.0) -> Array:
        """Middles (n, 3) of the voxels that are reached, or reached with at least that dexterity."""
        return self.corner.apply((np.argwhere(self._reached(dexterity)) + 0.5) * self.voxel)

    def values(self, point: ArrayLike) -> Array:
        """What is known at points (..., 3): the dexterity there, or else the number of samples in the voxel."""
        known = self.counts.astype(float) if self.dexterity is None else self.dexterity
        return self._at(known, finite(point, 3, "point"), 0.0 if self.dexterity is None else math.nan)

    def outline(self, normal: ArrayLike | None = None, through: ArrayLike | None = None) -> Array:
        """Convex outline (k, 3) of a section: corners, in order, around the samples within half a voxel of a plane.

        The plane has a ``normal`` (3,) and goes ``through`` a point (3,): by default across y and through `base`, or
        where a flat workspace lies. Empty when the plane meets no sample.
        """
        across, origin, u, v = self._plane(normal, through)
        offset = self.positions - origin
        near = offset[np.abs(offset @ across) <= self.voxel / 2]
        corners = _outline.hull(np.stack([near @ u, near @ v], axis=-1))
        around: Array = origin + corners[:, :1] * u + corners[:, 1:] * v
        return around

    def draw(self, ax: Any = None, *, normal: ArrayLike | None = None, through: ArrayLike | None = None) -> Any:
        """Draw a section, in the plane that `outline` would take, into matplotlib axes or new ones; returns the axes.

        Coloured by dexterity where that is known, else by how often samples came there, with the convex outline.
        """
        from supple.view import cloud  # drawing belongs to the view, which knows workspaces; they know it here only

        return cloud.section(self, ax, normal, through)

    def _reached(self, dexterity: float) -> NDArray[np.bool_]:
        if not 0 <= dexterity <= 1:
            raise BadInput(f"dexterity must lie between 0 and 1, got {dexterity!r}")
        if dexterity == 0:
            return self.counts > 0
        if self.dexterity is None:
            raise BadInput("only positions were sampled here; supple.dexterous() tries orientations")
        return np.nan_to_num(self.dexterity) >= dexterity - 1e-12

    def _cells(self, dexterity: float) -> float:
        """How many voxels it fills: those cut by its edge count half."""
        reached = self._reached(dexterity)
        if dexterity > 0:  # tried at the middle of a voxel, so an edge takes as many as it gives
            return float(reached.sum())
        # a voxel is cut by the edge if and only if one of its neighbours, corner to corner too, lies wholly outside
        inner = reached
        for axis in range(2 if self.flat else 3):
            wide = np.pad(inner, [(1, 1) if k == axis else (0, 0) for k in range(3)])
            pieces = [np.take(wide, np.arange(i, i + reached.shape[axis]), axis) for i in range(3)]
            inner = pieces[0] & pieces[1] & pieces[2]
        return (float(reached.sum()) + float(inner.sum())) / 2

    def _index(self, points: Array) -> NDArray[np.int64]:
        return np.floor(self.corner.inverse().apply(points) / self.voxel).astype(np.int64)

    def _cell(self, points: Array) -> NDArray[np.int64]:
        """The voxel of points (n, 3) that are in the grid, up to rounding, as one number (n,)."""
        shape = self.counts.shape
        index = np.clip(self._index(points), 0, np.array(shape) - 1)
        return np.asarray(np.ravel_multi_index(tuple(index.T), shape))

    def _at(self, grid: NDArray[Any], points: Array, outside: float | bool) -> NDArray[Any]:
        index, last = self._index(points), np.array(grid.shape) - 1
        good = ((index >= 0) & (index <= last)).all(axis=-1)
        return np.where(good, grid[tuple(np.moveaxis(np.clip(index, 0, last), -1, 0))], outside)

    def _plane(self, normal: ArrayLike | None, through: ArrayLike | None) -> tuple[Array, Array, Array, Array]:
        """A plane: its unit normal, the point of it nearest to the origin, and two directions in it."""
        if normal is None:
            across = self.corner.rotation[:, 2] if self.flat else np.array([0.0, 1.0, 0.0])
        else:
            across = finite(normal, 3, "normal")
            if across.shape != (3,) or not across.any():
                raise BadInput(f"normal must be three numbers, not all zero; got {normal!r}")
            across = across / np.linalg.norm(across)
        default = self.positions[0] if self.flat and normal is None else self.base
        point = default if through is None else finite(through, 3, "through")
        return across, (point @ across) * across, *_outline.directions(across)

    def __str__(self) -> str:
        near, far = self.distances
        said = f"{self.link} of {self.linkage.name}: {self._size(0)} reachable, {near:.3g} to {far:.3g} m from its base"
        if self.dexterity is not None:
            said += f"; {self._size(1)} in any orientation"
        return f"{said} ({len(self.positions):,} samples, voxels of {self.voxel:.3g} m)"

    def _size(self, dexterity: float) -> str:
        if self.dimension == 3:
            return f"{self.volume(dexterity):.4g} m³"
        return f"{self.area(dexterity):.4g} m²" if self.flat and self.dimension == 2 else "no volume"

    def __repr__(self) -> str:
        return f"<Workspace: {self}>"


def reachable(
    linkage: Linkage,
    link: str,
    samples: int = 1_000_000,
    *,
    seed: int = 0,
    voxel: float | None = None,
    progress: bool = True,
) -> Workspace:
    """Where a link can get: its positions for random q, uniform within the limits, drawn on all cores.

    The same seed gives the same samples on any number of cores. Ctrl-C ends it early with what was drawn by then.

    Args:
        linkage: what moves.
        link: the end effector.
        samples: how many q to draw.
        seed: of the random q.
        voxel: side of a voxel in metres; by default such that a voxel holds some 50 samples.
        progress: whether a bar is shown, on a terminal, when it takes longer than a second.
    """
    dimension = _checked(linkage, link, voxel, seed, samples=samples)
    positions = np.empty((samples, 3))
    filled = np.zeros(-(-samples // CHUNK), dtype=bool)

    def draw(chunk: int) -> None:
        part = positions[chunk * CHUNK : (chunk + 1) * CHUNK]
        part[:] = linkage.frame(_draw(linkage, len(part), seed, chunk), link).position
        filled[chunk] = True

    complete = _in_chunks(draw, samples, "reachable", progress)
    if not complete:
        positions = positions[np.repeat(filled, CHUNK)[:samples]]
    return _gridded(linkage, link, positions, dimension, voxel, len(positions) / 50, complete)


def dexterous(
    linkage: Linkage,
    link: str,
    orientations: int = 32,
    *,
    samples: int = 200_000,
    voxel: float | None = None,
    starts: int = 4,
    solver: Solver | None = None,
    seed: int = 0,
    progress: bool = True,
) -> Workspace:
    """Where a link can get in any orientation: the part of ``orientations`` reached in each voxel that is reachable.

    Orientations are spread evenly over all turns; of a flat linkage, over the turns in its plane. Each is sought at
    the middle of the voxel by the solver, from those of the samples near it that are turned most alike. Ctrl-C ends it
    early; voxels not yet tried are then nan.

    Args:
        linkage: what moves.
        link: the end effector.
        orientations: how many to try.
        samples: how many random q find the reachable voxels.
        voxel: side of a voxel in metres; by default there are some 1,500 that are reachable.
        starts: from how many q each is sought before it counts as not reached.
        solver: how it is sought; by default to 1e-4 of the reach and 1e-3 rad.
        seed: of the random q.
        progress: whether a bar is shown, on a terminal, when it takes longer than a second.
    """
    numbers = {"samples": samples, "orientations": orientations, "starts": starts}
    dimension = _checked(linkage, link, voxel, seed, **numbers)
    if solver is not None and not isinstance(solver, Solver):
        raise BadInput(f"solver must be a Solver, got {solver!r}")
    q = np.concatenate([_draw(linkage, min(CHUNK, samples - i), seed, i // CHUNK) for i in range(0, samples, CHUNK)])
    frames = linkage.frame(q, link)
    found = _gridded(linkage, link, np.array(frames.position), dimension, voxel, 1500, True)
    turns = _orientations(linkage, link, orientations)
    if solver is None:
        reach = min(linkage.reach(link), 1e3 * found.voxel)
        solver = Solver(tolerance=Tolerance(1e-4 * reach, 1e-3), patience=6, method=method.damped())
    # the samples of each voxel, one after another
    cell = found._cell(found.positions)
    order = np.argsort(cell, kind="stable")
    cells, first = np.unique(cell[order], return_index=True)
    last = np.append(first[1:], samples)
    wanted, turned = Frame.at(np.zeros(3), turns).to_quaternion(), frames.to_quaternion()
    places = found.corner.apply((np.stack(np.unravel_index(cells, found.counts.shape), -1) + 0.5) * found.voxel)
    dexterity = np.full(found.counts.size, math.nan)
    each = max(1, ROWS // orientations)
    complete = True
    with Progress("dexterous", len(cells), shown=progress) as bar:
        try:
            for i in range(0, len(cells), each):
                some = range(i, min(i + each, len(cells)))
                begin = np.stack([q[_alike(order[first[k] : last[k]], turned, wanted, starts)] for k in some])
                goal = Goal(link, position=places[some.start : some.stop, None], orientation=turns)
                dexterity[cells[some.start : some.stop]] = _tried(linkage, goal, solver, begin)
                bar.step(len(some))
        except KeyboardInterrupt:
            complete = False
    return replace(found, dexterity=dexterity.reshape(found.counts.shape), complete=complete)


def _checked(linkage: Linkage, link: str, voxel: float | None, seed: int, **numbers: int) -> int:
    """In how many dimensions a link moves, from the rank of its Jacobian; `BadInput` unless all arguments are good."""
    if not isinstance(linkage, Linkage):
        raise BadInput(f"linkage must be a Linkage, got {linkage!r}")
    linkage.link(link)
    for name, value in {**numbers, "seed": seed}.items():
        least = 0 if name == "seed" else 1
        if not isinstance(value, int | np.integer) or isinstance(value, bool) or value < least:
            raise BadInput(f"{name} must be a whole number of at least {least}, got {value!r}")
    if voxel is not None and not 0 < voxel < math.inf:
        raise BadInput(f"voxel must be a positive number of metres, got {voxel!r}")
    sizes = np.linalg.svd(linkage.jacobian(linkage.random(32, seed=0), link)[:, :3], compute_uv=False)
    dimension = int((sizes > 1e-9 * sizes.max(initial=1e-300)).sum(axis=-1).max())
    if dimension == 0:
        raise BadInput(f"no joint moves link {link!r} from its place: it has no workspace")
    return dimension


def _draw(linkage: Linkage, n: int, seed: int, chunk: int) -> Array:
    """The q (n, dof) of a chunk of samples: the same whichever thread draws it."""
    return linkage.random(n, seed=np.random.default_rng([seed, chunk]))


def _in_chunks(draw: Callable[[int], None], samples: int, what: str, progress: bool) -> bool:
    """Draw every chunk of that many samples on all cores; False if Ctrl-C came before the end."""
    chunks = -(-samples // CHUNK)
    asked = os.environ.get("SUPPLE_THREADS", "")
    threads = min(256, int(asked) if asked.isdigit() else os.cpu_count() or 1)
    done = 0
    with ThreadPoolExecutor(max(1, threads)) as pool, Progress(what, chunks, shown=progress) as bar:
        try:
            for future in as_completed([pool.submit(draw, chunk) for chunk in range(chunks)]):
                future.result()
                done += 1
                bar.step()
        except BaseException as error:
            pool.shutdown(cancel_futures=True)
            if not (isinstance(error, KeyboardInterrupt) and done):
                raise
    return done == chunks


def _gridded(
    linkage: Linkage, link: str, positions: Array, dimension: int, voxel: float | None, filled: float, complete: bool
) -> Workspace:
    """Samples (n, 3) on a grid; unless a voxel's side is given, about that many voxels are filled."""
    few = positions[:4096] - positions[:4096].mean(axis=0)
    spread, axes = np.linalg.svd(few, full_matrices=False)[1:]
    flat = dimension < 3 and len(spread) == 3 and bool(spread[2] <= 1e-9 * spread[0])
    turn = np.eye(3)
    if flat:
        normal = np.round(axes[2], 12)  # without the last digits, so that a plane along the world's axes is exactly so
        u, v = _outline.directions(normal / np.linalg.norm(normal))
        turn = np.stack([u, v, np.cross(u, v)], axis=-1)
    local = positions @ turn
    low, high = local.min(axis=0), local.max(axis=0)
    extent = (high - low) * ([1, 1, 0] if flat else [1, 1, 1])
    if voxel is None:
        ways = 2 if flat else 3
        box = float(np.prod(np.maximum(np.sort(extent)[-ways:], 1e-3 * extent.max())))
        voxel = (0.6 * box / filled) ** (1 / ways) or 1.0
    shape = np.floor(extent / voxel) + 1
    if np.prod(shape) > MOST_VOXELS:
        raise BadInput(f"voxels of {voxel:g} m are too small: there would be {np.prod(shape):.2g} of them")
    shape = shape.astype(np.int64)
    corner = Frame.at(turn @ ((low + high - shape * voxel) / 2), turn)
    empty = Workspace(linkage, link, positions, dimension, flat, corner, voxel, np.zeros(shape, dtype=np.int64))
    counts = np.bincount(empty._cell(positions), minlength=int(np.prod(shape)))
    positions.flags.writeable = False
    return replace(empty, counts=counts.reshape(shape), complete=complete)


def _orientations(linkage: Linkage, link: str, n: int) -> Array:
    """Rotations (n, 3, 3), well spread: about the only axis that the link turns about, or over all there are."""
    axes = np.swapaxes(linkage.jacobian(linkage.random(32, seed=0), link)[:, 3:], -1, -2).reshape(-1, 3)
    sizes, directions = np.linalg.svd(axes, full_matrices=False)[1:]
    if sizes[0] > 0 and sizes[1] <= 1e-9 * sizes[0]:
        about = Frame.turn(directions[0], 2 * math.pi * np.arange(n) / n)
        return np.array((about @ linkage.frame(linkage.rest, link)).rotation)
    # a sequence of low discrepancy in the unit cube, each step a power of the root of x**4 = x + 1, and from there
    # to quaternions as Shoemake does
    share = (0.5 + np.arange(1, n + 1)[:, None] * 1.2207440846057596 ** -np.arange(1.0, 4.0)) % 1.0
    near, far = np.sqrt(1 - share[:, 0]), np.sqrt(share[:, 0])
    a, b = 2 * math.pi * share[:, 1], 2 * math.pi * share[:, 2]
    quaternions = np.stack([near * np.sin(a), near * np.cos(a), far * np.sin(b), far * np.cos(b)], axis=-1)
    return np.array(Frame.quaternion(quaternions).rotation)


def _alike(members: NDArray[np.int64], turned: Array, wanted: Array, starts: int) -> NDArray[np.int64]:
    """Of some samples, for each wanted quaternion (n, 4), the ones turned most alike (n, starts), best first."""
    members = members[:512]
    if len(members) < starts:  # not enough came here: any others will do
        members = np.concatenate([members, np.arange(starts)])
    alike = np.abs(wanted @ turned[members].T)
    best: NDArray[np.int64] = members[np.argsort(-alike, axis=-1, kind="stable")[:, :starts]]
    return best


def _tried(linkage: Linkage, goal: Goal, solver: Solver, starts: Array) -> Array:
    """The part (k,) of goals (k, n) that some start of (k, n, starts, dof) leads to."""
    assert goal.position is not None
    assert goal.orientation is not None
    shape = starts.shape[:2]
    places = np.broadcast_to(goal.position, (*shape, 3))
    turns = np.broadcast_to(goal.orientation, (*shape, 3, 3))
    reached = np.zeros(shape, dtype=bool)
    for start in np.moveaxis(starts, 2, 0):
        left = ~reached
        if left.any():
            some = Goal(goal.link, position=places[left], orientation=turns[left])
            reached[left] = solver.solve(linkage, some, start=start[left]).arrived
    part: Array = reached.mean(axis=-1)
    return part
