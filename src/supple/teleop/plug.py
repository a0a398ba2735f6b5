"""Plug: what the loop asks of a real arm, and how one is connected and connected again."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any, Literal, Protocol, get_args, runtime_checkable

from numpy.typing import ArrayLike

from supple import _check
from supple.errors import BadInput, SuppleError
from supple.frame import Array
from supple.teleop import arm_input
from supple.teleop.arm_input import Mistake, described

OnExit = Literal["hold", "release"]
_PROGRAM_ERRORS = (SuppleError, NameError, ImportError)
"""Errors of a function that connects which it would raise again, whatever is plugged in."""


@runtime_checkable
class Robot(Protocol):
    """A real arm: any object with these two methods. All calls come from one thread, and may block that thread.

    It may also have

    - ``gripper``, an object with ``read() -> float`` and ``write(opening)``, 0 closed to 1 open,
    - ``hold()``: stop and keep the pose; called after a stop, and at the end,
    - ``release()``: torque off, for ``on_exit="release"``,
    - ``connect()``: open the bus again after a failure,
    - ``close()``: called last,
    - ``rate``: readings per second that the bus can do,
    - ``limited``: why it does not go where it is sent, as at the limit of a motor; else empty.
    """

    def read(self) -> ArrayLike:
        """The measured joint values (dof,), in the order and the units of the linkage: radians or metres."""
        ...

    def write(self, q: Array, /) -> object:
        """Moves towards joint values q (dof,), which are close to those before."""
        ...


class Plug:
    """An arm, or the function that connects to it."""

    def __init__(self, robot: Robot | Callable[[], Robot], on_exit: OnExit) -> None:
        """For an arm, or a function that returns one; ``on_exit`` is what it must be able to do at the end."""
        _check.one_of(on_exit, "on_exit", get_args(OnExit))
        made = isinstance(robot, type) or not isinstance(robot, Robot)  # the class of an arm makes one
        if made and not callable(robot):
            raise BadInput(
                f"an arm has read() and write(q), or is a function that returns one; got {_check.short(robot)}"
            )
        if made:
            arm_input.check_connect(robot)
        else:
            arm_input.check_arm(robot, on_exit)
        self._open: Callable[[], Any] | None = robot if made else getattr(robot, "connect", None)  # type: ignore[assignment]
        self._made, self.on_exit = made, on_exit
        self.arm: Any = None if made else robot
        """The arm; None before it is connected, and after it was closed."""

    @property
    def opens(self) -> bool:
        """Whether it can be connected again."""
        return self._open is not None

    def connect(self) -> None:
        """Connects, after the arm that a function returned before is closed; raises `Mistake` for one that never will.

        If it fails there is no arm: one that was closed is not used any more.
        """
        if self._open is None:
            return
        if self._made and self.arm is not None:
            closed, self.arm = self.arm, None
            with suppress(Exception):
                getattr(closed, "close", lambda: None)()
        try:
            opened = self._open()
            if not self._made:
                return
            if not isinstance(opened, Robot):
                raise BadInput(
                    "the function that connects must return an arm with read() and write(q), "
                    f"got {_check.short(opened)}"
                )
            arm_input.check_arm(opened, self.on_exit)
        except _PROGRAM_ERRORS as error:
            raise Mistake(str(error) if isinstance(error, SuppleError) else described(error)) from error
        self.arm = opened
