"""The structure of a linkage: its links, joints, limits and names, and what makes it an immutable value."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from supple import _check, _core
from supple._linkage import text, tree
from supple._linkage.joint_checks import farthest
from supple.errors import BadInput, BadLinkage, unknown
from supple.frame import Array, Frame
from supple.joint import Joint
from supple.link import Link


class Structure:
    """The part of `Linkage` that needs no kinematics."""

    name: str
    """Name of the linkage."""
    links: tuple[Link, ...]
    """All links, the root first, parents before children."""
    joints: tuple[Joint, ...]
    """All joints, in the order of their child links."""
    base: Frame
    """Frame of the root link in the world."""
    _sources: dict[str, tree.Source]
    _compiled: _core.Tree | None  # made when first needed; a plain attribute, since a cached property is slower to read

    def __init__(
        self, name: str, joints: Iterable[Joint] = (), links: Iterable[Link] = (), base: Frame | None = None
    ) -> None:
        """A linkage from its joints. Links need to be given only if they have geometry or
        a mass, or if there is no joint."""
        if not isinstance(name, str):
            raise BadLinkage(f"the name of a linkage must be a string, got {_check.short(name)}")
        for what, given in (("joints", joints), ("links", links)):
            if not isinstance(given, Iterable):
                raise BadLinkage(f"{what} must be several, got {_check.short(given)}")
        ordered_links, ordered_joints = tree.arrange(joints, links)
        base = Frame() if base is None else base
        if not isinstance(base, Frame) or base.shape != ():
            raise BadInput("base must be a single Frame")
        if not (far := farthest(base)) <= _check.LARGEST:
            raise BadLinkage(f"base must be within {_check.LARGEST:g} m, got {far:g}")
        self.__dict__.update(name=name, links=ordered_links, joints=ordered_joints, base=base._kept())
        self.__dict__.update(_sources=tree.sources(ordered_joints), _compiled=None)

    # -- values of q --------------------------------------------------------------------------------------------

    @cached_property
    def dof(self) -> int:
        """Degrees of freedom: the number of values of q.

        >>> from supple import models
        >>> models.ur5().dof
        6
        """
        return sum(joint.dof for joint in self.joints)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Name of each value of q: that of its joint, with ``.x``, ``.rx`` and so on for joints of several values.

        >>> from supple import models
        >>> models.planar2().names
        ('joint1', 'joint2')
        """
        return tuple(name for joint in self.joints if joint.dof for name in text.value_names(joint))

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
        """Lowest value of each degree of freedom (dof,), in radians or metres; -inf where there is no limit.

        >>> from supple import models
        >>> models.planar2().lower
        array([-inf, -inf])
        """
        return self._gather("lower")

    @cached_property
    def upper(self) -> Array:
        """Highest value of each degree of freedom (dof,), in radians or metres; inf where there is no limit.

        >>> from supple import models
        >>> models.planar2().upper
        array([inf, inf])
        """
        return self._gather("upper")

    @cached_property
    def speed(self) -> Array:
        """Greatest speed of each degree of freedom (dof,), per second; inf where there is no limit.

        >>> from supple import models
        >>> models.ur5().speed[:3]
        array([3.15, 3.15, 3.15])
        """
        return self._gather("speed")

    @cached_property
    def acceleration(self) -> Array:
        """Greatest acceleration of each degree of freedom (dof,), per second squared; inf where there is no limit.

        >>> from supple import models
        >>> models.planar2().acceleration
        array([inf, inf])
        """
        return self._gather("acceleration")

    @cached_property
    def rest(self) -> Array:
        """The rest pose: default values of q (dof,), in radians or metres.

        >>> from supple import models
        >>> models.planar2().rest.round(3)
        array([0.393, 0.785])
        """
        return self._gather("rest")

    def q(self, values: Mapping[str, ArrayLike] | None = None, /, **more: ArrayLike) -> Array:
        """Joint values (dof,) from the names of joints, or a mapping; joints that are not named stay at rest.

        A joint with several values takes as many, or 0 for all of them.

        >>> from supple import models
        >>> models.planar2().q(joint1=0.5, joint2=0)
        array([0.5, 0. ])
        """
        if values is not None and not isinstance(values, Mapping):
            raise BadInput(
                f"q takes joint values by name, such as q({self.names[0] if self.names else 'joint'}=0.5); "
                f"an array (..., dof) is used as it is, got {_check.short(values)}"
            )
        q: Array = self.rest.copy()
        for name, value in {**(values or {}), **more}.items():
            joint = self.joint(name)
            if not joint.dof:
                why = f"it mimics {joint.mimic.joint!r}" if joint.mimic else "it is fixed"
                raise BadInput(f"joint {name!r} has no value of its own: {why}")
            given = _check.numbers_or_none(value)
            alone = given is not None and given.shape == () and (joint.dof == 1 or given == 0)
            if given is None or not (alone or given.shape == (joint.dof,)):
                wanted = "one value" if joint.dof == 1 else f"{joint.dof} values"
                raise BadInput(f"joint {name!r} takes {wanted}, got {_check.short(value)}")
            row = np.broadcast_to(given, (joint.dof,))
            if not np.isfinite(row).all():
                raise BadInput(f"the value of joint {name!r} must be finite, got {_check.short(value)}")
            first = self._sources[name].first
            q[first : first + joint.dof] = row
        return q

    # -- links and joints ---------------------------------------------------------------------------------------

    @cached_property
    def tips(self) -> tuple[str, ...]:
        """Names of the links that have no child.

        >>> from supple import models
        >>> models.planar2().tips
        ('tip',)
        """
        parents = {joint.parent for joint in self.joints}
        return tuple(link.name for link in self.links if link.name not in parents)

    @cached_property
    def mass(self) -> float:
        """Mass of all links together, the root included, in kilograms; 0 where no link has one.

        >>> from supple import models
        >>> round(models.g1().mass, 3)
        33.341
        """
        return math.fsum(link.mass for link in self.links)

    @property
    def root(self) -> str:
        """Name of the root link.

        >>> from supple import models
        >>> models.planar2().root
        'base'
        """
        return self.links[0].name

    def joint(self, name: str) -> Joint:
        """The joint of that name.

        >>> from supple import models
        >>> models.planar2().joint("joint2").parent
        'link1'
        """
        if not isinstance(name, str) or name not in self._joint_named:
            raise unknown("joint", name, self._joint_named)
        return self._joint_named[name]

    def link(self, name: str) -> Link:
        """The link of that name.

        >>> from supple import models
        >>> models.planar2().link("tip")
        Link(name='tip', geometry=(), mass=0.0, center_of_mass=(0.0, 0.0, 0.0))
        """
        if not isinstance(name, str) or name not in self._link_named:
            raise unknown("link", name, self._link_named)
        return self._link_named[name]

    # -- for the other modules of supple ------------------------------------------------------------------------

    @property
    def _native(self) -> _core.Tree:
        if self._compiled is None:
            self.__dict__["_compiled"] = tree.flatten(self.links, self.joints, self.base, self._sources, self.dof)
        assert self._compiled is not None
        return self._compiled

    @cached_property
    def _joint_named(self) -> dict[str, Joint]:
        return {joint.name: joint for joint in self.joints}

    @cached_property
    def _link_named(self) -> dict[str, Link]:
        return {link.name: link for link in self.links}

    def _gather(self, field: str) -> Array:
        row = np.array([value for joint in self.joints if joint.dof for value in getattr(joint, field)], dtype=float)
        row.flags.writeable = False
        return row

    def _refused(self, method: str, q: object, link: object, out: object = None) -> Exception:
        """The error for arguments that the native core did not accept."""
        if isinstance(q, str):
            right = f"arm.{method}(q, {q!r})" if q in self._link_named else f"arm.{method}(q, link)"
            return BadInput(f"q comes before the name of the link: write {right}")
        if q is None:
            return BadInput(f"q must be numbers of shape (..., {self.dof}), not None")
        if isinstance(link, np.ndarray):
            return BadInput(f"link must be the name of a link, got an array of shape {link.shape}")
        if not isinstance(link, str) or link not in self._link_named:
            return unknown("link", link, self._link_named)
        return BadInput(f"q must be numbers and out an array, got {type(q).__name__} and {type(out).__name__}")

    def _same_leading_axes(self, a: ArrayLike, b: ArrayLike) -> tuple[ArrayLike, ArrayLike]:
        """Two arrays of joint values, broadcast to the same leading axes."""
        x, y = (_check.numbers(row, "joint values", self.dof) for row in (a, b))
        for row in (x, y):
            if row.shape[-1:] != (self.dof,):
                raise BadInput(f"joint values must have shape (..., {self.dof}), not {row.shape}")
        if x.shape == y.shape:
            return x, y
        lead = _check.leading_axes(x.shape[:-1], y.shape[:-1], what="joint values")
        return np.broadcast_to(x, (*lead, self.dof)), np.broadcast_to(y, (*lead, self.dof))

    # -- an immutable value -------------------------------------------------------------------------------------

    def _value(self) -> tuple[object, ...]:
        return self.name, self.joints, self.links, self.base

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError("a Linkage does not change; make another")

    def __delattr__(self, name: str) -> None:
        raise AttributeError("a Linkage does not change; make another")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Structure) and self._value() == other._value()

    def __hash__(self) -> int:
        return hash((self.name, self.joints))

    def __copy__(self) -> Structure:
        return self

    def __deepcopy__(self, memo: object) -> Structure:
        return self

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.name, self.joints, self.links, self.base)

    def __repr__(self) -> str:
        return f"<Linkage {self.name!r}: {self.dof} degrees of freedom, {len(self.links)} links>"
