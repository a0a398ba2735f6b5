"""Frame: position and orientation of a link, one or many at a time."""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np
from numpy.typing import ArrayLike, NDArray

from supple import _check, _core
from supple._arrays import nesting
from supple._linkage import angles, frame_rows
from supple.errors import BadInput

Array = NDArray[np.float64]
_new = object.__new__
_set = object.__setattr__
_MISSING: Any = None
_ORDERS = ("wxyz", "xyzw")
_FROM_PARTS = "with a position and a quaternion write Frame.at(position, Frame.quaternion(quaternion, order='wxyz'))"
_LONG_ANGLE = 1e3  # radians; longer ones are reduced to within half a turn before they become a rotation vector


class Frame:
    """Position and orientation: the rigid transform from a frame's own axes to those of its parent.

    A frame holds an array of shape (..., 4, 4). Leading axes mean many frames, and every operation broadcasts over
    them. Lengths are in metres, angles in radians; quaternions are in the order wxyz, or xyzw with ``order="xyzw"``.
    ``a @ b`` composes: if ``a`` is the pose of the gripper in the world and ``b`` the pose of the tool in the gripper,
    ``a @ b`` is the pose of the tool in the world. Frames are immutable.

    >>> from supple import Frame
    >>> Frame.at([1, 2, 3]) @ Frame.turn([0, 0, 1], 0.5)
    Frame at (1, 2, 3), turned 0.5 rad about (0, 0, 1)
    """

    __slots__ = ("matrix",)
    matrix: Array
    """The array (..., 4, 4), read-only."""
    __array_priority__ = 100.0  # numpy array @ Frame calls Frame.__rmatmul__

    def __init__(self, matrix: ArrayLike | Frame | None = None, *more: NoReturn) -> None:
        """A frame from an array (..., 4, 4); without one, the identity.

        A rotation matrix R that is not exactly orthonormal, such as one with rounded numbers, becomes the nearest
        rotation. Raises `BadInput` if an entry of R R' - I is larger than 0.02 in size.

        >>> Frame(np.eye(4)) == Frame()
        True
        """
        if more:
            raise BadInput(f"a frame is made from one array (..., 4, 4); {_FROM_PARTS}")
        array = np.eye(4) if matrix is None else _checked(matrix)
        array.flags.writeable = False
        _set(self, "matrix", array)

    @classmethod
    def _trusted(cls, matrix: Array) -> Frame:
        """Wrap an array that is known to hold frames, without a copy or a check."""
        frame = _new(cls)
        _set(frame, "matrix", matrix)
        return frame

    def _kept(self) -> Frame:
        """This frame, or a copy if its array is a view, whose memory may change: for objects that hold a frame."""
        matrix = self.matrix
        if matrix.base is None:
            return self
        matrix = matrix.copy()
        matrix.flags.writeable = False
        return Frame._trusted(matrix)

    # -- constructors -------------------------------------------------------------------------------------------

    @classmethod
    def at(cls, position: ArrayLike, rotation: ArrayLike | Frame | None = None, *more: NoReturn) -> Frame:
        """A frame at a position (..., 3) in metres, with a rotation matrix (..., 3, 3) or the rotation of a frame.

        >>> from supple import Frame
        >>> Frame.at([1, 2, 3], Frame.turn([0, 0, 1], 0.5))
        Frame at (1, 2, 3), turned 0.5 rad about (0, 0, 1)
        """
        if more or (_check.is_number(position) and _check.is_number(rotation)):
            raise BadInput("position is one array (..., 3): write Frame.at([x, y, z])")
        p = _check.rows(position, 3, "position")
        if rotation is None:
            r: Array = np.eye(3)
        elif isinstance(rotation, Frame):
            r = rotation.rotation
        else:
            r = _check.numbers(rotation, "rotation", "(..., 3, 3)")
            if r.shape[-2:] != (3, 3):
                raise BadInput(f"rotation must have shape (..., 3, 3), not {r.shape}")
        return cls(_assemble(r, p))

    @classmethod
    def turn(cls, axis: ArrayLike, angle: ArrayLike) -> Frame:
        """A rotation by an angle (...) in radians about an axis (..., 3) of any length through the origin.

        >>> from supple import Frame
        >>> Frame.turn([0, 0, 2], 0.5).to_rotvec()
        array([0. , 0. , 0.5])
        """
        about = _check.unit_vector(axis, 3, "axis")
        by = _check.finite(_check.numbers(angle, "angle"), "angle")
        by = np.where(np.abs(by) > _LONG_ANGLE, np.arctan2(np.sin(by), np.cos(by)), by)
        try:
            return cls.rotvec(about * by[..., None])
        except ValueError:
            shapes = f"{about.shape[:-1]} and {by.shape}"
            raise BadInput(f"axis and angle have leading axes {shapes}, which do not broadcast") from None

    @classmethod
    def rotvec(cls, vector: ArrayLike) -> Frame:
        """The rotation of a rotation vector (..., 3): its direction is the axis, its length the angle in radians.

        >>> from supple import Frame
        >>> Frame.rotvec([0, 0, 0.5])
        Frame at (0, 0, 0), turned 0.5 rad about (0, 0, 1)
        """
        return cls._trusted(_core.exp_rotation(_check.rows(vector, 3, "rotation vector")))

    @classmethod
    def quaternion(cls, quaternion: ArrayLike, order: str = "wxyz") -> Frame:
        """The rotation of a quaternion (..., 4) of any length but zero, in the order wxyz or xyzw (ROS, SciPy).

        >>> from supple import Frame
        >>> Frame.quaternion([0, 0, 1, 1], order="xyzw") == Frame.quaternion([1, 0, 0, 1])
        True
        """
        q = _check.rows(quaternion, 4, "quaternion")
        zero = np.abs(q).max(axis=-1, initial=0) < frame_rows.SHORTEST
        if np.any(zero):
            raise BadInput(f"quaternion must not be zero{_check.which_rows(zero)}")
        if not isinstance(order, str):
            raise BadInput(f"order must be 'wxyz' or 'xyzw', got {_check.short(order)}; {_FROM_PARTS}")
        if _check.one_of(order, "order", _ORDERS) == "xyzw":
            q = np.roll(q, 1, axis=-1)
        return cls._trusted(_core.from_quaternion(_check.unit(q)))

    @classmethod
    def masked(
        cls,
        matrix: ArrayLike | None = None,
        *,
        position: ArrayLike | None = None,
        quaternion: ArrayLike | None = None,
        order: str = "wxyz",
    ) -> tuple[Frame, NDArray[np.bool_]]:
        """Frames (...) from measured data with bad rows, and an array of bool (...) that is True for good rows.

        Give ``matrix`` (..., 4, 4), or ``position`` (..., 3) in metres, ``quaternion`` (..., 4) of any length but
        zero, or both. A row is bad if `Frame`, `at` or `quaternion` would refuse it. Its frame is the identity.

        >>> import numpy as np
        >>> from supple import Frame
        >>> frames, good = Frame.masked(position=[[1, 2, 3], [np.nan, 0, 0]], quaternion=[[1, 0, 0, 0], [1, 0, 0, 0]])
        >>> good
        array([ True, False])
        >>> frames[0]
        Frame at (1, 2, 3)
        """
        if (matrix is None) == (position is None and quaternion is None):
            raise BadInput("give matrix, or position and quaternion")
        if matrix is not None:
            array = _check.numbers(matrix, "matrix", "(..., 4, 4)")
            if array.shape[-2:] != (4, 4):
                raise BadInput(f"matrix must have shape (..., 4, 4), not {array.shape}")
            made, good = frame_rows.mended(array)
        else:
            first = _check.one_of(order, "order", _ORDERS) == "wxyz"
            made, good = frame_rows.assembled(position, quaternion, first)
        made.flags.writeable = False
        return cls._trusted(made), good

    @classmethod
    def rpy(cls, roll: ArrayLike, pitch: ArrayLike = _MISSING, yaw: ArrayLike = _MISSING) -> Frame:
        """The rotation of roll, pitch and yaw (...) in radians, as in URDF: about the fixed axes x, then y, then z.

        >>> from supple import Frame
        >>> Frame.rpy(0, 0, 0.5)
        Frame at (0, 0, 0), turned 0.5 rad about (0, 0, 1)
        """
        if pitch is _MISSING or yaw is _MISSING:
            raise BadInput("rpy takes three arguments: write Frame.rpy(roll, pitch, yaw), or Frame.rpy(*angles)")
        named = {"roll": roll, "pitch": pitch, "yaw": yaw}
        rows = [_check.finite(_check.numbers(value, name), name) for name, value in named.items()]
        try:
            return cls.fixed("xyz", np.stack(np.broadcast_arrays(*rows), axis=-1))
        except ValueError:
            shapes = ", ".join(str(row.shape) for row in rows)
            raise BadInput(f"roll, pitch and yaw must broadcast, but have shapes {shapes}") from None

    @classmethod
    def euler(cls, order: str, values: ArrayLike) -> Frame:
        """The rotation of Euler angles (..., 3) in radians, each about an axis that the rotations before it have moved.

        ``order`` names the axes, first rotation first: any of the twelve orders "xyz", "xzy", ... "zyz".

        >>> from supple import Frame
        >>> Frame.euler("zyx", [0.5, 0, 0])
        Frame at (0, 0, 0), turned 0.5 rad about (0, 0, 1)
        """
        return cls._trusted(_assemble(angles.matrix(order, _check.rows(values, 3, "angles")), np.zeros(3)))

    @classmethod
    def fixed(cls, order: str, values: ArrayLike) -> Frame:
        """The rotation of angles (..., 3) in radians about fixed axes, first rotation first. URDF's rpy is "xyz".

        >>> from supple import Frame
        >>> Frame.fixed("xyz", [0.1, 0.2, 0.3]) == Frame.rpy(0.1, 0.2, 0.3)
        True
        """
        angles.check(order)
        reverse = _check.rows(values, 3, "angles")[..., ::-1]
        return cls._trusted(_assemble(angles.matrix(order[::-1], reverse), np.zeros(3)))

    @classmethod
    def exp(cls, twist: ArrayLike) -> Frame:
        """The frame that a constant twist (..., 6) reaches from the identity in one unit of time.

        It is the exponential map of SE(3), the inverse of `log`. Linear before angular components, metres and radians.

        >>> from supple import Frame
        >>> Frame.exp([1, 0, 0, 0, 0, 0])
        Frame at (1, 0, 0)
        """
        return cls._trusted(_core.exp_frame(_small(_check.rows(twist, 6, "twist"), "twist")))

    # -- parts and conversions ----------------------------------------------------------------------------------

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
        """The leading axes: () for a single frame.

        >>> from supple import Frame
        >>> Frame.at([[1, 2, 3], [4, 5, 6]]).shape
        (2,)
        """
        return self.matrix.shape[:-2]

    def to_rotvec(self) -> Array:
        """The rotation as a rotation vector (..., 3), in radians, at most pi long.

        >>> from supple import Frame
        >>> Frame.turn([0, 0, 1], 0.5).to_rotvec()
        array([0. , 0. , 0.5])
        """
        return _core.log_rotation(self.matrix)

    def to_quaternion(self, order: str = "wxyz") -> Array:
        """The rotation as a unit quaternion (..., 4) with w >= 0; ``order`` is "wxyz" or "xyzw".

        >>> from supple import Frame
        >>> Frame().to_quaternion(order="xyzw")
        array([0., 0., 0., 1.])
        """
        q = _core.to_quaternion(self.matrix)
        return np.roll(q, -1, axis=-1) if _check.one_of(order, "order", _ORDERS) == "xyzw" else q

    def to_rpy(self) -> Array:
        """The rotation as roll, pitch and yaw (..., 3) in radians, as in URDF; at pitch ±pi/2 the roll is 0.

        >>> from supple import Frame
        >>> Frame.rpy(0.1, 0.2, 0.3).to_rpy().round(9)
        array([0.1, 0.2, 0.3])
        """
        return self.to_fixed("xyz")

    def to_euler(self, order: str) -> Array:
        """The rotation as Euler angles (..., 3) in radians; at gimbal lock the third angle is 0.

        >>> from supple import Frame
        >>> Frame.euler("zyx", [0.1, 0.2, 0.3]).to_euler("zyx").round(9)
        array([0.1, 0.2, 0.3])
        """
        return angles.angles(order, self.rotation)

    def to_fixed(self, order: str) -> Array:
        """The rotation as angles (..., 3) in radians about fixed axes; at gimbal lock the first angle is 0.

        >>> from supple import Frame
        >>> Frame.fixed("zxy", [0.1, 0.2, 0.3]).to_fixed("zxy").round(9)
        array([0.1, 0.2, 0.3])
        """
        angles.check(order)
        return angles.angles(order[::-1], self.rotation)[..., ::-1]

    def log(self) -> Array:
        """The constant twist (..., 6) that reaches this frame from the identity in one unit of time.

        It is the logarithm of SE(3), the inverse of `exp`. Linear before angular components, metres and radians.

        >>> from supple import Frame
        >>> Frame.at([1, 0, 0]).log()
        array([1., 0., 0., 0., 0., 0.])
        """
        return _core.log_frame(self.matrix)

    def inverse(self) -> Frame:
        """The inverse transform: ``frame.inverse() @ frame`` is the identity.

        >>> from supple import Frame
        >>> Frame.at([1, 2, 3]).inverse()
        Frame at (-1, -2, -3)
        """
        r = np.swapaxes(self.rotation, -1, -2)
        return Frame._trusted(_assemble(r, -np.squeeze(r @ self.position[..., None], -1)))

    def apply(self, points: ArrayLike) -> Array:
        """Points (..., 3) in metres, transformed from this frame to its parent.

        >>> from supple import Frame
        >>> Frame.at([1, 2, 3]).apply([1, 0, 0])
        array([2., 2., 3.])
        """
        p = _check.rows(points, 3, "points")
        _check.leading_axes(self.shape, p.shape[:-1], what="frame and points")
        return np.squeeze(self.rotation @ p[..., None], -1) + self.position

    # -- operators ----------------------------------------------------------------------------------------------

    def __matmul__(self, other: Any) -> Frame:
        if not isinstance(other, Frame):
            if _shape(other)[-2:] != (4, 4):
                return NotImplemented
            other = Frame(other)
        try:
            product = self.matrix @ other.matrix
            if product.ndim > _check.MOST_AXES:
                raise ValueError
        except (ValueError, RuntimeError):  # numpy raises the latter for too many axes
            raise BadInput(
                f"the leading axes of frames must broadcast, and be at most {_check.MOST_AXES - 2}, "
                f"got {_axes(self)} and {_axes(other)}"
            ) from None
        product.flags.writeable = False
        return Frame._trusted(product)

    def __rmatmul__(self, other: Any) -> Frame:
        if _shape(other)[-2:] != (4, 4):
            return NotImplemented
        return Frame(other) @ self

    def __getitem__(self, index: Any) -> Frame:
        if not self.shape:
            raise BadInput("a single frame cannot be indexed; its array is .matrix")
        leading = index if isinstance(index, tuple) else (index,)
        whole = (*leading, slice(None), slice(None))  # an index is over the leading axes only
        try:
            chosen = self.matrix[_check.index(whole)]
        except IndexError:
            raise _check.no_such_index(index, self.shape, "frames") from None
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
        return self._kept()

    def __deepcopy__(self, memo: object) -> Frame:
        return self._kept()

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
finite, _unit = _check.rows, _check.unit


