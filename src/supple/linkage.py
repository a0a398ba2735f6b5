"""Linkage: a tree of links and joints, and its forward kinematics."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from enum import Enum
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from supple import _core, _renamed
from supple._linkage import condition as _condition
from supple._linkage import edit as _edit
from supple._linkage import limits as _limits
from supple._linkage import reach as _reach
from supple._linkage import serialization as _serialization
from supple._linkage import text as _text
from supple._linkage import tree as _tree
from supple.errors import BadInput, BadLinkage, unknown
from supple.frame import Array, Frame
from supple.joint import Joint
from supple.link import Geometry, Link


class Axes(Enum):
    """Whose axes a Jacobian is written in."""

    WORLD = "world"
    LINK = "link"


_WORLD, _LINK = Axes.WORLD, Axes.LINK  # looking a member up costs as much as the whole of a small Jacobian


@_renamed.answers_old_names
class Linkage:
    """A tree of links and joints: a robot or an animated figure. It says what *is*, knows no file, and never changes.

    ``q`` is one value for each degree of freedom, in the depth-first order of the joints (`names` tells which is
    which), and may carry leading axes: (..., dof). A ball joint's three values are a rotation vector; use `integrate`
    and `difference` to step between values.

    >>> from supple import Frame, Joint, Linkage
    >>> arm = Linkage("two", [
    ...     Joint.revolute("shoulder", "base", "upper", lower=-2, upper=2),
    ...     Joint.revolute("elbow", "upper", "fore", at=Frame.at([15, 0, 0])),
    ...     Joint.fixed("wrist", "fore", "hand", at=Frame.at([10, 0, 0])),
    ... ])
    >>> arm.frame([0, 0], "hand").position
    array([25.,  0.,  0.])
    """

    name: str
    """What it is called."""
    links: tuple[Link, ...]
    """All links, the root first, parents before children."""
    joints: tuple[Joint, ...]
    """All joints, in the order of the links they carry."""
    base: Frame
    """Where the root link is in the world."""

    def __init__(
        self, name: str, joints: Iterable[Joint] = (), links: Iterable[Link] = (), base: Frame | None = None
    ) -> None:
        """A linkage from its joints. Links need to be given only if they have geometry, or if there is no joint."""
        if not isinstance(name, str):
            raise BadLinkage(f"the name of a linkage must be a string, got {name!r}")
        ordered_links, ordered_joints = _tree.arrange(joints, links)
        base = Frame() if base is None else base
        if not isinstance(base, Frame) or base.shape != ():
            raise BadInput("base must be a single Frame")
        self.__dict__.update(name=name, links=ordered_links, joints=ordered_joints, base=base)
        self.__dict__.update(_sources=_tree.sources(ordered_joints), _compiled=None)

    # -- numbers ------------------------------------------------------------------------------------------------

    @cached_property
    def dof(self) -> int:
        """Degrees of freedom: how many values q has."""
        return sum(joint.dof for joint in self.joints)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Name of each value of q: the joint's, with ``.x``, ``.rx`` and so on for joints of several."""
        return tuple(name for joint in self.joints if joint.dof for name in _text.value_names(joint))

    @cached_property
    def units(self) -> tuple[str, ...]:
        """Unit of each value of q: ``rad`` or ``m``.

        >>> from supple import models
        >>> models.planar2().units
        ('rad', 'rad')
        """
        return tuple(unit for joint in self.joints if joint.dof for unit in joint.units)

    @cached_property
    def lower(self) -> Array:
        """Lowest value of each degree of freedom (dof,); -inf where there is none."""
        return self._gather("lower")

    @cached_property
    def upper(self) -> Array:
        """Highest value of each degree of freedom (dof,); inf where there is none."""
        return self._gather("upper")

    @cached_property
    def speed(self) -> Array:
        """Greatest speed of each degree of freedom (dof,), per second; inf where there is none."""
        return self._gather("speed")

    @cached_property
    def acceleration(self) -> Array:
        """Greatest acceleration of each degree of freedom (dof,), per second squared; inf where there is none."""
        return self._gather("acceleration")

    @cached_property
    def rest(self) -> Array:
        """Values of q when nothing else is asked (dof,)."""
        return self._gather("rest")

    @cached_property
    def tips(self) -> tuple[str, ...]:
        """Names of the links that carry no other."""
        parents = {joint.parent for joint in self.joints}
        return tuple(link.name for link in self.links if link.name not in parents)

    @property
    def root(self) -> str:
        """Name of the root link."""
        return self.links[0].name

    def joint(self, name: str) -> Joint:
        """The joint of that name."""
        if name not in self._joint_named:
            raise unknown("joint", name, self._joint_named)
        return self._joint_named[name]

    def link(self, name: str) -> Link:
        """The link of that name."""
        if name not in self._link_named:
            raise unknown("link", name, self._link_named)
        return self._link_named[name]

    def q(self, values: Mapping[str, ArrayLike] | None = None, /, **more: ArrayLike) -> Array:
        """Joint values (dof,) from names: ``arm.q(elbow=0.5)``, or a mapping; joints not named stay at rest."""
        q: Array = self.rest.copy()
        for name, value in {**(values or {}), **more}.items():
            joint = self.joint(name)
            if not joint.dof:
                why = f"it mimics {joint.mimic.joint!r}" if joint.mimic else "it is fixed"
                raise BadInput(f"joint {name!r} has no value of its own: {why}")
            try:
                row = np.broadcast_to(np.asarray(value, dtype=float), (joint.dof,))
            except (TypeError, ValueError):
                raise BadInput(f"joint {name!r} takes {joint.dof} value(s), got {value!r}") from None
            if not np.isfinite(row).all():
                raise BadInput(f"the value of joint {name!r} must be finite, got {value!r}")
            first = self._sources[name].first
            q[first : first + joint.dof] = row
        return q

    # -- forward kinematics -------------------------------------------------------------------------------------

    def frame(self, q: ArrayLike, link: str, *, out: Array | None = None) -> Frame:
        """Frame of one link in the world, for joint values q (..., dof): a Frame of the same leading axes.

        Many go through vector registers, very many through all cores. ``out``, a float64 array (..., 4, 4), is
        written instead of fresh memory.
        """
        try:
            tree = self._compiled or self._native
            frame: Frame = tree.frame(q, link) if out is None else tree.frame_into(q, link, out)
        except TypeError:
            raise self._misfit(q, link, out) from None
        return frame

    def frames(self, q: ArrayLike) -> Frames:
        """Frames of all links in the world, for joint values q (..., dof)."""
        try:
            return Frames(self, self._native.frames(q))
        except TypeError:
            raise self._misfit(q) from None

    def jacobian(
        self,
        q: ArrayLike,
        link: str,
        *,
        point: ArrayLike | None = None,
        axes: Axes = Axes.WORLD,
        out: Array | None = None,
    ) -> Array:
        """Jacobian (..., 6, dof) of a link: rows linear then angular velocity, a column for each value of q.

        Velocity of the link's origin, or of a ``point`` (..., 3) given in the link's axes. In the world's axes, or
        the link's own (``Axes.LINK``). A ball joint's columns are for turns about its child's axes, as in `integrate`.
        ``out``, a float64 array of the result's shape, is written instead of fresh memory.
        """
        try:
            if point is None and axes is _WORLD and out is None:
                return (self._compiled or self._native).jacobian(q, link)
            if axes is not _WORLD and axes is not _LINK:
                raise BadInput(f"axes must be Axes.WORLD or Axes.LINK, got {axes!r}")
            if point is not None:
                point = _numbers(point, "point must be numbers of shape (..., 3)")
                if point.ndim > 1 and point.shape[-1] == 3 and np.ndim(q):
                    lead = _lead(np.shape(q)[:-1], point.shape[:-1], "q and point")
                    q, point = np.broadcast_to(q, (*lead, np.shape(q)[-1])), np.broadcast_to(point, (*lead, 3))
            return self._native.jacobian_at(q, link, point, axes is _LINK, out)
        except TypeError:
            raise self._misfit(q, link) from None

    def frame_and_jacobian(
        self, q: ArrayLike, link: str, *, out: tuple[Array, Array] | None = None
    ) -> tuple[Frame, Array]:
        """Frame and Jacobian (..., 6, dof) of a link, together: quicker than one after the other.

        ``out``, float64 arrays (..., 4, 4) and (..., 6, dof), is written instead of fresh memory.
        """
        try:
            tree = self._compiled or self._native
            return tree.look(q, link) if out is None else tree.look_into(q, link, *out)
        except TypeError:
            raise self._misfit(q, link, out) from None

    def manipulability(self, q: ArrayLike, link: str, *, position: bool = True, orientation: bool = True) -> Array:
        """How freely a link can move (...): the volume its velocity spans for unit joint speed; 0 where it is singular.

        The product of the singular values of the Jacobian's linear (``position``) and angular (``orientation``) rows,
        as many of them as rows and joints can have together, so that an arm of five joints is not always singular.
        """
        if not (position or orientation):
            raise BadInput("manipulability needs position, orientation or both")
        try:
            return self._native.manipulability(q, link, position, orientation)
        except TypeError:
            raise self._misfit(q, link) from None

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
        """How unevenly a link can move (...): the condition number of J J' + alpha I [D10], boundless where singular.

        (s_1^2 + alpha) / (s_m^2 + alpha), with the largest and the smallest singular value of the same rows as in
        `manipulability`. ``weight`` multiplies the linear rows: pi / reach makes metres and radians alike [D30].
        """
        return _condition.condition(self, q, link, alpha, weight, position, orientation)

    def transform_points(self, q: ArrayLike, points: ArrayLike, link: str, to: str | None = None) -> Array:
        """Points (..., 3) given in a link's frame, as seen from the world or from the link ``to``."""
        frame = self.frame(q, link)
        if to is not None:
            frame = self.frame(q, to).inverse() @ frame
        return frame.apply(points)

    def world_geometry(self, q: ArrayLike) -> Iterator[tuple[str, Geometry, Frame]]:
        """Every piece of geometry with the name of its link and its frame in the world: what there is to draw."""
        frames = self.frames(q)
        for link in self.links:
            for geometry in link.geometry:
                yield link.name, geometry, frames[link.name] @ geometry.frame

    def reach(self, link: str) -> float:
        """How far a link can get from the first axis that moves it, in metres, if every turn were free.

        Measured from the point of that axis nearest to the next one. Slides count up to their limits; inf where a
        joint without limits can carry the link away.
        """
        return _reach.reach(self, link)

    # -- steps and limits ---------------------------------------------------------------------------------------

    def integrate(self, q: ArrayLike, step: ArrayLike) -> Array:
        """Joint values after a step (..., dof): their sum, but ball joints turn on, about their own axes."""
        return self._native.integrate(*self._together(q, step))

    def difference(self, start: ArrayLike, end: ArrayLike) -> Array:
        """The step (..., dof) that `integrate` needs from one q to another; for ball joints the shortest turn."""
        return self._native.difference(*self._together(start, end))

    def inside(self, q: ArrayLike, tolerance: float = 1e-12) -> Any:
        """Whether q (..., dof) is within all position limits: bool, or an array of the leading axes.

        A mimic's own limits do not count.
        """
        return _limits.inside(self, q, tolerance)

    def clamp(self, q: ArrayLike) -> Array:
        """The nearest q (..., dof) within all position limits, joint by joint."""
        return _limits.clamp(self, q)

    def random(self, *shape: int, seed: int | np.random.Generator | None = None) -> Array:
        """Random joint values (*shape, dof), uniform within limits.

        Turns without limits lie between -pi and pi, slides without limits between -1 and 1 m.
        """
        return _limits.random(self, shape, np.random.default_rng(seed))

    # -- making others from it ----------------------------------------------------------------------------------

    def part(self, root: str, *tips: str) -> Linkage:
        """The sub-linkage from one link to the tips given, or to all there are below it.

        Its root frame is the world. A mimic whose source is left out becomes a joint of its own.
        """
        return _edit.part(self, root, tips)

    def with_tool(self, link: str, frame: Frame, name: str = "tool", geometry: Iterable[Geometry] = ()) -> Linkage:
        """The same linkage with a rigid tool: a new link, at a frame on an existing one."""
        return _edit.with_tool(self, link, frame, name, geometry)

    def attach(self, link: str, other: Linkage, *, at: Frame | None = None, prefix: str = "") -> Linkage:
        """The same linkage with another one carried by a link; ``prefix`` is put before the other's names."""
        return _edit.attach(self, link, other, at, prefix)

    def locked(self, values: Mapping[str, ArrayLike] | Iterable[str]) -> Linkage:
        """The same linkage with some joints fixed: at values given by name, or, of names alone, at rest."""
        return _edit.locked(self, values)

    def at(self, base: Frame) -> Linkage:
        """The same linkage, with its root at another frame in the world."""
        return Linkage(self.name, self.joints, self.links, base)

    # -- plain data ---------------------------------------------------------------------------------------------

    def to_dict(self, *, geometry: bool = True) -> dict[str, Any]:
        """The linkage as plain data: dicts, lists, strings and finite numbers, which `json.dumps` takes as they are.

        Every field is explicit, with a version, and `from_dict` gives back an equal linkage, equal to the last bit.
        Null stands for a limit that is not there. Without ``geometry`` the links have no shapes.

        >>> from supple import models
        >>> data = models.planar2().to_dict()
        >>> data["format"], data["version"], [joint["name"] for joint in data["joints"]]
        ('supple.linkage', 1, ['joint1', 'joint2', 'tip_mount'])
        """
        return _serialization.to_dict(self, geometry)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Linkage:
        """The linkage that `to_dict` wrote. Raises `BadLinkage`, with the place in the data, for anything else.

        >>> from supple import models
        >>> Linkage.from_dict(models.planar2().to_dict()) == models.planar2()
        True
        """
        return _serialization.from_dict(cls, data)

    # -- being a value ------------------------------------------------------------------------------------------

    _sources: dict[str, _tree.Source]
    _compiled: (
        _core.Tree | None
    )  # made when first asked for; a plain attribute, since a cached property is slow to look up

    @property
    def _native(self) -> _core.Tree:
        if self._compiled is None:
            self.__dict__["_compiled"] = _tree.flatten(self.links, self.joints, self.base, self._sources, self.dof)
        assert self._compiled is not None
        return self._compiled

    @cached_property
    def _joint_named(self) -> dict[str, Joint]:
        return {joint.name: joint for joint in self.joints}

    @cached_property
    def _link_named(self) -> dict[str, Link]:
        return {link.name: link for link in self.links}

    def _misfit(self, q: object, link: object = "", out: object = None) -> Exception:
        """Why the native core took none of these arguments."""
        if q is None:
            return BadInput(f"q must be numbers of shape (..., {self.dof}), not None")
        if link != "" and link not in self._link_named:
            return unknown("link", link, self._link_named)
        return BadInput(f"q must be numbers and out an array, got {type(q).__name__} and {type(out).__name__}")

    def _together(self, a: ArrayLike, b: ArrayLike) -> tuple[ArrayLike, ArrayLike]:
        """Two arrays of joint values, brought to the same leading axes."""
        x, y = (_numbers(row, f"joint values must be numbers of shape (..., {self.dof})") for row in (a, b))
        for row in (x, y):
            if row.shape[-1:] != (self.dof,):
                raise BadInput(f"joint values must have shape (..., {self.dof}), not {row.shape}")
        if x.shape == y.shape:
            return x, y
        lead = _lead(x.shape[:-1], y.shape[:-1], "joint values")
        return np.broadcast_to(x, (*lead, self.dof)), np.broadcast_to(y, (*lead, self.dof))

    def _gather(self, field: str) -> Array:
        row = np.array([value for joint in self.joints if joint.dof for value in getattr(joint, field)], dtype=float)
        row.flags.writeable = False
        return row

    def _value(self) -> tuple[object, ...]:
        return self.name, self.joints, self.links, self.base

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError("a Linkage does not change; make another")

    def __delattr__(self, name: str) -> None:
        raise AttributeError("a Linkage does not change; make another")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Linkage) and self._value() == other._value()

    def __hash__(self) -> int:
        return hash((self.name, self.joints))

    def __copy__(self) -> Linkage:
        return self

    def __deepcopy__(self, memo: object) -> Linkage:
        return self

    def __reduce__(self) -> tuple[object, ...]:
        return Linkage, (self.name, self.joints, self.links, self.base)

    def __repr__(self) -> str:
        return f"<Linkage {self.name!r}: {self.dof} degrees of freedom, {len(self.links)} links>"

    def __str__(self) -> str:
        return _text.tree(self)


