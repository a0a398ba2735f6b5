"""Motion: joint values in time."""

from __future__ import annotations

import math
import os
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from supple import _check
from supple._linkage import limits
from supple._linkage.argument import checked_linkage
from supple._motion.continued import continued
from supple._motion.interpolation import Interpolation, Pieces, velocities
from supple.errors import BadInput
from supple.frame import Array, Frame
from supple.linkage import Frames, Linkage
from supple.read import motion_file as reader
from supple.write import motion_file as writer

MAX_SAMPLES = 100_000_000  # in one motion; more is taken for a mistake

_STILL = 1e-9  # rad/s or m/s: slower values only differ by rounding
_SHOWN = 1e-4  # rad or m, and share of a speed: smaller excesses, as of a ball joint between two keys, are not printed


class Motion:
    """Joint values in time: keys, and the interpolation between them. Immutable.

    Times are in seconds, strictly increasing. Between two keys each value follows a straight line, or with
    `Interpolation.SMOOTH` a cubic that stays in the range of the two. A ball joint, and the rotation of a floating
    joint, takes the shortest way (slerp); with SMOOTH it follows a cubic rotation vector in the frame halfway between
    its keys. A continuous joint does not wrap: keys 0 and 7 rad are more than a full turn apart.

    >>> from supple import Interpolation, Motion, models
    >>> nod = Motion(models.planar2(), [0, 1, 2], [[0, 0], [0.5, 1], [0, 0]], Interpolation.SMOOTH)
    >>> nod.at(0.5)
    array([0.25, 0.5 ])
    """

    linkage: Linkage
    """The linkage that moves."""
    times: Array
    """Times of the keys (n,), in seconds."""
    q: Array
    """Joint values of the keys (n, dof), in radians or metres."""
    leaving: Array
    """Velocity just after each key but the last (n - 1, dof), per second; of a ball joint about its child's axes."""
    arriving: Array
    """Velocity just before each key but the first (n - 1, dof), per second."""

    def __init__(
        self, linkage: Linkage, times: ArrayLike, q: ArrayLike, interpolation: Interpolation = Interpolation.LINEAR
    ) -> None:
        """A motion through keys.

        Args:
            linkage: the linkage that moves.
            times: times of the keys (n,), in seconds, strictly increasing; one or more.
            q: joint values of the keys (n, dof), in radians or metres.
            interpolation: how values go from key to key.
        """
        checked_linkage(linkage)
        if not isinstance(interpolation, Interpolation):
            raise BadInput(
                f"interpolation must be Interpolation.LINEAR or Interpolation.SMOOTH, got {_check.short(interpolation)}"
            )
        keys = limits.checked(linkage, q)
        if keys.ndim != 2 or not len(keys):
            raise BadInput(f"q must have shape (n, {linkage.dof}) with one key or more, not {keys.shape}")
        when = _moments(times, "times")
        if when.shape != keys.shape[:1]:
            raise BadInput(f"{len(keys)} keys need times of shape ({len(keys)},), not {when.shape}")
        self._become(linkage, when, keys, *velocities(linkage, when, keys, interpolation))

    def _become(self, linkage: Linkage, times: Array, q: Array, leaving: Array, arriving: Array) -> Motion:
        late = np.flatnonzero(times[1:] <= times[:-1])
        if len(late):
            i = int(late[0])
            raise BadInput(f"times must increase: {float(times[i])!r} s is followed by {float(times[i + 1])!r} s")
        if math.isinf(float(times[-1]) - float(times[0])):
            raise BadInput(f"a motion from {times[0]:g} to {times[-1]:g} s is too long")
        if not (np.isfinite(leaving).all() and np.isfinite(arriving).all()):
            raise BadInput("two keys are too far apart for the time between them")
        for name, array in (("times", times), ("q", q), ("leaving", leaving), ("arriving", arriving)):
            self.__dict__[name] = array = np.array(array, dtype=float)
            array.flags.writeable = False
        self.__dict__["linkage"] = linkage
        return self

    @classmethod
    def _of(cls, *parts: Any) -> Motion:
        return object.__new__(cls)._become(*parts)

    # -- values in time -----------------------------------------------------------------------------------------

    @property
    def start(self) -> float:
        """Time of the first key, in seconds.

        >>> from supple import Motion, models
        >>> nod = Motion(models.planar2(), [0, 2], [[0, 0], [1, 0.5]])
        >>> nod.start
        0.0
        """
        return float(self.times[0])

    @property
    def end(self) -> float:
        """Time of the last key, in seconds.

        >>> from supple import Motion, models
        >>> nod = Motion(models.planar2(), [0, 2], [[0, 0], [1, 0.5]])
        >>> nod.end
        2.0
        """
        return float(self.times[-1])

    @property
    def duration(self) -> float:
        """Time from the first key to the last, in seconds.

        >>> from supple import Motion, models
        >>> nod = Motion(models.planar2(), [0, 2], [[0, 0], [1, 0.5]])
        >>> nod.duration
        2.0
        """
        return self.end - self.start

    def __len__(self) -> int:
        """Number of keys."""
        return len(self.times)

    def at(self, t: ArrayLike) -> Array:
        """Joint values (..., dof) at times (...) in seconds; before the first key those of the first, after the last
        those of the last.

        At a key they are exactly the key's values. Rotation vectors of ball joints between keys are at most pi long.

        >>> from supple import Motion, models
        >>> nod = Motion(models.planar2(), [0, 2], [[0, 0], [1, 0.5]])
        >>> nod.at([0, 1, 5])
        array([[0.  , 0.  ],
               [0.5 , 0.25],
               [1.  , 0.5 ]])
        """
        when = _moments(t, "t")
        if len(self) == 1:
            return np.tile(self.q[0], (*when.shape, 1)).reshape(*when.shape, self.linkage.dof)
        return self._pieces.at(*self._place(when))

    def velocity(self, t: ArrayLike) -> Array:
        """Velocity (..., dof) at times (...) in seconds: the exact derivative, per second; 0 outside the motion.

        At a corner of a linear motion it is the velocity after the corner. That of a ball joint is the angular
        velocity about its child's axes, as in `Linkage.integrate`.

        >>> from supple import Motion, models
        >>> nod = Motion(models.planar2(), [0, 2], [[0, 0], [1, 0.5]])
        >>> nod.velocity(1)
        array([0.5 , 0.25])
        """
        when = _moments(t, "t")
        if len(self) == 1:
            return np.zeros((*when.shape, self.linkage.dof))
        moving = (when >= self.start) & (when <= self.end)
        return np.where(moving[..., None], self._pieces.velocity(*self._place(when)), 0.0)

    def frame(self, t: ArrayLike, link: str) -> Frame:
        """Frame of one link in the world at times (...) in seconds: a Frame with the same leading axes.

        >>> from supple import Motion, models
        >>> nod = Motion(models.planar2(), [0, 2], [[0, 0], [1, 0.5]])
        >>> nod.frame([0, 1], "tip").shape
        (2,)
        """
        return self.linkage.frame(self.at(t), link)

    def frames(self, t: ArrayLike) -> Frames:
        """Frames of all links in the world at times (...) in seconds.

        >>> from supple import Motion, models
        >>> nod = Motion(models.planar2(), [0, 2], [[0, 0], [1, 0.5]])
        >>> nod.frames(0)["tip"]
        Frame at (25, 0, 0)
        """
        return self.linkage.frames(self.at(t))

    @cached_property
    def speed(self) -> Array:
        """Greatest speed of each value of q (dof,), per second; of a smooth ball joint within about 1 %.

        Compare it with the speed limits: ``motion.speed <= motion.linkage.speed``.

        >>> from supple import Motion, models
        >>> Motion(models.planar2(), [0, 2], [[0, 0], [1, 0.5]]).speed
        array([0.5 , 0.25])
        """
        speed = self._pieces.speed() if len(self) > 1 else np.zeros(self.linkage.dof)
        speed.flags.writeable = False
        return speed

    def within_limits(self, tolerance: float = 1e-9) -> bool:
        """Whether it stays within the position limits, up to a tolerance in radians or metres.

        >>> from supple import Motion, models
        >>> nod = Motion(models.planar2(), [0, 2], [[0, 0], [1, 0.5]])
        >>> nod.within_limits()
        True
        """
        inside = bool(np.all(self.linkage.inside(self.q, tolerance)))
        return inside and (len(self) == 1 or self._pieces.inside(_check.real(tolerance)))

    def within_speeds(self, tolerance: float = 1e-9, *, speed_scale: float = 1.0) -> bool:
        """Whether it stays within the speed limits times ``speed_scale``; ``tolerance`` is a fraction of the limit.

        >>> from supple import Motion, models
        >>> nod = Motion(models.planar2(), [0, 2], [[0, 0], [1, 0.5]])
        >>> nod.within_speeds()
        True
        """
        scale, tolerance = (
            _check.fraction(speed_scale, "speed_scale"),
            _check.positive(tolerance, "tolerance", zero=True),
        )
        return bool(np.all(self.speed <= scale * self.linkage.speed * (1 + tolerance)))

    # -- other motions from this one ----------------------------------------------------------------------------

    def sampled(self, rate: float) -> Motion:
        """The same motion in linear pieces, with a key every 1 / rate seconds from its start, and one at its end.

        >>> from supple import Motion, models
        >>> nod = Motion(models.planar2(), [0, 2], [[0, 0], [1, 0.5]])
        >>> nod.sampled(rate=4).times[:3]
        array([0.  , 0.25, 0.5 ])
        """
        times = self._times_at(rate)
        near = self.end - times[-1] <= 1e-9 / rate
        times = np.append(times[:-1] if near else times, self.end)
        return Motion(self.linkage, times, self.at(times))

    def part(self, start: float | None = None, end: float | None = None) -> Motion:
        """The motion from one time to another, in seconds; times stay as they are.

        Exact, except for a smooth ball joint between a cut and the next key: there only the values and velocities at
        both ends are the same.

        >>> from supple import Motion, models
        >>> nod = Motion(models.planar2(), [0, 2], [[0, 0], [1, 0.5]])
        >>> nod.part(0.5, 1).duration
        0.5
        """
        first = self.start if start is None else _moment(start, "start")
        last = self.end if end is None else _moment(end, "end")
        if not self.start <= first < last <= self.end:
            raise BadInput(
                f"a part must begin before it ends, within {self.start:g} and {self.end:g} s; "
                f"got {first:g} to {last:g} s"
            )
        a, b = int(np.searchsorted(self.times, first, "right")), int(np.searchsorted(self.times, last, "left"))
        times = np.concatenate([[first], self.times[a:b], [last]])
        leaving, arriving = self.leaving[a - 1 : b].copy(), self.arriving[a - 1 : b].copy()
        if first > self.times[a - 1]:
            leaving[0] = self.velocity(first)
        if last < self.times[b]:
            arriving[-1] = self.velocity(last)
        return Motion._of(self.linkage, times, self.at(times), leaving, arriving)

    def reversed(self) -> Motion:
        """The same motion backwards, between the same times.

        >>> from supple import Motion, models
        >>> nod = Motion(models.planar2(), [0, 2], [[0, 0], [1, 0.5]])
        >>> nod.reversed().at(0)
        array([1. , 0.5])
        """
        times = self.start + (self.end - self.times[::-1])
        return Motion._of(self.linkage, times, self.q[::-1], -self.arriving[::-1], -self.leaving[::-1])

    def retimed(self, duration: float, start: float | None = None) -> Motion:
        """The same joint values in another duration, faster or slower throughout, from another start; in seconds.

        >>> from supple import Motion, models
        >>> nod = Motion(models.planar2(), [0, 2], [[0, 0], [1, 0.5]])
        >>> nod.retimed(4, start=1).end
        5.0
        """
        if len(self) == 1:
            raise BadInput("retimed() needs a motion of at least two keys, got one")
        ratio = _check.positive(duration, "duration") / self.duration
        begin = self.start if start is None else _moment(start, "start")
        times = begin + (self.times - self.start) * ratio
        return Motion._of(self.linkage, times, self.q, self.leaving / ratio, self.arriving / ratio)

    def __add__(self, other: Motion) -> Motion:
        """One motion followed by another that begins where the first ends; times of the second are shifted."""
        if not isinstance(other, Motion):
            return NotImplemented
        if other.linkage != self.linkage:
            raise BadInput(
                f"motions of {self.linkage.name!r} and of another linkage, {other.linkage.name!r}, do not join"
            )
        gap = np.abs(self.linkage.difference(self.q[-1], other.q[0]))
        if gap.max(initial=0) > 1e-9:
            name = self.linkage.names[int(gap.argmax())]
            raise BadInput(f"the second motion does not begin where the first ends: {name} is {gap.max():.3g} off")
        times = np.concatenate([self.times, self.end + (other.times[1:] - other.start)])
        q = np.concatenate([self.q, other.q[1:]])
        leaving, arriving = (np.concatenate([getattr(self, n), getattr(other, n)]) for n in ("leaving", "arriving"))
        return Motion._of(self.linkage, times, q, leaving, arriving)

    # -- files --------------------------------------------------------------------------------------------------

    def save(
        self,
        path: str | os.PathLike[str],
        *,
        up: str | None = None,
        unit: float | str | None = None,
        rate: float | None = None,
    ) -> None:
        """Write the motion to a file.

        A .npz holds all of it, a .csv one line for each key, with the time first. A .bvh, .gltf or .glb holds the
        linkage too, and its keys. ``motion.save("swing.npz")``, and later ``Motion.load("swing.npz", arm)``;
        ``motion.save("swing.glb")`` opens in any viewer.

        Args:
            path: the file.
            up: the axis of a .bvh, .gltf or .glb that the world's z becomes, as in `load`; .bvh: by default axes
                stay as they are; .gltf, .glb: "y".
            unit: length of the unit of that file in metres, or its name; by default numbers stay as they are.
            rate: instead of the keys, write values at this many times a second from the start. A .bvh whose keys are
                not at equal times needs it.
        """
        kept = self
        if rate is not None:
            times = self._times_at(rate)
            kept = Motion(self.linkage, times, self.at(times))
        if writer.is_figure(path):
            writer.write_figure(path, self.linkage, kept.times, kept.q, up, unit)
            return
        if up is not None or unit is not None:
            raise BadInput(f"up and unit are for {', '.join(writer.FIGURES)} files, not for {path}")
        writer.write(path, self.linkage.names, kept.__dict__)

    @classmethod
    @_check.known_options()
    def load(
        cls,
        path: str | os.PathLike[str],
        linkage: Linkage | None = None,
        interpolation: Interpolation | None = None,
        *,
        up: str | None = None,
        unit: float | str | None = None,
        animation: int | str = 0,
    ) -> Motion:
        """The motion in a .npz or .csv file, for a linkage; or in a .bvh, .gltf or .glb file, which has its own.

        ``clip = Motion.load("walk.bvh", up="y", unit="cm")`` reads an animation; ``clip.linkage`` is its figure.

        Args:
            path: the file.
            linkage: the linkage that moves; for an animation file not needed, and otherwise of the same names.
            interpolation: instead of that of the file; by default a .npz is as it was saved, all others are linear.
            up: the axis of an animation file that points up, as in `supple.load`.
            unit: length of its unit in metres, or its name, as in `supple.load`.
            animation: number or name of the animation of a .gltf or .glb file that has several.

        Rotations in an animation file go on beyond a half turn, without steps of a whole one.

        Raises `BadInput`, with file and line, unless the names are those of the linkage, all numbers are finite and
        the times increase; `BadLinkage` if an animation file does not describe a linkage.
        """
        if linkage is not None:
            checked_linkage(linkage)
        if not isinstance(animation, str):
            animation = _check.whole(animation, "animation")
        if reader.is_figure(path):
            figure, times, q = reader.read_figure(path, up, unit, animation)
            if linkage is not None and linkage.names != figure.names:
                raise BadInput(f"{path}: its joint values are not those of {linkage.name!r}")
            q = continued(figure, q)
            return cls(linkage or figure, times, q, Interpolation.LINEAR if interpolation is None else interpolation)
        if up is not None or unit is not None or animation != 0:
            raise BadInput(f"up, unit and animation are for {', '.join(reader.FIGURES)} files, not for {path}")
        if linkage is None:
            raise BadInput(f"{path} does not hold its linkage: write Motion.load(path, linkage)")
        times, q, *velocities = reader.read(path, linkage.names)
        if interpolation is None and velocities:
            return cls._of(linkage, times, q, *velocities)
        return cls(linkage, times, q, Interpolation.LINEAR if interpolation is None else interpolation)

    # -- private ------------------------------------------------------------------------------------------------

    def _times_at(self, rate: float) -> Array:
        """Times 1 / rate apart, from the start as far as they go."""
        count = self.duration * _check.positive(rate, "rate")
        if count > MAX_SAMPLES:
            raise BadInput(f"a rate of {rate:g} a second makes {count:.3g} samples; at most {MAX_SAMPLES:,} are made")
        times: Array = self.start + np.arange(math.floor(count + 1e-9) + 1) / rate
        return times

    @cached_property
    def _pieces(self) -> Pieces:
        return Pieces(self.linkage, self.times, self.q, self.leaving, self.arriving)

    def _place(self, when: Array) -> tuple[Any, Array]:
        """The piece that each time is in (...), and the fraction of it that has passed (..., 1)."""
        i = np.clip(np.searchsorted(self.times, when, side="right") - 1, 0, len(self) - 2)
        early, late = self.times[i], self.times[i + 1]
        return i, np.clip((when - early) / (late - early), 0, 1)[..., None]

    # -- an immutable value -------------------------------------------------------------------------------------

    def _value(self) -> tuple[Any, ...]:
        return self.linkage, self.times, self.q, self.leaving, self.arriving

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError("a Motion does not change; make another")

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Motion):
            return NotImplemented
        return self.linkage == other.linkage and all(map(np.array_equal, self._value()[1:], other._value()[1:]))

    def __hash__(self) -> int:
        return hash((self.linkage, *((array + 0.0).tobytes() for array in self._value()[1:])))

    def __copy__(self) -> Motion:
        return self

    def __deepcopy__(self, memo: object) -> Motion:
        return self

    def __reduce__(self) -> tuple[object, ...]:
        return Motion._of, self._value()

    def __str__(self) -> str:
        keys = f"{len(self):,} key{'s' * (len(self) > 1)}"
        if not self.linkage.dof or self.speed.max() < _STILL:
            return f"{self.linkage.name} stands still for {self.duration:.4g} s, {keys}"
        i = int(self.speed.argmax())
        top = f"{self.linkage.names[i]} the fastest at {self.speed[i]:.3g} {self.linkage.units[i]}/s"
        checks = ("limits", self.within_limits(_SHOWN)), ("speeds", self.within_speeds(_SHOWN))
        exceeded = [word for word, good in checks if not good]
        good = f"beyond its {' and '.join(exceeded)}" if exceeded else "within its limits"
        return f"{self.linkage.name} moves for {self.duration:.4g} s through {keys}, {top}, {good}"

    def __repr__(self) -> str:
        return f"<Motion: {self}>"

    def _repr_html_(self) -> str:
        """The motion for a notebook: it plays there."""
        from supple.view.motion import notebook_page  # upward: a notebook asks the motion itself

        return notebook_page(self)


def _moments(value: ArrayLike, what: str) -> Array:
    """Finite times (...) in seconds."""
    return _check.finite(np.array(_check.numbers(value, what)), what, ", in seconds")


def _moment(value: float, what: str) -> float:
    """One finite time in seconds."""
    array = _moments(value, what)
    if array.ndim:
        raise BadInput(f"{what} must be one number, in seconds, not {array.shape}")
    return float(array)
