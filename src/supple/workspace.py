"""Workspace: the positions that an end effector can reach, and where it can reach any orientation [K 5.3]."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from supple import _check, _renamed, method
from supple._linkage import outline, reach, sampling
from supple._linkage.argument import checked_linkage
from supple._progress import Progress
from supple.errors import BadInput
from supple.frame import Array, Frame
from supple.goal import Goal
from supple.linkage import Linkage
from supple.solver import Solver, Tolerance

__all__ = ["Workspace", "dexterous", "reachable"]

MAX_SAMPLES = 100_000_000  # samples, orientations and starts; more is taken for a mistake
ROWS = 8_192  # solves between two updates of the progress bar


@dataclass(frozen=True, eq=False)
class Workspace:
    """The positions that a link reaches: random samples, counted in a grid of voxels. Made by `reachable`, `dexterous`.

    The grid is along the world's axes; that of a flat workspace is in its plane, and one voxel thick.

    >>> from supple import models, reachable
    >>> space = reachable(models.planar2(), "tip", samples=10_000)
    >>> space.flat, space.contains([20, 0, 0]), space.contains([30, 0, 0])
    (True, True, False)
    """

    linkage: Linkage
    """The linkage that moves."""
    link: str
    """The end effector."""
    positions: Array
    """Sampled positions (n, 3) of the link's origin, in metres."""
    dimension: int
    """1, 2 or 3: a curve, a surface or a solid."""
    flat: bool
    """Whether all of it lies in one plane."""
    corner: Frame
    """Frame at the lowest corner of the grid, with the grid's axes."""
    voxel: float
    """Side of a voxel, in metres."""
    counts: NDArray[np.int64]
    """Samples in each voxel (nx, ny, nz)."""
    dexterity: Array | None = None
    """The fraction of all orientations that is reached at the middle of each voxel (nx, ny, nz).

    nan where nothing is reached or nothing was tried; None if only positions were sampled.
    """
    complete: bool = True
    """False if Ctrl-C ended the computation early."""

    @property
    def base(self) -> Array:
        """The point (3,) that distances and `Linkage.reach` are measured from, in metres.

        >>> from supple import models, reachable
        >>> space = reachable(models.planar2(), "tip", samples=10_000)
        >>> space.base
        array([0., 0., 0.])
        """
        return reach.measured(self.linkage, self.link)[1]

    @property
    def bounds(self) -> tuple[Array, Array]:
        """Lowest and highest corner (3,) of all samples, in metres.

        >>> from supple import models, reachable
        >>> space = reachable(models.planar2(), "tip", samples=10_000)
        >>> space.bounds[1].round()
        array([25., 25.,  0.])
        """
        return self.positions.min(axis=0), self.positions.max(axis=0)

    @property
    def distances(self) -> tuple[float, float]:
        """Shortest and longest distance of any sample from `base`, in metres.

        >>> from supple import models, reachable
        >>> space = reachable(models.planar2(), "tip", samples=10_000)
        >>> [round(distance) for distance in space.distances]
        [5, 25]
        """
        far = np.linalg.norm(self.positions - self.base, axis=-1)
        return float(far.min()), float(far.max())

    def volume(self, dexterity: float = 0.0) -> float:
        """Volume in cubic metres, or that of the part with at least this dexterity; 0 for a surface or a curve.

        An estimate from voxels. It grows a little with the number of samples, which are rare along the outer edge.

        >>> from supple import models, reachable
        >>> reachable(models.ur5(), "tool0", samples=10_000).volume() > 1
        True
        """
        part = _check.fraction(dexterity, "dexterity", zero=True)
        return self._cells(part) * self.voxel**3 if self.dimension == 3 else 0.0

    def area(self, dexterity: float = 0.0) -> float:
        """Area of a flat workspace in square metres, or of the part with at least this dexterity; 0 for a curve.

        >>> from supple import models, reachable
        >>> space = reachable(models.planar2(), "tip", samples=10_000)
        >>> 1700 < space.area() < 2000  # of an annulus from 5 to 25 m: 1885
        True
        """
        if not self.flat:
            raise BadInput("this workspace is not flat: it has a volume, and an outline in any plane")
        part = _check.fraction(dexterity, "dexterity", zero=True)
        return self._cells(part) * self.voxel**2 if self.dimension == 2 else 0.0

    def contains(self, point: ArrayLike, dexterity: float = 0.0) -> Any:
        """Whether points (..., 3) in metres are in it, or in the part with at least this dexterity: bool or (...).

        The resolution is one voxel.

        >>> from supple import models, reachable
        >>> reachable(models.planar2(), "tip", samples=10_000).contains([[20, 0, 0], [30, 0, 0]])
        array([ True, False])
        """
        there = self._at(self._reached(dexterity), _check.rows(point, 3, "point"), False)
        return bool(there) if there.ndim == 0 else there

    def centres(self, dexterity: float = 0.0) -> Array:
        """Centres (n, 3) of the voxels that are reached, or reached with at least this dexterity; metres.

        >>> from supple import models, reachable
        >>> space = reachable(models.planar2(), "tip", samples=10_000)
        >>> space.centres().shape[1]
        3
        """
        return self.corner.apply((np.argwhere(self._reached(dexterity)) + 0.5) * self.voxel)

    def values(self, point: ArrayLike) -> Array:
        """Dexterity (...) at points (..., 3) in metres, or without dexterity the number of samples in the voxel.

        >>> from supple import models, reachable
        >>> space = reachable(models.planar2(), "tip", samples=10_000)
        >>> bool(space.values([20, 0, 0]) > 0)
        True
        """
        known = self.counts.astype(float) if self.dexterity is None else self.dexterity
        return self._at(known, _check.rows(point, 3, "point"), 0.0 if self.dexterity is None else math.nan)

    def outline(self, normal: ArrayLike | None = None, through: ArrayLike | None = None) -> Array:
        """Convex outline (k, 3) of a section, in metres: the hull of the samples within half a voxel of a plane.

        The plane has a ``normal`` (3,) and goes ``through`` a point (3,): by default normal to y through `base`, or
        the plane of a flat workspace. Empty if no sample is near the plane.

        >>> from supple import models, reachable
        >>> reachable(models.planar2(), "tip", samples=10_000).outline().shape[1]
        3
        """
        across, origin, u, v = self._plane(normal, through)
        offset = self.positions - origin
        near = offset[np.abs(offset @ across) <= self.voxel / 2]
        corners = outline.hull(np.stack([near @ u, near @ v], axis=-1))
        around: Array = origin + corners[:, :1] * u + corners[:, 1:] * v
        return around

    def draw(self, ax: Any = None, *, normal: ArrayLike | None = None, through: ArrayLike | None = None) -> Any:
        """Draw a section in the plane of `outline` into matplotlib axes, by default new ones; returns the axes.

        Coloured by dexterity, or if that was not computed by the number of samples, with the convex outline.
        """
        from supple.view import cloud  # an upward import: drawing is in view

        return cloud.section(self, ax, normal, through)

    def _reached(self, dexterity: float) -> NDArray[np.bool_]:
        if _check.fraction(dexterity, "dexterity", zero=True) == 0:
            return self.counts > 0
        if self.dexterity is None:
            raise BadInput("only positions were sampled here; supple.dexterous() tries orientations")
        return np.nan_to_num(self.dexterity) >= dexterity - 1e-12

    def _cells(self, dexterity: float) -> float:
        """Number of filled voxels; those cut by the boundary count half."""
        reached = self._reached(dexterity)
        if dexterity > 0:  # tested at the centres of voxels, so the count is already unbiased
            return float(reached.sum())
        # the boundary cuts a voxel if one of its 26 neighbours is empty
        inner = reached
        for axis in range(2 if self.flat else 3):
            wide = np.pad(inner, [(1, 1) if k == axis else (0, 0) for k in range(3)])
            pieces = [np.take(wide, np.arange(i, i + reached.shape[axis]), axis) for i in range(3)]
            inner = pieces[0] & pieces[1] & pieces[2]
        return (float(reached.sum()) + float(inner.sum())) / 2

    def _index(self, points: Array) -> NDArray[np.int64]:
        return np.floor(self.corner.inverse().apply(points) / self.voxel).astype(np.int64)

    def _cell(self, points: Array) -> NDArray[np.int64]:
        """Flat index (n,) of the voxels of points (n, 3) that are in the grid up to rounding."""
        shape = self.counts.shape
        index = np.clip(self._index(points), 0, np.array(shape) - 1)
        return np.asarray(np.ravel_multi_index(tuple(index.T), shape))

    def _at(self, grid: NDArray[Any], points: Array, outside: float | bool) -> NDArray[Any]:
        index, last = self._index(points), np.array(grid.shape) - 1
        good = ((index >= 0) & (index <= last)).all(axis=-1)
        return np.where(good, grid[tuple(np.moveaxis(np.clip(index, 0, last), -1, 0))], outside)

    def _plane(self, normal: ArrayLike | None, through: ArrayLike | None) -> tuple[Array, Array, Array, Array]:
        """A plane: its unit normal, its point nearest to the origin, and two directions in it, (3,) each."""
        if normal is None:
            across = self.corner.rotation[:, 2] if self.flat else np.array([0.0, 1.0, 0.0])
        else:
            across = _check.vector(normal, 3, "normal")
            if not across.any():
                raise BadInput("normal must not be zero")
            across = _check.unit(across)
        default = self.positions[0] if self.flat and normal is None else self.base
        point = default if through is None else _check.vector(through, 3, "through")
        return across, (point @ across) * across, *outline.directions(across)

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


