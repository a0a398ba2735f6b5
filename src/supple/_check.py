"""Checks of arguments: each returns the value in the form that the library works with, or raises `BadInput`.

Every message names the argument, what was expected and what came. ``what`` is the argument's name in that message.
"""

from __future__ import annotations

import functools
import inspect
import math
import operator
import os
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from supple._arrays import nesting
from supple._arrays.library import NOT_CONVERTED as NOT_CONVERTED
from supple._arrays.library import library_of
from supple._arrays.nesting import MOST_AXES as MOST_AXES
from supple._cuda.place import CPU
from supple.errors import BadInput, unknown, unknown_option
from supple.errors import short as short

Array = NDArray[np.float64]
LARGEST = 1e12
"""Greatest length in metres, angle in radians and mass in kilograms of a linkage: its squares and products are finite.

A finite limit above it counts as no limit."""
LONGEST_PATH = 32_767
"""Most characters of a path on any system."""
_PLAIN = frozenset((np.ndarray, list, tuple, float, int))
"""Types whose values are certainly no arrays of other libraries."""
F = TypeVar("F", bound=Callable[..., Any])
T = TypeVar("T")


def is_number(value: object) -> bool:
    """Whether a value is one real number: of Python or numpy, finite or not; True and False are not numbers."""
    return isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool | np.timedelta64)


def real(value: object) -> float:
    """One real number as a float, infinite if it is beyond the range of floats; nan for anything else."""
    if not is_number(value):
        return math.nan
    try:
        return float(value)  # type: ignore[arg-type]
    except OverflowError:
        return math.inf if value > 0 else -math.inf  # type: ignore[operator]


def finite_number(value: float, what: str, unit: str = "") -> float:
    """One finite number.

    >>> finite_number(2, "angle")
    2.0
    """
    number = real(value)
    if not math.isfinite(number):
        raise BadInput(f"{what} must be a finite number{_of(unit)}, got {short(value)}")
    return number


def finite_or_not(value: float, what: str) -> float:
    """One number of any size; it may be infinite or nan."""
    if not is_number(value):
        raise BadInput(f"{what} must be a number, got {short(value)}")
    return real(value)


def positive(value: float, what: str, unit: str = "", *, zero: bool = False) -> float:
    """One finite number above 0; with ``zero``, 0 is allowed too.

    >>> positive(-1, "timeout", "seconds")
    Traceback (most recent call last):
    supple.errors.BadInput: timeout must be a positive number of seconds, got -1
    """
    number = real(value)
    if not (0 < number < math.inf or (zero and number == 0)):
        wanted = f"a number{_of(unit)}, not negative" if zero else f"a positive number{_of(unit)}"
        raise BadInput(f"{what} must be {wanted}, got {short(value)}")
    return number


def fraction(value: float, what: str, *, zero: bool = False) -> float:
    """One number above 0 and at most 1; with ``zero``, 0 is allowed too."""
    number = real(value)
    if not (0 < number <= 1 or (zero and number == 0)):
        raise BadInput(
            f"{what} must {'lie between 0 and 1' if zero else 'be above 0 and at most 1'}, got {short(value)}"
        )
    return number


def whole(value: object, what: str, least: int | None = None, most: int | None = None) -> int:
    """One whole number, within inclusive bounds if given; True and False are refused.

    >>> whole(1, "frames", 2)
    Traceback (most recent call last):
    supple.errors.BadInput: frames must be a whole number of at least 2, got 1
    """
    bounds = ""
    if least is not None and most is not None:
        bounds = f" between {least} and {most}"
    elif least is not None:
        bounds = f" of at least {least}"
    elif most is not None:
        bounds = f" of at most {most}"
    try:
        count = None if isinstance(value, bool | np.bool_) else operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        count = None
    if count is None or (least is not None and count < least) or (most is not None and count > most):
        raise BadInput(f"{what} must be a whole number{bounds}, got {short(value)}")
    return count


def flag(value: bool, what: str) -> bool:
    """True or False; other values are refused, even if Python would convert them."""
    if not isinstance(value, bool | np.bool_):
        raise BadInput(f"{what} must be True or False, got {short(value)}")
    return bool(value)


def text(value: str, what: str, *, empty: bool = False) -> str:
    """A string; with ``empty``, it may have no characters."""
    if not isinstance(value, str) or not (value or empty):
        raise BadInput(f"{what} must be a string{'' if empty else ' that is not empty'}, got {short(value)}")
    return value


def one_of(value: str, what: str, known: tuple[str, ...]) -> str:
    """One of a few words; raises `UnknownName` with the nearest of them."""
    if not isinstance(value, str) or value not in known:
        raise unknown(what, value, known)
    return value


def file_name(value: str | os.PathLike[str], what: str = "path") -> str:
    """The path of a file as a string that the system can look up.

    >>> file_name("arm.urdf")
    'arm.urdf'
    """
    name = value if isinstance(value, str) else os.fspath(value) if isinstance(value, os.PathLike) else None
    if not isinstance(name, str) or not name or "\0" in name or len(name) > LONGEST_PATH:
        raise BadInput(f"{what} must be the path of a file, got {short(value)}")
    try:
        os.fsencode(name)
    except UnicodeEncodeError:
        raise BadInput(f"{what} has characters that no file name has, got {short(value)}") from None
    return name


