"""Arguments of a goal: each function returns the value that `Goal` keeps, or raises `BadInput`."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from supple import _check
from supple.errors import BadInput
from supple.frame import Array, Frame

_ZERO = (0.0, 0.0, 0.0)


def other_link(value: object, link: str) -> None:
    """Checks the link that a goal for ``link`` is relative to."""
    if not isinstance(value, str) or not value:
        raise BadInput(f"relative_to must be the name of a link, got {_check.short(value)}")
    if value == link:
        raise BadInput(f"relative_to must be another link than the goal's own, {link!r}")


def limb(value: object, link: str) -> tuple[str, str]:
    """The names of the links that begin at the shoulder and at the elbow of a goal for ``link`` with a pole."""
    names = tuple(value) if isinstance(value, Sequence) and not isinstance(value, str) else ()
    if len(names) != 2 or not all(isinstance(name, str) and name for name in names):
        raise BadInput(f"limb must be two names of links, at the shoulder and at the elbow; got {_check.short(value)}")
    if len({*names, link}) != 3:
        raise BadInput(f"shoulder, elbow and end of a limb must be different links, got {names} for {link!r}")
    return names[0], names[1]


def frames(value: ArrayLike, link: str = "link") -> Frame:
    """Frames from an array (..., 4, 4); of many, rows that are not finite stay, and the solve marks them INVALID."""
    array = _check.numbers(value, "a frame", "(..., 4, 4)")
    if array.shape[-1:] == (3,):
        raise BadInput(
            f"a frame must have shape (..., 4, 4), not {array.shape}; "
            f"for a position write Goal({link!r}, position=[...])"
        )
    if array.ndim <= 2 or array.shape[-2:] != (4, 4):
        return Frame(array)
    bad = np.asarray(~np.isfinite(array).all(axis=(-1, -2)))
    if not bad.any():
        return Frame(array)
    matrices = np.array(Frame(np.where(bad[..., None, None], np.eye(4), array)).matrix)
    matrices[bad] = np.nan
    return Frame._trusted(matrices)


def frozen(array: Array) -> Array:
    """The array itself if it is read-only, else a read-only copy."""
    if array.flags.writeable:
        array = array.copy()
        array.flags.writeable = False
    return array


def vectors(value: ArrayLike, what: str, single: bool = False) -> Array:
    """Vectors (..., 3), or with ``single`` one (3,), as a read-only array."""
    wanted = "(3,)" if single else "(..., 3)"
    array = np.array(_check.numbers(value, what, wanted))
    if array.shape[-1:] != (3,) or (single and array.ndim != 1):
        raise BadInput(f"{what} must have shape {wanted}, not {array.shape}")
    if array.ndim == 1 and not all(map(math.isfinite, array.tolist())):
        raise BadInput(f"{what} must be finite, got {array.tolist()}")
    array.flags.writeable = False
    return array


def unit_vectors(value: ArrayLike, what: str, single: bool = False) -> Array:
    """Vectors like those of `vectors`, scaled to length 1."""
    array = vectors(value, what, single)
    if not array.any(axis=-1).all():
        raise BadInput(f"{what} must not be zero")
    with np.errstate(invalid="ignore"):  # rows that are not finite stay
        unit = _check.unit(array)
    unit.flags.writeable = False
    return unit


def distance(value: object) -> float:
    """A distance in metres; 0 if none is given."""
    if value is None:
        return 0.0
    number = _check.real(value)
    if not 0 <= number < math.inf:
        raise BadInput(f"distance must be a finite number of metres, not negative; got {_check.short(value)}")
    return number


def check_distance(
    distance: float | None, has_line: bool, weight: Sequence[float] | None, slack: Sequence[float]
) -> None:
    """Refuses what a distance from a point or a line cannot have."""
    what = "line" if distance == 0 and has_line else "distance"
    for name, row in (("weight", weight), ("slack", slack)):
        if row is not None and len(set(row)) > 1:
            raise BadInput(f"{name} of a {what} is one number, got {tuple(row)}")
    if distance == 0 and not has_line and slack[0] == 0:
        raise BadInput("distance=0 without slack is the position itself; leave distance out, or give slack")


def rotations(value: Frame | ArrayLike) -> Array:
    """Rotation matrices (..., 3, 3), read-only."""
    if isinstance(value, Frame):
        return frozen((value if value.matrix.base is None else value._kept()).rotation)
    array = _check.numbers_or_none(value)
    if array is None:
        raise BadInput(f"orientation must be a Frame or numbers of shape (..., 3, 3), got {_check.short(value)}")
    if array.shape[-2:] != (3, 3):
        raise BadInput(f"orientation must be a Frame or have shape (..., 3, 3), not {array.shape}")
    whole = np.zeros((*array.shape[:-2], 4, 4))
    whole[..., :3, :3], whole[..., 3, 3] = array, 1
    return frames(whole).rotation


def three(value: float | Sequence[float], what: str, most: float = _check.LARGEST) -> tuple[float, float, float]:
    """One number or three, as three that are finite, not negative and at most ``most``."""
    if (type(value) is float or type(value) is int) and 0 <= value <= most:
        one = float(value)
        return one, one, one
    array = _check.numbers_or_none(value)
    if array is None or array.shape not in ((), (1,), (3,)):
        raise BadInput(f"{what} must be one number or three, got {_check.short(value)}")
    row = np.broadcast_to(array, (3,))
    if not np.isfinite(row).all() or (row < 0).any():
        raise BadInput(f"{what} must be finite and not negative, got {_check.short(value)}")
    if (row > most).any():
        bound = "pi" if most == math.pi else f"{most:g}"
        raise BadInput(f"{what} must be at most {bound}, got {_check.short(value)}")
    return float(row[0]), float(row[1]), float(row[2])


def position_slack(value: float | Sequence[float], has_position: bool) -> tuple[float, float, float]:
    """Slack of the position along each world axis, in metres."""
    slack = three(value, "slack")
    if not has_position and slack != _ZERO:
        raise BadInput(f"slack belongs to a position, and this goal has none; got {_check.short(value)}")
    return slack


def orientation_slack(value: float | Sequence[float], has_orientation: bool, cone: bool) -> tuple[float, float, float]:
    """Slack of the orientation about each world axis, or three times the half-angle of a cone, in radians."""
    slack = three(value, "turn_slack", most=math.pi)
    if not has_orientation and slack != _ZERO:
        raise BadInput(
            f"turn_slack is for an orientation, an axis or a pole, and this goal has none; got {_check.short(value)}"
        )
    if cone and np.ndim(value):
        raise BadInput(
            f"turn_slack of an axis or a pole is one number, the angle to either side; got {_check.short(value)}"
        )
    return slack


def check_parts(
    frame: object,
    place: object,
    position: object,
    orientation: object,
    axis: object,
    direction: object,
    look_at: object,
    distance: object,
    line: object,
    pole: object,
    limb: object,
) -> None:
    """Refuses parts of a goal that do not go together; ``place`` is the position, that of the frame included."""
    radial = distance is not None or line is not None
    oriented = orientation is not None or axis is not None
    if orientation is not None and axis is not None:
        raise BadInput("a goal has an orientation or an axis, not both")
    if (axis is None) != (direction is None and look_at is None):
        raise BadInput("axis (of the link) and direction or look_at (in the world) go together")
    if look_at is not None and (direction is not None or place is not None):
        other = "a direction" if direction is not None else "a position"
        raise BadInput(f"a goal has look_at or {other}, not both; give two goals")
    if radial and (position is None or frame is not None):
        raise BadInput(f"{'line' if distance is None else 'distance'} needs a position that it is measured from")
    if pole is not None and (place is not None or oriented):
        raise BadInput("a goal has a pole or something else, not both; give two goals")
    if limb is not None and pole is None:
        raise BadInput("limb says where the elbow of a pole is, and this goal has no pole")
    if place is None and not oriented and pole is None:
        raise BadInput("a goal needs a frame, a position, an orientation, an axis or a pole")
