"""Frame: where a link is and how it is turned, one or many at a time."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from supple import _core
from supple._linkage import angles
from supple.errors import BadInput

Array = NDArray[np.float64]
_new = object.__new__
_set = object.__setattr__


class Frame:
    """Position and orientation: a rigid transformation from its own axes to those it is seen from.

    A frame holds an array of shape (..., 4, 4); leading axes mean many frames, and every operation broadcasts over
    them. Metres and radians; quaternions have w first. ``a @ b`` reads "b, as seen from where a is": if ``a`` is
    hand-in-world and ``b`` tool-in-hand, ``a @ b`` is tool-in-world. Frames are values: they do not change.

    >>> Frame.at([1, 2, 3]) @ Frame.turn([0, 0, 1], 0.5)
    Frame at (1, 2, 3), turned 0.5 rad about (0, 0, 1)
    """

    __slots__ = ("matrix",)
    matrix: Array
    """The (..., 4, 4) array itself, read-only."""
    __array_priority__ = 100.0  # a numpy array on the left of @ leaves the product to us

    def __init__(self, matrix: ArrayLike | Frame | None = None) -> None:
        """A frame from a (..., 4, 4) array; the identity when none is given."""
        array = np.eye(4) if matrix is None else _checked(matrix)
        array.flags.writeable = False
        _set(self, "matrix", array)

    @classmethod
    def _trusted(cls, matrix: Array) -> Frame:
        """Wrap an array that is known to hold frames, without a copy or a check."""
        frame = _new(cls)
        _set(frame, "matrix", matrix)
        return frame

    # -- making one ---------------------------------------------------------------------------------------------

    @classmethod
    def at(cls, position: ArrayLike, rotation: ArrayLike | Frame | None = None) -> Frame:
        """A frame at a position (..., 3) in metres, turned by a rotation matrix (..., 3, 3) or as another frame is."""
        p = finite(position, 3, "position")
        if rotation is None:
            r: Array = np.eye(3)
        elif isinstance(rotation, Frame):
            r = rotation.rotation
        else:
            try:
                r = np.asarray(rotation, dtype=float)
            except (TypeError, ValueError) as error:
                raise BadInput(f"rotation must be numbers of shape (..., 3, 3): {error}") from None
            if r.shape[-2:] != (3, 3):
                raise BadInput(f"rotation must have shape (..., 3, 3), not {r.shape}")
        return cls(_assemble(r, p))

    @classmethod
    def turn(cls, axis: ArrayLike, angle: ArrayLike) -> Frame:
        """A turn about an axis (..., 3) of any length through the origin, by an angle (...) in radians."""
        a = finite(axis, 3, "axis")
        if not a.any(axis=-1).all():
            raise BadInput("axis must not be zero")
        try:
            by = np.asarray(angle, dtype=float)
        except (TypeError, ValueError) as error:
            raise BadInput(f"angle must be numbers: {error}") from None
        if not np.isfinite(by).all():
            raise BadInput("angle must be finite")
        return cls.rotvec(_unit(a) * by[..., None])

    @classmethod
    def rotvec(cls, vector: ArrayLike) -> Frame:
        """A turn given as a rotation vector (..., 3): its direction is the axis, its length the angle in radians."""
        return cls._trusted(_core.exp_rotation(finite(vector, 3, "rotation vector")))

    @classmethod
    def quaternion(cls, quaternion: ArrayLike) -> Frame:
        """A turn given as a quaternion (..., 4), w first; it is normalised, and must not be zero."""
        q = finite(quaternion, 4, "quaternion")
        if np.any(np.abs(q).max(axis=-1, initial=0) < 1e-12):
            raise BadInput("quaternion must not be zero")
        return cls._trusted(_core.from_quaternion(_unit(q)))

    @classmethod
    def euler(cls, order: str, values: ArrayLike) -> Frame:
        """Euler angles (..., 3) in radians: each turn about an axis that the turns before it have moved.

        ``order`` names the axes, first turn first: any of 'xyz', 'xzy', ... 'zyz' (all twelve).
        """
        return cls._trusted(_assemble(angles.matrix(order, finite(values, 3, "angles")), np.zeros(3)))

    @classmethod
    def fixed(cls, order: str, values: ArrayLike) -> Frame:
        """Fixed angles (..., 3) in radians: each turn about an axis that stays where it is. URDF's rpy is 'xyz'."""
        angles.check(order)
        turned = finite(values, 3, "angles")[..., ::-1]
        return cls._trusted(_assemble(angles.matrix(order[::-1], turned), np.zeros(3)))

    @classmethod
    def exp(cls, twist: ArrayLike) -> Frame:
        """Where a constant twist (..., 6), linear before angular, leads in one unit of time; the inverse of `log`."""
        return cls._trusted(_core.exp_frame(finite(twist, 6, "twist")))

    # -- asking it ----------------------------------------------------------------------------------------------

    @property
    def position(self) -> Array:
        """Position (..., 3) in metres."""
        return self.matrix[..., :3, 3]

    @property
    def rotation(self) -> Array:
        """Rotation matrix (..., 3, 3)."""
        return self.matrix[..., :3, :3]

    @property
    def shape(self) -> tuple[int, ...]:
        """The leading axes: () for a single frame."""
        return self.matrix.shape[:-2]

    def to_rotvec(self) -> Array:
        """The turn as a rotation vector (..., 3), at most pi long."""
        return _core.log_rotation(self.matrix)

    def to_quaternion(self) -> Array:
        """The turn as a quaternion (..., 4), w first and not negative."""
        return _core.to_quaternion(self.matrix)

    def to_euler(self, order: str) -> Array:
        """The turn as Euler angles (..., 3) in radians; where the order locks up, the third angle is 0."""
        return angles.angles(order, self.rotation)

    def to_fixed(self, order: str) -> Array:
        """The turn as fixed angles (..., 3) in radians; where the order locks up, the first angle is 0."""
        angles.check(order)
        return angles.angles(order[::-1], self.rotation)[..., ::-1]

    def log(self) -> Array:
        """The constant twist (..., 6), linear before angular, that leads here in one unit of time."""
        return _core.log_frame(self.matrix)

    def inverse(self) -> Frame:
        """The frame it is seen from, as seen from it."""
        r = np.swapaxes(self.rotation, -1, -2)
        return Frame._trusted(_assemble(r, -np.squeeze(r @ self.position[..., None], -1)))

    def apply(self, points: ArrayLike) -> Array:
        """Points (..., 3) given in this frame, as seen from where the frame is seen."""
        p = finite(points, 3, "points")
        return np.squeeze(self.rotation @ p[..., None], -1) + self.position

    # -- being a value ------------------------------------------------------------------------------------------

    def __matmul__(self, other: Any) -> Frame:
        if not isinstance(other, Frame):
            if np.shape(other)[-2:] != (4, 4):
                return NotImplemented
            other = Frame(other)
        product = self.matrix @ other.matrix
        product.flags.writeable = False
        return Frame._trusted(product)

    def __rmatmul__(self, other: Any) -> Frame:
        if np.shape(other)[-2:] != (4, 4):
            return NotImplemented
        return Frame(other) @ self

    def __getitem__(self, index: Any) -> Frame:
        if not self.shape:
            raise BadInput("a single frame cannot be indexed; its array is .matrix")
        leading = index if isinstance(index, tuple) else (index,)
        whole = (*leading, slice(None), slice(None))  # the last two axes are never the caller's
        chosen = self.matrix[whole]
        chosen.flags.writeable = False
        return Frame._trusted(chosen)

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("a single frame has no length")
        return self.shape[0]

    def __bool__(self) -> bool:
        return True

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        if dtype is not None and np.dtype(dtype) != self.matrix.dtype:
            return self.matrix.astype(dtype)
        return self.matrix.copy() if copy else self.matrix

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError("a Frame does not change; make another")

    def __delattr__(self, name: str) -> None:
        raise AttributeError("a Frame does not change; make another")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Frame) and np.array_equal(self.matrix, other.matrix)

    def __hash__(self) -> int:
        return hash((self.matrix.shape, (self.matrix + 0.0).tobytes()))

    def __copy__(self) -> Frame:
        return self

    def __deepcopy__(self, memo: object) -> Frame:
        return self

    def __reduce__(self) -> tuple[object, ...]:
        return Frame, (np.array(self.matrix),)

    def __repr__(self) -> str:
        if self.shape:
            return f"Frame of shape {self.shape}"
        where = "at " + _brief(self.position)
        vector = self.to_rotvec()
        angle = float(np.linalg.norm(vector))
        if angle < 1e-12:
            return f"Frame {where}"
        return f"Frame {where}, turned {angle:.6g} rad about {_brief(vector / angle)}"


