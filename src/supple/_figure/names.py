"""Names of links in animation files: each stands once."""

from __future__ import annotations

from collections.abc import Iterable


class Names:
    """Names that are taken."""

    def __init__(self, taken: Iterable[str] = ()) -> None:
        self._taken = set(taken)
        self._last: dict[str, int] = {}  # number that a name got last, so that many equal names take linear time

    def fresh(self, name: str) -> str:
        """The name, with a number after it if it is taken; it is taken from now on.

        >>> names = Names(["arm"])
        >>> names.fresh("arm"), names.fresh("arm"), names.fresh("leg")
        ('arm_2', 'arm_3', 'leg')
        """
        free, number = name, self._last.get(name, 1)
        while free in self._taken:
            number += 1
            free = f"{name}_{number}"
        self._last[name] = number
        self._taken.add(free)
        return free