def _lead(a: tuple[int, ...], b: tuple[int, ...], what: str) -> tuple[int, ...]:
    try:
        return np.broadcast_shapes(a, b)
    except ValueError:
        raise BadInput(f"{what} have leading axes {a} and {b}, which do not fit together") from None


def _numbers(value: ArrayLike, wanted: str) -> Array:
    try:
        array = np.asarray(value)
    except ValueError:  # ragged
        raise BadInput(f"{wanted}, not {value!r}") from None
    if array.dtype.kind not in "biuf":
        raise BadInput(f"{wanted}, not {value!r}")
    return np.asarray(array, dtype=float)


class Frames(Mapping[str, Frame]):
    """The frame of every link by name, for one q or many; ``matrix`` is all of them at once."""

    __slots__ = ("_index", "matrix")
    matrix: Array
    """(..., links, 4, 4), in the order of the linkage's links."""

    def __init__(self, linkage: Linkage, matrix: Array) -> None:
        self._index = {link.name: i for i, link in enumerate(linkage.links)}
        self.matrix = matrix

    def __getitem__(self, link: str) -> Frame:
        if link not in self._index:
            raise unknown("link", link, self._index)
        return Frame._trusted(self.matrix[..., self._index[link], :, :])

    def __iter__(self) -> Iterator[str]:
        return iter(self._index)

    def __len__(self) -> int:
        return len(self._index)

    def __repr__(self) -> str:
        return f"<Frames of {len(self)} links, shape {self.matrix.shape[:-3]}>"