def _small(array: Array, what: str) -> Array:
    """The same array, if its squares are finite."""
    if array.size <= 8:  # as Python numbers these take a third of the time
        within = all(abs(x) <= _check.LARGEST for x in array.ravel().tolist())
    else:
        within = bool((np.abs(array) <= _check.LARGEST).all())
    if not within:
        raise BadInput(f"{what} must be within {_check.LARGEST:g}, got {float(array.flat[np.abs(array).argmax()]):g}")
    return array


def _axes(frame: Frame) -> str:
    return str(frame.shape) if len(frame.shape) <= _check.MOST_AXES else f"{len(frame.shape)} axes"


def _brief(vector: Array) -> str:
    return "(" + ", ".join(f"{round(float(x), 9) + 0.0:.6g}" for x in vector) + ")"


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
    "the rotation of a frame must be orthonormal; this one is off by {:.3g}, more than the 0.02 that is corrected",
    "the rotation of a frame must not mirror; its determinant is -1",
    "the last row of a frame must be 0 0 0 1",
)


def _shape_hint(array: Array) -> str:
    """What to write for an array of the wrong shape, if its last axis shows what it holds."""
    size = array.shape[-1] if array.ndim else 0
    if size == 7:
        return f"; {_FROM_PARTS}"
    return "; write array.reshape(*array.shape[:-1], 4, 4), if it has the rows of a matrix" if size == 16 else ""


def _shape(value: Any) -> tuple[int, ...]:
    """The shape of the other factor of a product with a frame; () if it is not an array."""
    try:
        return nesting.shape(value)
    except _check.NOT_CONVERTED:
        return ()


def _checked(value: ArrayLike | Frame) -> Array:
    if isinstance(value, Frame):
        return value._kept().matrix
    plain = type(value) is np.ndarray and value.dtype == np.float64
    array = np.array(value if plain else _check.numbers(value, "a frame", "(..., 4, 4)"), order="C")
    if array.shape[-2:] != (4, 4):
        raise BadInput(f"a frame must have shape (..., 4, 4), not {array.shape}{_shape_hint(array)}")
    if array.ndim > _check.MOST_AXES:
        raise BadInput(f"a frame must have at most {_check.MOST_AXES} axes, got {array.ndim}")
    wrong, off = _core.mend_frames(array)
    if wrong:
        good = frame_rows.good_rows(array) if array.ndim > 2 else np.zeros((), dtype=bool)
        raise BadInput(_WRONG[wrong].format(off) + _check.which_rows(~good))
    return array