_core.know_frame(Frame)


def _brief(vector: Array) -> str:
    return "(" + ", ".join(f"{round(float(x), 9) + 0.0:.6g}" for x in vector) + ")"


def finite(value: ArrayLike, size: int, what: str) -> Array:
    """Numbers (..., size) as a contiguous array; `BadInput` naming what they are if they are not, or not finite."""
    try:
        array = np.ascontiguousarray(value, dtype=float)
    except (TypeError, ValueError) as error:
        raise BadInput(f"{what} must be numbers of shape (..., {size}): {error}") from None
    if array.shape[-1:] != (size,) or np.ndim(value) == 0:
        raise BadInput(f"{what} must have shape (..., {size}), not {np.shape(value)}")
    if not np.isfinite(array).all():
        raise BadInput(f"{what} must be finite")
    return array


def _unit(vectors: Array) -> Array:
    """Vectors (..., n) at unit length; scaled first, so that neither huge nor tiny ones over- or underflow."""
    scaled = vectors / np.abs(vectors).max(axis=-1, keepdims=True, initial=0)
    unit: Array = scaled / np.linalg.norm(scaled, axis=-1, keepdims=True)
    return unit


def _assemble(rotation: Array, position: Array) -> Array:
    shape = np.broadcast_shapes(rotation.shape[:-2], position.shape[:-1])
    matrix = np.zeros((*shape, 4, 4))
    matrix[..., :3, :3] = rotation
    matrix[..., :3, 3] = position
    matrix[..., 3, 3] = 1
    matrix.flags.writeable = False
    return matrix


_WRONG = (
    "",
    "a frame must be finite",
    "the rotation of a frame must be orthonormal; this one is off by {:.3g}",
    "the rotation of a frame must not mirror; its determinant is -1",
    "the last row of a frame must be 0 0 0 1",
)


def _checked(value: ArrayLike | Frame) -> Array:
    if isinstance(value, Frame):
        return value.matrix
    try:
        array = np.array(value, dtype=float, order="C")
    except (TypeError, ValueError) as error:
        raise BadInput(f"a frame must be numbers of shape (..., 4, 4): {error}") from None
    if array.shape[-2:] != (4, 4):
        raise BadInput(f"a frame must have shape (..., 4, 4), not {array.shape}")
    wrong, off = _core.mend_frames(array)
    if wrong:
        raise BadInput(_WRONG[wrong].format(off))
    return array
