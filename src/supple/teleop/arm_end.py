"""How a real arm is left at the end: held or released, then closed; and what of that failed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from supple.teleop.arm_input import described


def leave(arm: Any, on_exit: str, last_write: Callable[[], None]) -> str:
    """Writes the last target, holds or releases the arm, and closes it; returns what failed, else an empty text.

    An arm that cannot be released is held.
    """
    failures: list[str] = []

    def done(act: Callable[[], object] | None, name: str) -> bool:
        if act is None:
            return False
        try:
            act()
        except BaseException as error:  # the rest must still be done
            failures.append(f"{name} failed: {described(error)}")
            return False
        return True

    if arm is None:
        return ""
    done(last_write, "the last write")
    if on_exit == "release" and not done(getattr(arm, "release", None), "release()"):
        if done(getattr(arm, "hold", None), "hold()"):
            failures.append("the arm is held instead")
    elif on_exit != "release":
        done(getattr(arm, "hold", None), "hold()")
    done(getattr(arm, "close", None), "close()")
    return "; ".join(failures)