def ending(file: str, endings: tuple[str, ...], what: str) -> str:
    """The ending of a file's name in lower case, one of a few; ``what`` begins the message.

    >>> ending("Swing.CSV", (".csv", ".npz"), "a motion is read from")
    '.csv'
    """
    found = os.path.splitext(file)[1].lower()
    if found not in endings:
        raise BadInput(f"{what} a file that ends in {' or '.join(endings)}, not {short(file)}")
    return found


def instance(value: object, kind: type[T], what: str, example: str = "") -> T:
    """A value of a class; ``example`` is code that makes one, for the message."""
    if not isinstance(value, kind):
        article = "an" if kind.__name__[0] in "AEIO" else "a"
        such_as = f", such as {example}" if example else ""
        raise BadInput(f"{what} must be {article} {kind.__name__}{such_as}, got {short(value)}")
    return value


def function(value: F, what: str) -> F:
    """Something that can be called."""
    if not callable(value):
        raise BadInput(f"{what} must be a function, got {short(value)}")
    return value


def numbers(value: ArrayLike, what: str, shape: str | int = "") -> Array:
    """Real numbers as a contiguous array of float64, finite or not, of any shape.

    ``shape``, only for the message, is the expected shape or the size of its last axis. Texts, dates and complex
    numbers are refused, even where numpy could convert them.
    """
    try:
        if type(value) not in _PLAIN:
            _check_foreign(value)
        if type(value) is not np.ndarray:
            nesting.check(value)
        array = np.asarray(value)
        kind = array.dtype.kind
        if type(value) is not np.ndarray and isinstance(value, np.ndarray) and np.any(getattr(value, "mask", False)):
            reason = ", got an array with masked entries"
        elif array.ndim > MOST_AXES:
            reason = f", with at most {MOST_AXES} axes, got {array.ndim} axes"
        elif kind == "f" or kind in "biu" or (kind == "O" and all(map(_is_real, array.ravel().tolist()))):
            return np.asarray(array, float, "C")
        else:
            reason = f", got {short(value)}"
    except NOT_CONVERTED as error:  # rows of different lengths, or objects that are not numbers
        reason = f": {str(error)[:200]}"
    wanted = f"(..., {shape})" if isinstance(shape, int) else shape
    raise BadInput(f"{what} must be numbers" + (f" of shape {wanted}" if wanted else "") + reason)


def core_numbers(value: ArrayLike, what: str) -> Array:
    """`numbers` for the core; joint values and goals of another array library raise `ForeignArray`."""
    if what in ("q", "goal") and type(value) not in _PLAIN and library_of(value) is not None:
        raise ForeignArray(f"{what} is an array of another library")
    return numbers(value, what)


def own(value: ArrayLike) -> ArrayLike:
    """An array of another library as a NumPy array, for calls that return NumPy arrays; anything else unchanged."""
    return value if type(value) in _PLAIN or library_of(value) is None else numbers(value, "q")


class ForeignArray(TypeError):
    """Raised for an array of another library: the caller then uses the code for such arrays."""


def _check_foreign(value: object) -> None:
    """Refuses arrays whose numbers cannot be read here: those that carry gradients, and those on a GPU."""
    differentiated = library_of_gradients(value)
    if differentiated:
        raise TypeError(f"gradients go through supple.{differentiated}, as in supple.{differentiated}.frame")
    library = library_of(value)
    if library is not None and library.place(value)[0] != CPU:
        raise TypeError("the array is in the memory of a GPU, and here numbers of the CPU are needed")


def library_of_gradients(value: object) -> str:
    """The module of supple for an array whose gradient is being computed, such as "supple.torch"; "" for others."""
    if getattr(value, "requires_grad", False) is True:
        return "torch"
    kind = type(value)
    return "jax" if kind.__module__.startswith("jax.") and kind.__name__.endswith("Tracer") else ""


def numbers_or_none(value: ArrayLike) -> Array | None:
    """Real numbers as in `numbers`; None for anything else, which the caller refuses with a message of its own."""
    try:
        return numbers(value, "")
    except BadInput:
        return None


def _is_real(entry: object) -> bool:
    """Whether an entry of an array of objects is a real number: of Python, numpy, or a class like Fraction."""
    return hasattr(type(entry), "__float__") and not isinstance(
        entry, np.complexfloating | np.datetime64 | np.timedelta64
    )


def rows(value: ArrayLike, size: int, what: str) -> Array:
    """Finite numbers (..., size) as a contiguous array.

    >>> rows([1, 2], 3, "position")
    Traceback (most recent call last):
    supple.errors.BadInput: position must have shape (..., 3), not (2,)
    """
    array = numbers(value, what, size)
    if array.shape[-1:] != (size,):
        raise BadInput(f"{what} must have shape (..., {size}), not {array.shape}")
    return finite(array, what)


