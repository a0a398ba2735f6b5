"""Exceptions: mistakes of the caller, raised before any work is done."""

from __future__ import annotations

import difflib
import itertools
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from supple.solution import Solution

__all__ = [
    "BadInput",
    "BadLinkage",
    "DeviceError",
    "Interrupted",
    "MissingExtra",
    "SuppleError",
    "UnknownName",
    "UnknownOption",
]


class SuppleError(Exception):
    """Base class of the exceptions of supple.

    >>> import supple
    >>> try:
    ...     supple.Solver(max_step=-1)
    ... except supple.SuppleError as error:
    ...     print(error)
    max_step must be positive, got -1
    """


class BadLinkage(SuppleError, ValueError):
    """A file, table or list of joints that is not a linkage.

    >>> from supple import BadLinkage, Joint, Linkage
    >>> try:
    ...     Linkage("ring", [Joint.revolute("a", "b", "b")])
    ... except BadLinkage as error:
    ...     print(error.element)
    joint 'a'

    Attributes:
        reason: what is wrong and what was expected, without the place.
        element: the joint or link it is about, such as ``joint 'elbow'``; empty when it is about the whole.
        file: path of the file, or empty when the linkage was built by hand.
        line: line in that file, 0 when unknown.
    """

    def __init__(self, reason: str, *, element: str = "", file: str = "", line: int = 0) -> None:
        self.reason, self.element, self.file, self.line = reason, element, file, line
        place = f"{file}:{line}" if file and line else file
        super().__init__(": ".join(part for part in (place, element, reason) if part))

    def __reduce__(self) -> tuple[object, ...]:
        return _bad_linkage, (self.reason, self.element, self.file, self.line)


def _bad_linkage(reason: str, element: str, file: str, line: int) -> BadLinkage:
    return BadLinkage(reason, element=element, file=file, line=line)


class BadInput(SuppleError, ValueError):
    """An argument of the wrong shape, type or range, or one that is not finite.

    >>> import supple
    >>> supple.Solver(max_step=-1)
    Traceback (most recent call last):
    supple.errors.BadInput: max_step must be positive, got -1
    """


class UnknownOption(BadInput, TypeError):
    """A keyword that a class or a function does not have; the message has near matches, or its new name.

    >>> import supple
    >>> supple.Solver(iteratons=50)
    Traceback (most recent call last):
    supple.errors.UnknownOption: Solver has no option 'iteratons'; did you mean max_iterations?
    """


class UnknownName(SuppleError, KeyError):
    """A joint, link, method, file format or bundled model that does not exist; the message has near matches.

    >>> import supple
    >>> supple.method.get("dampd")
    Traceback (most recent call last):
    supple.errors.UnknownName: no method named 'dampd'; did you mean 'damped'?
    """

    __str__ = Exception.__str__  # a KeyError would show its message in quotes


class MissingExtra(SuppleError, ImportError):
    """An optional package is not installed; the message says what to install.

    >>> from supple.errors import missing_extra
    >>> raise missing_extra("plot", "drawing")
    Traceback (most recent call last):
    supple.errors.MissingExtra: drawing needs an optional package: pip install 'supple[plot]'
    """


class DeviceError(SuppleError, RuntimeError):
    """A GPU that cannot be used: no driver, an old one, no GPU, too little memory, or a failure on the GPU itself.

    >>> import supple
    >>> try:
    ...     supple.solve(arm, goals_on_the_gpu)  # doctest: +SKIP
    ... except supple.DeviceError as error:
    ...     print(error)
    """


class Interrupted(KeyboardInterrupt):
    """Ctrl-C during a long solve.

    >>> import supple
    >>> arm = supple.models.panda()
    >>> goals = supple.Goal("panda_hand_tcp", arm.frame(arm.random(100, seed=0), "panda_hand_tcp"))
    >>> try:
    ...     found = supple.solve(arm, goals)
    ... except supple.Interrupted as interrupted:
    ...     found = interrupted.found
    """

    found: Solution
    """The solution so far; rows that were not done are OUT_OF_BUDGET and hold their start."""

    def __init__(self, found: Solution) -> None:
        self.found = found
        super().__init__(f"interrupted: {found._counts()}")


_MOST_COMPARED, _LONGEST_COMPARED = 2000, 100


