"""Robot: what the loop asks of a real arm, and a connection that reads and writes it in a thread of its own."""

from __future__ import annotations

import atexit
import inspect
import math
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, Literal, Protocol, get_args, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike

from supple import _check
from supple.errors import BadInput, SuppleError
from supple.frame import Array
from supple.linkage import Linkage
from supple.teleop.clock import checked_rate
from supple.teleop.command import Tick
from supple.teleop.gripper import GripperJoints
from supple.teleop.process import real_time_priority
from supple.teleop.readings import Reading, Readings

OnExit = Literal["hold", "release"]
MAX_AGE = 0.1
"""Seconds after which a reading is too old: the arm is held."""
LATCH_AFTER = 1.0
"""Seconds without a good reading, or of failures again and again, after which the arm must be armed again."""
SETTLE = 0.25
"""Seconds without a gap that must pass after a reading was too old until the arm is driven again."""
RETRY = 0.5
"""Seconds between two attempts to connect again."""
RATE = 100.0
"""Readings a second, unless the arm has an attribute ``rate``."""
_PROGRAM_ERRORS = (SuppleError, NameError, ImportError)
"""Errors of a function that connects which it would raise again, whatever is plugged in."""
_FARTHEST = 1e5  # rad or m; a joint value beyond it is an error of the reading
_CLOSING = 2.0  # s; how long the end waits for a bus that hangs


@runtime_checkable
class Robot(Protocol):
    """A real arm: any object with these two methods. All calls come from one thread, and may block that thread.

    It may also have

    - ``gripper``, an object with ``read() -> float`` and ``write(opening)``, 0 closed to 1 open,
    - ``hold()``: stop and keep the pose; called after a stop, and at the end,
    - ``release()``: torque off, for ``on_exit="release"``,
    - ``connect()``: open the bus again after a failure,
    - ``close()``: called last,
    - ``rate``: readings a second that the bus can do.
    """

    def read(self) -> ArrayLike:
        """The measured joint values (dof,), in the order and the units of the linkage: radians or metres."""
        ...

    def write(self, q: Array, /) -> object:
        """Moves towards joint values q (dof,), which are close to those before."""
        ...


class Lost(Exception):
    """There is no reading of the arm that is new enough."""


class Waiting(Lost):
    """The arm is not used yet, though nothing has failed: its first reading is on its way, or it has just returned."""


class _Mistake(BadInput):
    """The arm, or the function that connects to it, is not what is asked of it: to try again would not help."""