def vector(value: ArrayLike, size: int, what: str) -> Array:
    """Finite numbers (size,)."""
    array = numbers(value, what, f"({size},)")
    if array.shape != (size,):
        raise BadInput(f"{what} must have shape ({size},), not {array.shape}")
    return finite(array, what)


def one_or_each(value: ArrayLike, count: int, what: str) -> Array:
    """One number for all or ``count`` numbers, finite or not, as a fresh array (count,).

    >>> one_or_each(2, 3, "speed")
    array([2., 2., 2.])
    """
    array = numbers_or_none(value)
    try:
        if array is not None:
            return np.array(np.broadcast_to(array, (count,)))
    except ValueError:  # of a shape that does not fit
        pass
    raise BadInput(f"{what} must be one number or {count}, got {short(value)}")


def finite(array: Array, what: str, detail: str = "") -> Array:
    """The same array, if all of it is finite; ``detail`` is put after the message."""
    if not np.isfinite(array).all():
        got = f", got {array.tolist()}" if array.size <= 6 else ""
        if not got and array.ndim > 1:
            got = which_rows(~np.isfinite(array).all(axis=-1))
        raise BadInput(f"{what} must be finite{detail}{got}")
    return array


def which_rows(wrong: Any) -> str:
    """The end of a message that says which rows (...) are wrong: the first three, and how many there are.

    >>> which_rows(np.array([False, True, True]))
    '; wrong are rows 1 and 2'
    """
    if not np.ndim(wrong):
        return ""
    rows = [str(i[0] if len(i) == 1 else tuple(i)) for i in np.argwhere(wrong)[:3].tolist()]
    count = int(np.count_nonzero(wrong))
    if count == 1:
        return f"; wrong is row {rows[0]}"
    if count <= 3:
        return f"; wrong are rows {', '.join(rows[:-1])} and {rows[-1]}"
    return f"; wrong are rows {', '.join(rows)} and {count - 3:,} more"


def leading_axes(*shapes: tuple[int, ...], what: str) -> tuple[int, ...]:
    """The leading axes that arrays broadcast to, from those of each.

    >>> leading_axes((7,), (3,), what="goals and start")
    Traceback (most recent call last):
    supple.errors.BadInput: goals and start have leading axes (7,) and (3,), which do not broadcast
    """
    try:
        return np.broadcast_shapes(*shapes)
    except (ValueError, RuntimeError):  # numpy raises the latter for too many axes
        several = " and ".join(str(shape) for shape in dict.fromkeys(shapes))
        raise BadInput(f"{what} have leading axes {several}, which do not broadcast") from None


def index(value: Any) -> Any:
    """An index for NumPy, as it is; IndexError for lists that NumPy cannot convert, or not within bounds."""
    for part in value if isinstance(value, tuple) else (value,):
        if isinstance(part, list | tuple):
            try:
                nesting.shape(part)
            except ValueError as error:
                raise IndexError(str(error)) from None
    return value


def no_such_index(index: object, shape: tuple[int, ...], what: str) -> IndexError:
    """The error of an index that NumPy refuses, of things with leading axes of a shape.

    >>> no_such_index(4, (4,), "solutions")
    IndexError('there are 4 solutions: [4] is none of them')
    """
    count = f"{shape[0]:,} {what}" if len(shape) == 1 else f"{what} of shape {shape}"
    return IndexError(f"there are {count}: [{short(index)}] is none of them")


def unit(vectors: Array) -> Array:
    """Vectors (..., n) at unit length; scaled first, so that neither huge nor tiny ones over- or underflow."""
    scaled = vectors / np.abs(vectors).max(axis=-1, keepdims=True, initial=0)
    length_one: Array = scaled / np.linalg.norm(scaled, axis=-1, keepdims=True)
    return length_one


def unit_vector(value: ArrayLike, size: int, what: str) -> Array:
    """Finite numbers (..., size) that are not all zero, scaled to length 1."""
    array = rows(value, size, what)
    if not array.any(axis=-1).all():
        raise BadInput(f"{what} must not be zero")
    return unit(array)


def known_options(elsewhere: Iterable[str] = (), line: str = "") -> Callable[[F], F]:
    """Decorator: an unknown keyword raises `UnknownOption` with near matches, instead of Python's `TypeError`.

    ``elsewhere`` are options that belong to a solver, and ``line`` is what to write for them, with {} for the name.
    """

    def decorated(function: F) -> F:
        known = [name for name in inspect.signature(function).parameters if name not in ("self", "cls")]

        @functools.wraps(function)
        def checked(*values: Any, **given: Any) -> Any:
            for name in given:
                if name not in known:
                    belongs = f"it belongs to the solver: write {line.format(name)}" if name in elsewhere else ""
                    raise unknown_option(function.__qualname__, name, known, belongs=belongs)
            return function(*values, **given)

        return checked  # type: ignore[return-value]

    return decorated


def _of(unit: str) -> str:
    return f" of {unit}" if unit else ""