def near_matches(name: str, known: Iterable[str], cutoff: float = 0.6) -> list[str]:
    """Up to three names like a misspelt one, best first. The beginning of a name counts, and words in another order.

    >>> near_matches("tol", ["timeout", "tolerance"]), near_matches("slack_turn", ["slack", "turn_slack"])
    (['tolerance'], ['turn_slack', 'slack'])
    """
    first = itertools.islice(known, _MOST_COMPARED)  # files have any number of names, of any length
    scores = {each: _likeness(name[:_LONGEST_COMPARED].lower(), each[:_LONGEST_COMPARED].lower()) for each in first}
    return sorted((each for each in scores if scores[each] >= cutoff), key=lambda each: -scores[each])[:3]


def _likeness(given: str, known: str) -> float:
    """From 0 to 1: 1 for the same words in any order, 0.8 and more for a prefix, else the ratio of equal characters."""
    if sorted(given.split("_")) == sorted(known.split("_")):
        return 1.0
    ratio = difflib.SequenceMatcher(None, given, known).ratio()
    return max(ratio, 0.8 + 0.1 * ratio) if len(given) >= 3 and known.startswith(given) else ratio


def _is_long(value: list[Any] | tuple[Any, ...]) -> bool:
    """Whether nested lists have more than 10,000 entries: lists that hold one list many times may have any number."""
    count, waiting = 0, [value]
    while waiting and count <= 10_000:
        entries = waiting.pop()
        count += len(entries)
        waiting.extend(entry for entry in entries[:10_000] if isinstance(entry, list | tuple))
    return count > 10_000


def short(value: object) -> str:
    """The text of a value in a message, at most 100 characters; that of large collections is their size."""
    if isinstance(value, list | tuple | dict | set | frozenset) and len(value) > 1000:
        return f"a {type(value).__name__} of {len(value):,}"
    if isinstance(value, list | tuple) and _is_long(value):
        return f"a {type(value).__name__} of {len(value):,}, nested"
    if isinstance(value, str | bytes | bytearray) and len(value) > 1000:
        value = value[:1000]
    try:
        shown = repr(value)
    except Exception:  # of a class that has its own, or a whole number of more than 4,300 digits
        return f"a value of type {type(value).__name__}"
    return shown if len(shown) <= 100 else shown[:97] + "..."


def unknown(what: str, name: object, known: Iterable[str]) -> UnknownName:
    """An `UnknownName` that names what came and the nearest of what is known."""
    names = list(known)
    near = near_matches(name[:100], names, cutoff=0.5) if isinstance(name, str) else []
    if near:
        hint = "did you mean " + " or ".join(short(n) for n in near) + "?"
    else:
        more = f" and {len(names) - 12} more" if len(names) > 12 else ""
        hint = "known: " + ", ".join(short(n) for n in names[:12]) + more if names else "none exist"
    return UnknownName(f"no {what} named {short(name)}; {hint}")


SYNONYMS = {
    "accel": "acceleration",
    "initial": "start",
    "location": "at",
    "max": "upper",
    "min": "lower",
    "origin": "at",
    "q": "start",
    "q0": "start",
    "q_init": "start",
    "seed": "start",
    "velocity": "speed",
}
"""Words of other libraries for options."""


def unknown_option(
    owner: str, name: str, known: Iterable[str], renamed: Mapping[str, str] | None = None, belongs: str = ""
) -> UnknownOption:
    """An `UnknownOption` that names what came, and the nearest of what is known or was renamed.

    ``belongs`` is the line to write, if the option belongs elsewhere.
    """
    names, renamed = list(known), renamed or {}
    if belongs:
        return UnknownOption(f"{owner} has no option {name!r}; {belongs}")
    if SYNONYMS.get(name) in names:
        return UnknownOption(f"{owner} has no option {name!r}; did you mean {SYNONYMS[name]}?")
    if name in renamed:
        unit = ", in seconds" if renamed[name] == "timeout" else ""
        return UnknownOption(f"option `{name}` of {owner} is now `{renamed[name]}`{unit}")
    found = near_matches(name, [*names, *renamed])
    near = list(dict.fromkeys(renamed.get(each, each) for each in found))
    hint = f"did you mean {' or '.join(near)}?" if near else f"it has {', '.join(names)}"
    return UnknownOption(f"{owner} has no option {name!r}; {hint}")


def missing_extra(extra: str, purpose: str) -> MissingExtra:
    """A `MissingExtra` that says which extra of supple to install, and what for."""
    return MissingExtra(f"{purpose} needs an optional package: pip install 'supple[{extra}]'")


def __dir__() -> list[str]:
    return sorted(__all__)
