"""Linkage: a tree of links and joints, and its forward kinematics."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from enum import Enum
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from supple import _check, _renamed
from supple._arrays import forward
from supple._arrays.library import library_of
from supple._linkage import condition, degrees, edit, limits, masses, reach, serialization, text
from supple._linkage.frames import Frames as Frames
from supple._linkage.structure import Structure
from supple.errors import BadInput, UnknownName
from supple.frame import Array, Frame
from supple.link import Geometry, Link


class Axes(Enum):
    """The axes that a Jacobian is written in."""

    WORLD = "world"
    LINK = "link"


_WORLD, _LINK = Axes.WORLD, Axes.LINK  # looking up a member takes as long as a small Jacobian


@_renamed.answers_old_names
class Linkage(Structure, metaclass=_renamed.HidesOldNames):
    """A tree of links and joints: a robot or an animated figure. It is immutable and holds no joint values.

    ``q`` holds one value for each degree of freedom, in the depth-first order of the joints (see `names` and `units`),
    and may have leading axes: (..., dof). The three values of a ball joint are a rotation vector; use `integrate` and
    `difference` to step from one q to another. Threads may share a linkage.

    >>> from supple import Frame, Joint, Linkage
    >>> arm = Linkage("two", [
    ...     Joint.revolute("shoulder", "base", "upper", lower=-2, upper=2),
    ...     Joint.revolute("elbow", "upper", "fore", at=Frame.at([15, 0, 0])),
    ...     Joint.fixed("wrist", "fore", "gripper", at=Frame.at([10, 0, 0])),
    ... ])
    >>> arm.frame([0, 0], "gripper").position
    array([25.,  0.,  0.])
    """

    # -- forward kinematics -------------------------------------------------------------------------------------

    def frame(self, q: ArrayLike, link: str, *, out: Array | None = None) -> Frame:
        """Frame of one link in the world for joint values q (..., dof): a Frame with the same leading axes.

        Many q are computed with vector instructions, very many on all cores. ``out``, a float64 array (..., 4, 4),
        receives the result instead of new memory. The Frame is then a view of ``out`` and changes when ``out`` is
        written again; goals and joints that are given such a Frame copy it. For a q of torch, JAX or CuPy the result is
        an array (..., 4, 4) of that library, not a Frame; it is computed on the device that holds q, also a GPU.

        >>> from supple import models
        >>> models.planar2().frame([[0, 0], [0, 0]], "tip").position
        array([[25.,  0.,  0.],
               [25.,  0.,  0.]])
        """
        try:
            tree = self._compiled or self._native
            frame: Frame = tree.frame(q, link) if out is None else tree.frame_into(q, link, out)
            return frame
        except _check.ForeignArray:
            pass
        except (TypeError, UnknownName):
            raise self._refused("frame", q, link, out) from None
        return forward.frame(self, q, link, out)  # type: ignore[no-any-return]

    def frames(self, q: ArrayLike) -> Frames:
        """Frames of all links in the world for joint values q (..., dof), by the names of the links.

        For a q of torch, JAX or CuPy they are arrays (..., 4, 4) of that library.

        >>> from supple import models
        >>> models.planar2().frames([0, 0])["link2"].position
        array([15.,  0.,  0.])
        """
        try:
            return Frames(self, self._native.frames(q))
        except _check.ForeignArray:
            pass
        except (TypeError, UnknownName):
            raise self._refused("frames", q, self.root) from None
        return Frames(self, forward.frames(self, q))

    def jacobian(
        self,
        q: ArrayLike,
        link: str,
        *,
        point: ArrayLike | None = None,
        axes: Axes = Axes.WORLD,
        out: Array | None = None,
    ) -> Array:
        """Jacobian (..., 6, dof) of a link for joint values q (..., dof).

        Rows are linear velocity in m/s, then angular velocity in rad/s; there is one column for each value of q. The
        velocity is that of the link's origin, or of a ``point`` (..., 3) in the link's axes, in metres. It is written
        in the world's axes or in the link's (``Axes.LINK``). The columns of a ball joint are for rotations about its
        child's axes, as in `integrate`. ``out``, a float64 array of the result's shape, receives the result. For a q of
        torch, JAX or CuPy the result is an array of that library.

        >>> from supple import models
        >>> models.planar2().jacobian([0, 0], "tip")[1]
        array([25., 10.])
        """
        try:
            if point is None and axes is _WORLD and out is None:
                return (self._compiled or self._native).jacobian(q, link)
            if axes is not _WORLD and axes is not _LINK:
                raise BadInput(f"axes must be Axes.WORLD or Axes.LINK, got {_check.short(axes)}")
            if point is not None:
                if library_of(q) or library_of(point):
                    raise _check.ForeignArray
                q, point = _check.numbers(q, "q", self.dof), _check.numbers(point, "point", "(..., 3)")
                if point.ndim > 1 and point.shape[-1] == 3 and np.ndim(q):
                    lead = _check.leading_axes(np.shape(q)[:-1], point.shape[:-1], what="q and point")
                    q, point = np.broadcast_to(q, (*lead, np.shape(q)[-1])), np.broadcast_to(point, (*lead, 3))
            return self._native.jacobian_at(q, link, point, axes is _LINK, out)
        except _check.ForeignArray:
            pass
        except (TypeError, UnknownName):
            raise self._refused("jacobian", q, link) from None
        return forward.jacobian(self, q, link, point, axes, axes is _LINK, out)  # type: ignore[no-any-return]

    def frame_and_jacobian(
        self, q: ArrayLike, link: str, *, out: tuple[Array, Array] | None = None
    ) -> tuple[Frame, Array]:
        """Frame and Jacobian (..., 6, dof) of a link, computed together in less time than one after the other.

        ``out``, two float64 arrays (..., 4, 4) and (..., 6, dof), receives the results instead of new memory.

        >>> from supple import models
        >>> frame, jacobian = models.planar2().frame_and_jacobian([0, 0], "tip")
        """
        try:
            tree = self._compiled or self._native
            return tree.frame_and_jacobian(q, link) if out is None else tree.frame_and_jacobian_into(q, link, *out)
        except _check.ForeignArray:
            pass
        except (TypeError, UnknownName):
            raise self._refused("frame_and_jacobian", q, link, out) from None
        return forward.frame_and_jacobian(self, q, link, out)

    def manipulability(self, q: ArrayLike, link: str, *, position: bool = True, orientation: bool = True) -> Array:
        """Manipulability (...) of a link: the volume that its velocity spans for unit joint speed; 0 where singular.

        The product of the singular values of the Jacobian's linear (``position``) and angular (``orientation``) rows.
        Their number is the number of rows, or the number of values of q that move the link if that is smaller: an arm
        with five joints is not always singular.

        >>> from supple import models
        >>> print(models.planar2().manipulability([0, 1.5707963267948966], "tip", orientation=False).round(6))
        150.0
        """
        if not (_check.flag(position, "position") | _check.flag(orientation, "orientation")):
            raise BadInput("manipulability needs position, orientation or both")
        try:
            return self._native.manipulability(q, link, position, orientation)
        except _check.ForeignArray:
            pass
        except (TypeError, UnknownName):
            raise self._refused("manipulability", q, link) from None
        return self._native.manipulability(_check.own(q), link, position, orientation)

    def condition(
        self,
        q: ArrayLike,
        link: str,
        alpha: float = 0.0,
        *,
        weight: float = 1.0,
        position: bool = True,
        orientation: bool = True,
    ) -> Array:
        """Condition number (...) of J J' + alpha I of a link [D10]; inf where singular.

        (s_1^2 + alpha) / (s_m^2 + alpha), with the largest and the smallest singular value of the same rows as in
        `manipulability`. ``weight`` multiplies the linear rows: pi / reach makes metres comparable to radians [D30].

        >>> from supple import models
        >>> bool(models.planar2().condition([0, 0], "tip", orientation=False) > 1e12)
        True
        """
        return condition.condition(self, q, link, alpha, weight, position, orientation)

    def transform_points(self, q: ArrayLike, points: ArrayLike, link: str, to: str | None = None) -> Array:
        """Points (..., 3) in metres, transformed from a link's frame to the world, or to the frame of the link ``to``.

        >>> from supple import models
        >>> models.planar2().transform_points([0, 0], [1, 0, 0], "tip")
        array([26.,  0.,  0.])
        """
        q = _check.own(q)
        frame = self.frame(q, link)
        if to is not None:
            frame = self.frame(q, to).inverse() @ frame
        return frame.apply(points)

    def center_of_mass(self, q: ArrayLike) -> Array:
        """Centre of mass (..., 3) of the linkage in the world, in metres, for joint values q (..., dof).

        All links with a mass count, the root too. Raises `BadInput` if no link has a mass.

        >>> from supple import models
        >>> models.g1().center_of_mass(models.g1().rest).round(3)
        array([ 0.025,  0.   , -0.09 ])
        """
        return masses.center_of_mass(self, q)

    def world_geometry(self, q: ArrayLike) -> Iterator[tuple[str, Geometry, Frame]]:
        """Every piece of geometry, with the name of its link and its frame in the world: what a viewer draws.

        >>> from supple import models
        >>> link, piece, frame = next(models.ur5().world_geometry(models.ur5().rest))
        >>> link
        'base_link'
        """
        frames = self.frames(_check.own(q))
        for link in self.links:
            for geometry in link.geometry:
                yield link.name, geometry, frames[link.name] @ geometry.frame

    def reach(self, link: str) -> float:
        """Largest distance of a link's origin from its base point, in metres, if all rotations were free.

        The base point is the point of the first rotation axis that is nearest to the next axis. Prismatic joints after
        the first rotation count up to their limits; the reach is inf if one has no limit. Prismatic joints before it,
        such as a lift or a rail, do not count, nor does the translation of a planar or floating base. They count only
        if no rotation moves the link.

        >>> from supple import models
        >>> round(models.planar2().reach("tip"), 9)
        25.0
        """
        return reach.reach(self, self.link(link).name)

    # -- steps and limits ---------------------------------------------------------------------------------------

    def integrate(self, q: ArrayLike, step: ArrayLike) -> Array:
        """Joint values (..., dof) after a step (..., dof): q + step; ball joints rotate about the axes of their child.

        >>> from supple import models
        >>> models.planar2().integrate([0.5, 0], [0.25, 1])
        array([0.75, 1.  ])
        """
        return self._native.integrate(*self._same_leading_axes(q, step))

    def difference(self, start: ArrayLike, end: ArrayLike) -> Array:
        """The step (..., dof) with which `integrate` goes from one q to another; for ball joints the shortest rotation.

        >>> from supple import models
        >>> models.planar2().difference([0.5, 0], [0.75, 1])
        array([0.25, 1.  ])
        """
        return self._native.difference(*self._same_leading_axes(start, end))

    @cached_property
    def _largest_square(self) -> float:
        """The largest sum of squares of joint values within limits: starts with less are not checked for degrees."""
        return degrees.largest_square(self)

    @cached_property
    def _ball_limits(self) -> tuple[list[int], Array]:
        """The limits of ball joints, as the core reads them."""
        return limits.of_balls(self)

    @cached_property
    def _unlimited(self) -> tuple[list[int], Any]:
        """Where rotation vectors without limits begin, and which values are angles without limits."""
        return limits.unlimited(self)

    def inside(self, q: ArrayLike, tolerance: float = 1e-12) -> Any:
        """Whether q (..., dof) is within all position limits: a bool, or an array (...).

        ``tolerance`` is in radians or metres. The limits of a mimic itself do not count.

        >>> from supple import models
        >>> models.panda().inside(models.panda().rest)
        True
        """
        within = limits.inside(self, q, tolerance)
        if within is False:
            degrees.warn(self, _check.numbers(q, "q"), "q")
        return within

    def clamp(self, q: ArrayLike) -> Array:
        """The nearest q (..., dof) within all position limits, joint by joint.

        >>> from supple import Joint, Linkage
        >>> Linkage("one", [Joint.revolute("a", "base", "tip", lower=-1, upper=1)]).clamp([2])
        array([1.])
        """
        return limits.clamp(self, q)

    def random(self, *shape: int, seed: int | np.random.Generator | None = None) -> Array:
        """Random joint values (*shape, dof), uniform within limits.

        Rotations without limits lie between -pi and pi, translations without limits between -1 and 1 m.

        >>> from supple import models
        >>> models.ur5().random(100, seed=0).shape
        (100, 6)
        """
        if not (seed is None or isinstance(seed, np.random.Generator)):
            _check.whole(seed, "seed", 0)
        return limits.random(self, shape, np.random.default_rng(seed))

    # -- other linkages from this one ---------------------------------------------------------------------------

    def part(self, root: str, *tips: str) -> Linkage:
        """The sub-linkage from the link ``root`` to the given tips, or to all tips below it. Its root is at the origin.

        A mimic whose source is left out becomes an independent joint.

        >>> from supple import models
        >>> models.g1().part("torso_link", "left_rubber_hand").dof
        7
        """
        return edit.part(self, root, tips)

    def with_tool(
        self,
        link: str,
        frame: Frame,
        name: str = "tool",
        geometry: Iterable[Geometry] = (),
        *,
        mass: float = 0.0,
        center_of_mass: tuple[float, float, float] = (0.0, 0.0, 0.0),
    ) -> Linkage:
        """The same linkage with a rigid tool: a new link at a frame of an existing one.

        ``mass`` is the tool's in kilograms, ``center_of_mass`` (3,) in the tool's axes, in metres.

        >>> from supple import Frame, models
        >>> models.planar2().with_tool("tip", Frame.at([1, 0, 0])).frame([0, 0], "tool").position
        array([26.,  0.,  0.])
        """
        return edit.with_tool(self, link, frame, Link(name, geometry, mass, center_of_mass))  # type: ignore[arg-type]

    def attach(self, link: str, other: Linkage, *, at: Frame | None = None, prefix: str = "") -> Linkage:
        """The same linkage with another one mounted on a link; ``prefix`` is put before the other's names.

        >>> from supple import models
        >>> models.planar2().attach("tip", models.planar2(), prefix="second_").dof
        4
        """
        return edit.attach(self, link, other, at, prefix)

    def locked(self, values: Mapping[str, ArrayLike] | Iterable[str]) -> Linkage:
        """The same linkage with some joints fixed: at values by the joints' names, or at rest if only names are given.

        >>> from supple import models
        >>> models.planar2().locked({"joint1": 0.5}).names
        ('joint2',)
        """
        return edit.locked(self, values)

    def at(self, base: Frame) -> Linkage:
        """The same linkage with its root at another frame in the world.

        >>> from supple import Frame, models
        >>> models.planar2().at(Frame.at([0, 0, 1])).frame([0, 0], "tip").position
        array([25.,  0.,  1.])
        """
        return Linkage(self.name, self.joints, self.links, base)

    # -- plain data and text ------------------------------------------------------------------------------------

    def to_dict(self, *, geometry: bool = True, folder: str | os.PathLike[str] | None = None) -> dict[str, Any]:
        """The linkage as plain data: dicts, lists, strings and finite numbers, as `json.dumps` takes them.

        Every field is explicit, with a version, and `from_dict` gives back a linkage that is equal to the last bit.
        None means no limit. With ``geometry=False`` the links have no shapes. Only links with a mass have the fields of
        masses. ``folder`` is the folder of the file that the data is written to: paths of meshes are then relative to
        it, so that file and meshes can be moved together. Without it paths are as they were read.

        >>> from supple import models
        >>> data = models.planar2().to_dict()
        >>> data["format"], data["version"], [joint["name"] for joint in data["joints"]]
        ('supple.linkage', 1, ['joint1', 'joint2', 'tip_mount'])
        """
        return serialization.to_dict(self, _check.flag(geometry, "geometry"), folder)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], *, folder: str | os.PathLike[str] | None = None) -> Linkage:
        """The linkage that `to_dict` wrote. Raises `BadLinkage`, with the place in the data, for anything else.

        ``folder`` is the folder of the file that the data comes from, if a folder was given to `to_dict`.

        >>> from supple import Linkage, models
        >>> Linkage.from_dict(models.planar2().to_dict()) == models.planar2()
        True
        """
        return serialization.from_dict(cls, data, folder)

    def __str__(self) -> str:
        return text.tree(self)

    def _repr_html_(self) -> str:
        return text.html(self)