class Connection:
    """A robot that is read and written in a thread of its own, at the rate of its bus. Safe from any thread.

    What is written is always finite and within the limits of the linkage (or as far outside as the arm was when it
    began), and at most the distance away from the last that the speed limits allow in two periods of the bus. Nothing
    is written before the first valid reading, and nothing until `start` has taken over the measured pose. An arm that
    is suddenly elsewhere, or far from where it was sent, is not driven back: it must be armed again.
    """

    def __init__(
        self,
        robot: Robot | Callable[[], Robot],
        linkage: Linkage,
        links: Sequence[str] = (),
        *,
        rate: float | None = None,
        on_exit: OnExit = "hold",
    ) -> None:
        """Connects, in its thread.

        Args:
            robot: the arm, or a function that connects to it and returns it; it is called again after a failure.
            linkage: the linkage whose joint values the robot has.
            links: the driven links, whose grippers are opened.
            rate: readings and writes a second; by default ``robot.rate``, or 100.
            on_exit: at the end the arm is held ("hold", it keeps its pose) or its torque is switched off ("release").
        """
        _check.one_of(on_exit, "on_exit", get_args(OnExit))
        made = isinstance(robot, type) or not isinstance(robot, Robot)  # the class of an arm makes one
        if made and not callable(robot):
            raise BadInput(
                f"an arm has read() and write(q), or is a function that returns one; got {_check.short(robot)}"
            )
        if made:
            _check_no_arguments(robot)
        else:
            _check_robot(robot, on_exit)
        self._open: Callable[[], Any] | None = robot if made else getattr(robot, "connect", None)  # type: ignore[assignment]
        self._robot: Any = None if made else robot
        self._made, self._linkage, self._on_exit = made, _check.instance(linkage, Linkage, "linkage"), on_exit
        if not isinstance(links, Sequence) or isinstance(links, str):
            raise BadInput(f"links must be a sequence of names of links, got {_check.short(links)}")
        self.fingers = GripperJoints(linkage, [linkage.link(link).name for link in links])
        """The joint values that are grippers."""
        self._given_rate = None if rate is None else checked_rate(rate)
        self._readings = Readings(linkage, [int(k) for k in self.fingers.every])
        self._good, self._since = -math.inf, time.monotonic()  # the last good cycle; connected or trying since
        self._gap = -math.inf  # when a reading was last too old
        self._failed = self._failing_since = -math.inf  # the last failure; the first of those that follow each other
        self._error = ""
        self._epoch, self._started, self._lost = 0, -1, True
        self._armed = -math.inf  # when the arm was connected or armed last
        self._target: tuple[int, Array, float] | None = None
        self._written: tuple[Array, float] | None = None
        self._low, self._high = linkage.lower, linkage.upper
        self._holding = self._asked_to_hold = False
        self.latched = ""
        """Why the arm must be armed again: it was lost, fails again and again, or is elsewhere; else empty."""
        self.starts = 0
        """How often a loop has begun from the measured pose."""
        self.cycles = self.errors = 0
        self.mistake = ""
        """Why the arm cannot be used at all, as if it has another number of joint values; else empty.

        It is found until the first reading. The thread has ended then, and so does the loop.
        """
        self._answered = threading.Event()
        self._end, self._ended = threading.Event(), threading.Event()
        self._thread = threading.Thread(target=self._run, name="supple arm", daemon=True)
        atexit.register(self.close)
        self._thread.start()

    # -- for the loop: no method blocks -------------------------------------------------------------------------------

    @property
    def rate(self) -> float:
        """Readings a second."""
        if self._given_rate is not None:
            return self._given_rate
        try:
            return checked_rate(getattr(self._robot, "rate", RATE))
        except Exception:  # of an arm that cannot tell: its thread must go on
            return RATE

    @property
    def reading(self) -> Reading | None:
        """The newest reading; None before the first."""
        return self._readings.newest

    @property
    def state(self) -> str:
        """``"connecting"``, ``"connected"``, or the error because of which the newest reading is too old."""
        if self._error and time.monotonic() - self._good > MAX_AGE:
            return self._error
        return "connected" if self.reading else "connecting"

    def _wait_for_answer(self, seconds: float) -> None:
        """Waits for the first reading or the first failure, at most so long; raises `BadInput` for a `mistake`."""
        self._answered.wait(seconds)
        if self.mistake:
            raise BadInput(self.mistake)

    @property
    def needs_start(self) -> bool:
        """Whether the arm has been connected anew, so that the loop must begin where it is."""
        return self._started != self._epoch

    @property
    def _leads(self) -> bool:
        """Whether the arm is driven, so that it must be where it is led."""
        return self._started == self._epoch and not self.latched

    def measured(self) -> Array:
        """The measured joint values (dof,); raises `Lost` with the reason if the newest are too old."""
        now, reading = time.monotonic(), self.reading
        if reading is None:
            raise (Lost if self._error else Waiting)(f"no reading of the arm yet{_because(self._error)}")
        age = now - min(self._good, reading.t)
        if age > MAX_AGE:
            self._gap = now
            if age > LATCH_AFTER:
                self._latch(f"the arm was lost{_because(self._error)}")
            raise Lost(f"the arm does not answer{_because(self._error) or f' for {age:.1f} s'}")
        if now - self._gap < SETTLE:
            raise Waiting(f"waiting until the arm has answered for {SETTLE:g} s")
        return reading.q

    def start(self) -> tuple[Array, Array] | None:
        """The measured joint values (dof,) and grippers (links,) to begin with; None while the arm still moves.

        From then on `write` is obeyed.
        """
        self.measured()
        epoch, newest = self._epoch, self._readings.standing(self._armed)
        if newest is None:
            return None
        self._readings.begin(newest)
        self._low, self._high = np.minimum(self._linkage.lower, newest.q), np.maximum(self._linkage.upper, newest.q)
        self._target, self._written = None, (newest.q, newest.t)
        self._holding = self._asked_to_hold = False
        self._started = epoch
        self.starts += 1
        return newest.q, self._openings(newest)

    def _openings(self, reading: Reading) -> Array:
        """How far the grippers are open (links,), by their joint values or the arm's own gripper; nan if unknown."""
        openings = self.fingers.opening(reading.q)
        return np.where(np.isnan(openings), reading.gripper, openings)

    def write(self, tick: Tick) -> None:
        """Takes the joint values and the gripper of a tick; they are written as soon as the bus is free."""
        q = tick.step.q
        if self._started != self._epoch or not np.isfinite(q).all():
            return
        opening = float(tick.grippers[0]) if len(tick.grippers) else math.nan
        self._target = (self._epoch, self.fingers.put(q, tick.grippers), opening)

    def hold(self) -> None:
        """Calls the robot's own ``hold``, once, and writes nothing more until `start`."""
        self._asked_to_hold = True

    def arm(self) -> None:
        """Arms it again after it was lost or held: the loop begins anew from the measured pose."""
        self.latched = ""
        self._begin_epoch()

    def close(self) -> None:
        """Holds or releases the arm, as chosen, and ends the thread; waits for that, but not for a bus that hangs."""
        atexit.unregister(self.close)
        self._end.set()
        self._ended.wait(_CLOSING)

    def __repr__(self) -> str:
        return f"<Connection to {type(self._robot).__name__} at {self.rate:g} Hz: {self.state}>"

    # -- the thread ---------------------------------------------------------------------------------------------------

    def _run(self) -> None:
        due = time.monotonic()
        try:
            # as the loop: a thread that other programs interrupt while it holds Python's lock would stop the loop too
            with real_time_priority():
                while not self._end.is_set():
                    try:
                        self._cycle()
                    except Exception as error:  # the loop holds the arm and shows the error
                        if isinstance(error, _Mistake) and not self.cycles:
                            self.mistake = self._error = str(error)
                            break
                        self._fail(error)
                    self._answered.set()
                    due = max(due + 1 / self.rate, time.monotonic())
                    self._end.wait(max(due - time.monotonic(), 0.0))
        finally:
            self._answered.set()
            self._finish()
            self._ended.set()

    def _cycle(self) -> None:
        """Reads, and then writes what the loop wants."""
        now = time.monotonic()
        if self._robot is None or (self._open is not None and self._lost and now - self._since > RETRY and self._error):
            self._since = now
            self._connect()
        q, gripper = self._read()
        if self._lost:
            self._lost = False
            self._begin_epoch()
        elsewhere = self._readings.add(Reading(time.monotonic(), q, gripper), self._leads)
        if elsewhere:
            self._latch(elsewhere)
            self.hold()  # its last target is elsewhere too
        self._write()
        now = time.monotonic()
        if self.cycles and now - self._good > MAX_AGE:  # also if the loop was too late to notice
            self._gap = now
        self._good, self._error = now, ""
        self.cycles += 1

    def _begin_epoch(self) -> None:
        """The loop must begin anew, by readings from now on: the arm may have been moved since the last."""
        self._armed = time.monotonic()
        self._epoch += 1

    def _connect(self) -> None:
        if self._open is None:
            return
        if self._made and self._robot is not None:
            with suppress(Exception):
                getattr(self._robot, "close", lambda: None)()
        try:
            opened = self._open()
            if not self._made:
                return
            if not isinstance(opened, Robot):
                raise BadInput(
                    "the function that connects must return an arm with read() and write(q), "
                    f"got {_check.short(opened)}"
                )
            _check_robot(opened, self._on_exit)
        except _PROGRAM_ERRORS as error:
            said = str(error) if isinstance(error, SuppleError) else f"{type(error).__name__}: {error}"
            raise _Mistake(said) from error
        self._robot = opened

    def _read(self) -> tuple[Array, float]:
        value = self._robot.read()
        q: Array = np.array(value, dtype=float)
        if q.shape != (self._linkage.dof,) or not (np.abs(q) < _FARTHEST).all():
            other = value is not None and q.size > 0 and q.shape != (self._linkage.dof,)  # and not "none yet"
            raise (_Mistake if other else BadInput)(
                f"read() must return {self._linkage.dof} joint values ({', '.join(self._linkage.names)}), "
                f"got {_check.short(value)}"
            )
        gripper = getattr(self._robot, "gripper", None)
        opening = math.nan if gripper is None else float(gripper.read())
        return q, min(max(opening, 0.0), 1.0) if math.isfinite(opening) else math.nan

    def _write(self) -> None:
        target, written = self._target, self._written
        if self._asked_to_hold and not self._holding:
            self._holding = True
            if hasattr(self._robot, "hold"):
                self._robot.hold()
        if target is None or written is None or target[0] != self._epoch or self._holding or self.latched:
            return
        now = time.monotonic()
        q = np.clip(self._near(target[1], written, now), self._low, self._high)
        self._robot.write(q)
        self._written = (q, now)
        self._readings.wrote(now, q)
        gripper = getattr(self._robot, "gripper", None)
        if gripper is not None and not math.isnan(target[2]):
            gripper.write(target[2])

    def _near(self, q: Array, written: tuple[Array, float], now: float) -> Array:
        """Joint values q (dof,), as far as the speed limits allow since the last write, of two periods at most."""
        last, when = written
        way = self._linkage.speed * min(now - when, 2 / self.rate)
        near: Array = np.clip(q, last - way, last + way)
        return near

    def _fail(self, error: Exception) -> None:
        self.errors += 1
        try:
            self._error = f"{type(error).__name__}: {error}"[:200]
        except Exception:  # an error that cannot be printed
            self._error = type(error).__name__
        now = time.monotonic()
        if now - self._failed > LATCH_AFTER:
            self._failing_since = now
        self._failed = now
        if now - self._good > MAX_AGE:
            if not self._lost:
                self._lost, self._since = True, now
            if now - self._failing_since > LATCH_AFTER:
                self._latch(f"the arm fails again and again: {self._error}")
            self._target = None
            self._end.wait(min(RETRY, 10 / self.rate))

    def _latch(self, why: str) -> None:
        """The arm must be armed again, if it was driven."""
        if not self.latched and self._started >= 0:
            self.latched = why

    def _finish(self) -> None:
        """Leaves the arm as ``on_exit`` says, as far as it can still be reached."""
        with suppress(Exception):
            self._write()  # where the loop has brought it to rest
        for name in ("release" if self._on_exit == "release" else "hold", "close"):
            act = getattr(self._robot, name, None)
            if act is not None:
                with suppress(Exception):
                    act()


def _check_no_arguments(connect: Any) -> None:
    try:
        signature = inspect.signature(connect)
    except (TypeError, ValueError):  # of some functions that are not written in Python
        return
    try:
        signature.bind()
    except TypeError as error:
        name = getattr(connect, "__name__", "the function that connects")
        raise BadInput(f"{name}() is called without arguments to connect to the arm: {error}") from None


def _check_robot(robot: Any, on_exit: str) -> None:
    if on_exit == "release" and not callable(getattr(robot, "release", None)):
        raise BadInput(f"on_exit='release' needs an arm with release(), got {_check.short(robot)}")
    gripper = getattr(robot, "gripper", None)
    if gripper is not None and not isinstance(gripper, Robot):
        raise BadInput(f"the gripper of an arm has read() and write(opening), got {_check.short(gripper)}")


def _because(error: str) -> str:
    return f": {error}" if error else ""