@_check.known_options()
def reachable(
    linkage: Linkage,
    link: str,
    samples: int = 1_000_000,
    *,
    seed: int = 0,
    voxel: float | None = None,
    progress: bool = True,
) -> Workspace:
    """The reachable workspace of a link: its positions for random q, uniform within the limits, on all cores.

    The same seed gives the same samples on any number of cores. Ctrl-C ends it early, with the samples so far.

    Args:
        linkage: the linkage that moves.
        link: the end effector.
        samples: number of random q.
        seed: seed of the random q.
        voxel: side of a voxel in metres; by default such that a voxel holds about 50 samples.
        progress: whether to show a progress bar on a terminal if it takes longer than a second.

    >>> from supple import models, reachable
    >>> reachable(models.planar2(), "tip", samples=10_000).positions.shape
    (10000, 3)
    """
    dimension = _checked(linkage, link, voxel, seed, progress, samples=samples)
    positions = np.empty((samples, 3))
    filled = np.zeros(-(-samples // sampling.CHUNK), dtype=bool)

    def draw(chunk: int) -> None:
        part = positions[chunk * sampling.CHUNK : (chunk + 1) * sampling.CHUNK]
        part[:] = linkage.frame(sampling.draw(linkage, len(part), seed, chunk), link).position
        filled[chunk] = True

    complete = sampling.in_chunks(draw, samples, "reachable", progress)
    if not complete:
        positions = positions[np.repeat(filled, sampling.CHUNK)[:samples]]
    return _gridded(linkage, link, positions, dimension, voxel, len(positions) / 50, complete)


@_check.known_options()
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
    """The dexterous workspace of a link: the fraction of orientations that is reached in each reachable voxel.

    Orientations are spread evenly over all rotations, or for a planar linkage over the rotations in its plane. Each is
    solved for at the centre of the voxel, from the samples in the voxel with the nearest orientations. Ctrl-C ends it
    early; voxels not yet tried are then nan.

    Args:
        linkage: the linkage that moves.
        link: the end effector.
        orientations: number of orientations to try.
        samples: number of random q that find the reachable voxels.
        voxel: side of a voxel in metres; by default such that about 1,500 voxels are reachable.
        starts: number of start values for each orientation before it counts as not reached.
        solver: by default a `Solver` with tolerances of 1e-4 of the reach and 1e-3 rad.
        seed: seed of the random q.
        progress: whether to show a progress bar on a terminal if it takes longer than a second.

    >>> from supple import dexterous, models
    >>> space = dexterous(models.planar3(), "tip", orientations=4, samples=500, voxel=10, progress=False)
    >>> space.contains([20, 0, 0], dexterity=0.5)
    True
    """
    dimension = _checked(
        linkage, link, voxel, seed, progress, samples=samples, orientations=orientations, starts=starts
    )
    if solver is not None:
        _check.instance(solver, Solver, "solver")
    q = sampling.draw_all(linkage, samples, seed)
    frames = linkage.frame(q, link)
    found = _gridded(linkage, link, np.array(frames.position), dimension, voxel, 1500, True)
    rotations = sampling.orientations(linkage, link, orientations)
    if solver is None:
        size = min(linkage.reach(link), 1e3 * found.voxel)
        solver = Solver(tolerance=Tolerance(1e-4 * size, 1e-3), patience=6, method=method.damped())
    # the samples, sorted by voxel
    cell = found._cell(found.positions)
    order = np.argsort(cell, kind="stable")
    cells, first = np.unique(cell[order], return_index=True)
    last = np.append(first[1:], samples)
    wanted, sampled = Frame.at(np.zeros(3), rotations).to_quaternion(), frames.to_quaternion()
    places = found.corner.apply((np.stack(np.unravel_index(cells, found.counts.shape), -1) + 0.5) * found.voxel)
    dexterity = np.full(found.counts.size, math.nan)
    each = max(1, ROWS // orientations)
    complete = True
    with Progress("dexterous", len(cells), shown=progress) as bar:
        try:
            for i in range(0, len(cells), each):
                some = range(i, min(i + each, len(cells)))
                begin = np.stack(
                    [q[sampling.nearest_orientations(order[first[k] : last[k]], sampled, wanted, starts)] for k in some]
                )
                goal = Goal(link, position=places[some.start : some.stop, None], orientation=rotations)
                dexterity[cells[some.start : some.stop]] = _tried(linkage, goal, solver, begin)
                bar.step(len(some))
        except KeyboardInterrupt:
            complete = False
    return replace(found, dexterity=dexterity.reshape(found.counts.shape), complete=complete)


def _checked(linkage: Linkage, link: str, voxel: float | None, seed: int, progress: bool, **counts: int) -> int:
    """In how many dimensions a link moves; `BadInput` unless all arguments are good."""
    checked_linkage(linkage).link(link)
    for name, count in counts.items():
        if _check.whole(count, name, 1) > MAX_SAMPLES:
            raise BadInput(f"{name} must be at most {MAX_SAMPLES:,}, got {_check.short(count)}")
    _check.whole(seed, "seed", 0)
    _check.flag(progress, "progress")
    if voxel is not None:
        _check.positive(voxel, "voxel", "metres")
        if voxel > _check.LARGEST:
            raise BadInput(f"voxel must be at most {_check.LARGEST:g} m, got {voxel:g}")
    return sampling.dimension(linkage, link)


def _gridded(
    linkage: Linkage, link: str, positions: Array, dimension: int, voxel: float | None, filled: float, complete: bool
) -> Workspace:
    """Samples (n, 3) counted on a grid; unless a voxel's side is given, about ``filled`` voxels hold samples."""
    flat, corner, voxel, shape = sampling.grid(positions, dimension, voxel, filled)
    empty = Workspace(linkage, link, positions, dimension, flat, corner, voxel, np.zeros(shape, dtype=np.int64))
    counts = np.bincount(empty._cell(positions), minlength=math.prod(shape))
    positions.flags.writeable = False
    return replace(empty, counts=counts.reshape(shape), complete=complete)


def _tried(linkage: Linkage, goal: Goal, solver: Solver, starts: Array) -> Array:
    """The fraction (k,) of goals (k, n) that is reached from some start of (k, n, starts, dof)."""
    assert goal.position is not None
    assert goal.orientation is not None
    shape = starts.shape[:2]
    places = np.broadcast_to(goal.position, (*shape, 3))
    rotations = np.broadcast_to(goal.orientation, (*shape, 3, 3))
    reached = np.zeros(shape, dtype=bool)
    if solver.searches:  # which solution it is does not matter
        solver = replace(solver, method=method.search(nearest=False))
    for start in np.moveaxis(starts, 2, 0):
        left = ~reached
        if left.any():
            some = Goal(goal.link, position=places[left], orientation=rotations[left])
            reached[left] = solver.solve(linkage, some, start=start[left]).arrived
    part: Array = reached.mean(axis=-1)
    return part


def __dir__() -> list[str]:
    return sorted(__all__)


if not TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        raise _renamed.no_attribute("supple.workspace", name)
