"""The timed loop: command to goal to joint values, at a fixed rate, with a watchdog."""

from __future__ import annotations

import math
import threading
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack, nullcontext

import numpy as np
from numpy.typing import ArrayLike

from supple import _check
from supple._solve.arguments import start_values
from supple._solve.goal_error import goal_frame
from supple.errors import BadInput
from supple.frame import Array, Frame
from supple.teleop.adapters import CommandLike, sink_of, source_of
from supple.teleop.clock import Clock, Timer
from supple.teleop.command import Command, Sink, Source, Tick
from supple.teleop.mapping import Mapping
from supple.teleop.process import low_latency, stop_on_interrupt
from supple.teleop.statistics import Statistics
from supple.teleop.steering import Steering
from supple.teleop.watchdog import Silent, Watchdog
from supple.tracker import Tracker

_BRAKE_TIMEOUT = 1.0  # s; the loop ends after this time even if the arm still moves
_REST_SPEED = 1e-6  # joint speed, per second, that counts as rest


def drive(
    source: Source | Iterable[CommandLike],
    mapping: Mapping | Sequence[Mapping],
    tracker: Tracker,
    sink: Sink | Callable[[Tick], object],
    rate: float = 300.0,
    *,
    seconds: float | None = None,
    patience: float = 0.25,
    measured: Callable[[], ArrayLike | None] | None = None,
    clock: Timer | None = None,
) -> Statistics:
    """Drives an arm in real time until the source ends, `seconds` have passed, or Ctrl-C.

    Then the arm brakes, and source and sink are closed. The arguments are those of `Loop`, which also says when the arm
    is held.

    >>> from supple import Frame, Solver, models
    >>> from supple.teleop import Mapping, drive
    >>> tracker, sent = Solver().track(models.ur5(), "tool0"), []
    >>> hands = (Frame.at([0, 0.001 * k, 0]) for k in range(30))
    >>> statistics = drive(hands, Mapping(scale=0.5), tracker, lambda tick: sent.append(tick.step.q))
    >>> len(sent) == statistics.ticks > 0
    True
    """
    return Loop(source, mapping, tracker, sink, rate, patience=patience, measured=measured, clock=clock).run(seconds)


class Loop:
    """A loop from an operator to an arm. It runs once: in this thread by `run`, or in its own by `start`.

    Tick k is due k / rate seconds after the beginning, whatever happened before it, so the rate does not drift. A tick
    that is late by a whole period is skipped and its time is added to the next time step; there is no catching up.

    The arm is held (braked, then at rest) while the loop is paused, while the source raises or is silent for
    `patience` seconds, and while the commands are stale or invalid (see `Watchdog`). The next valid command ends the
    hold. Then each goal starts from the end effector's current frame, and an engaged hand is engaged again from its
    current frame, so nothing jumps.
    """

    statistics: Statistics
    """Counts of the loop so far; may be read at any time."""

    def __init__(
        self,
        source: Source | Iterable[CommandLike],
        mapping: Mapping | Sequence[Mapping],
        tracker: Tracker,
        sink: Sink | Callable[[Tick], object],
        rate: float = 300.0,
        *,
        patience: float = 0.25,
        measured: Callable[[], ArrayLike | None] | None = None,
        clock: Timer | None = None,
    ) -> None:
        """A loop that has not begun.

        Args:
            source: where commands come from: a `Source`, or any iterable of frames or commands.
            mapping: how the hand moves the goal; for several links, one mapping for each.
            tracker: of one arm. When the loop begins, it is reset to its joint values, at rest.
            sink: where ticks go: a `Sink`, or any function of a `Tick`.
            rate: ticks a second.
            patience: how long the operator may be silent or late, in seconds.
            measured: returns the measured joint values of the arm (dof,), or None; see `Tracker.step`. It must not
                block.
            clock: a clock in place of the machine's.
        """
        self._rate, patience = _check.positive(rate, "rate"), _check.positive(patience, "patience")
        mappings = [mapping] if isinstance(mapping, Mapping) else list(mapping)
        self._steering = Steering(mappings)
        self._tracker = _checked(tracker, len(mappings))
        self._source, self._sink = source_of(source), sink_of(sink)
        self._measured, self._clock = measured, Clock() if clock is None else clock
        self._watchdog = Watchdog(patience, len(mappings))
        self.statistics = Statistics(self._rate)
        self._q: Array = np.array(tracker.q)
        self._requests: deque[Callable[[], None]] = deque([lambda: self._reset(self._q)])
        self._begin: Array | None = None  # joint values to which the tracker was reset in this tick
        self._command: Command | None = None
        self._no_goals = np.full((len(mappings), 4, 4), np.nan)
        self._no_goals.flags.writeable = False
        self._restart_goals = True  # whether the goals must start from the end effectors
        self._paused = ""
        self._held = "not begun"
        self._at_rest = True
        self._stopping = False
        self._begun = threading.Lock()
        self._ended = threading.Event()
        self._runner: threading.Thread | None = None  # the thread it runs in
        self._thread: threading.Thread | None = None  # its own thread, if it has one
        self._failed: BaseException | None = None

    # -- control, from any thread --------------------------------------------------------------------------------------

    @property
    def held(self) -> str:
        """Why the arm is held; empty while it is not."""
        return self._held

    @property
    def running(self) -> bool:
        """Whether it has begun and not ended."""
        return self._runner is not None and not self._ended.is_set()

    def start(self) -> None:
        """Begins, in its own thread."""
        self._start_once()
        self._thread = threading.Thread(target=self._run, args=(math.inf,), name="supple teleop", daemon=True)
        self._runner = self._thread
        self._thread.start()

    def run(self, seconds: float | None = None) -> Statistics:
        """Runs in this thread until `stop`, the end of the source, `seconds` have passed, or Ctrl-C."""
        if not (seconds is None or seconds > 0):  # inf is allowed
            raise BadInput(f"seconds must be positive, got {seconds!r}")
        self._start_once()
        self._runner = threading.current_thread()
        self._run(math.inf if seconds is None else seconds)
        return self.statistics

    def pause(self, why: str = "paused") -> None:
        """Holds the arm from the next tick on. The loop keeps ticking."""
        self._paused = why or "paused"

    def resume(self) -> None:
        """Ends a pause: the goals start from the end effectors."""
        self._paused = ""

    def reset(self, q: ArrayLike) -> None:
        """Sets the joint values to q (dof,), at rest, in the next tick. Only for simulated arms: they jump there."""
        begin = start_values(self._tracker.linkage, q)
        if begin.ndim != 1:
            raise BadInput(f"q must have shape ({self._tracker.linkage.dof},), not {begin.shape}")
        self._requests.append(lambda: self._reset(begin))

    def use(self, tracker: Tracker) -> None:
        """Uses another tracker, of the same linkage and number of links, from the next tick on, starting at rest.

        A moving arm is stopped in that tick, so bring a real arm to rest first, with `pause`.
        """
        _checked(tracker, len(self._tracker.goals))
        if tracker.linkage.names != self._tracker.linkage.names:
            raise BadInput("the new tracker must be of the same linkage")
        self._requests.append(lambda: self._use(tracker))

    def stop(self) -> Statistics:
        """Brakes the arm, ends the loop, closes source and sink, and waits for that.

        Raises the exception that ended the loop, if one did. Called from the loop's thread it only requests the end.
        """
        self._stop()
        if self._begun.acquire(blocking=False):  # it has not begun
            self._close()
            self._ended.set()
        elif self._runner is not threading.current_thread():
            self._ended.wait()
            if self._thread is not None:
                self._thread.join()
            if self._failed is not None:
                raise self._failed
        return self.statistics

    def __enter__(self) -> Loop:
        self.start()
        return self

    def __exit__(self, *raised: object) -> None:
        self.stop()

    # -- ticks ---------------------------------------------------------------------------------------------------------

    def _run_ticks(self, seconds: float) -> None:
        clock, rate, statistics = self._clock, self._rate, self.statistics
        start, number, last, end = clock.now(), 0, -1, math.inf
        while True:
            clock.wait(start + number / rate)
            now = clock.now()
            late = now - start - number / rate
            due = max(number, int((now - start) * rate))
            statistics.skipped += due - number
            statistics.missed += due - number
            number = due
            if self._stopping or number >= seconds * rate:
                self._stopping = True
                end = min(end, now + _BRAKE_TIMEOUT)
                if self._at_rest or now > end:
                    return
            self._tick(number, (number - last) / rate, now, max(now - start - number / rate, 0.0))
            done = clock.now()
            statistics.count(late)
            statistics.work_seconds += done - now
            statistics.seconds = done - start
            last, number = number, number + 1
            statistics.missed += done - start > number / rate

    def _tick(self, number: int, dt: float, now: float, late: float) -> None:
        self._begin = None
        while self._requests:
            self._requests.popleft()()
        fresh, source_silent, source_failure = self._read_command(now)
        measured, arm_failure = self._read_measured()
        self.statistics.failures += bool(source_failure) + bool(arm_failure)
        held = self._paused or source_failure or arm_failure or source_silent or self._watchdog.reason(now)
        self._held = held = "stopping" if self._stopping else held
        goals, stamp = self._hold() if held else self._steer(fresh, now)
        before = self._clock.now()
        step = self._tracker.step(
            goals[0] if len(goals) == 1 else list(goals), dt, None if math.isnan(stamp) else stamp, measured
        )
        self.statistics.tracker_seconds += self._clock.now() - before
        self._q = step.q
        self._at_rest = not (np.abs(step.velocity) > _REST_SPEED).any()
        t = number / self._rate
        self._sink.write(
            Tick(number, t, dt, late, self._command, fresh, goals, stamp, measured, step, held, self._begin)
        )

    def _hold(self) -> tuple[Array, float]:
        """Goals (links, 4, 4) of nan, with which the tracker brakes, and no stamp."""
        if not self._stopping:
            self.statistics.holds += not self._restart_goals
            self.statistics.held += 1
            self.statistics.hold_reason = self._held
        self._restart_goals = True
        return self._no_goals, math.nan

    def _steer(self, fresh: bool, now: float) -> tuple[Array, float]:
        """Goals (links, 4, 4) for the newest command, and its stamp."""
        if self._restart_goals:
            self._steering.begin(self._end_effector_frames())
        if self._command is not None and (fresh or self._restart_goals):
            self._steering.apply(self._command, now)
        self._restart_goals = False
        return self._steering.goals, self._steering.stamp

    def _read_command(self, now: float) -> tuple[bool, str, str]:
        """Whether a new valid command has arrived, why the operator is silent, and the error if the source failed."""
        try:
            command = self._source.read()
        except StopIteration:
            self._stopping = True
            return False, "", ""
        except Silent as silent:
            return False, str(silent), ""
        except Exception as error:  # hold the arm, keep the loop running
            return False, "", f"the source failed: {type(error).__name__}: {error}"
        if command is None or not self._watchdog.accept(command, now):
            return False, "", ""
        self._command = command
        return True, "", ""

    def _read_measured(self) -> tuple[Array | None, str]:
        """The measured joint values (dof,), and the error if they could not be read."""
        if self._measured is None:
            return None, ""
        try:
            value = self._measured()
            if value is None:
                return None, ""
            q: Array = np.array(value, dtype=float)
        except Exception as error:  # hold the arm, keep the loop running
            return None, f"the arm cannot be read: {type(error).__name__}: {error}"
        if q.shape != self._q.shape or not np.isfinite(q).all():
            return None, f"the arm's joint values must be {self._q.size} finite numbers"
        return q, ""

    def _end_effector_frames(self) -> Array:
        """Current frames of the end effectors (links, 4, 4)."""
        linkage = self._tracker.linkage
        frames = [goal_frame(linkage, goal, self._q) @ Frame.at(goal.point) for goal in self._tracker.goals]
        return np.array([frame.matrix for frame in frames])

    def _reset(self, q: Array) -> None:
        self._tracker.reset(q)
        self._q = self._begin = np.array(q)
        self._restart_goals = self._at_rest = True

    def _use(self, tracker: Tracker) -> None:
        self._tracker = tracker
        tracker.reset(self._q)
        self._begin = np.array(self._q)

    # -- beginning and end ---------------------------------------------------------------------------------------------

    def _stop(self) -> None:
        self._stopping = True

    def _start_once(self) -> None:
        if not self._begun.acquire(blocking=False):
            raise BadInput("a loop runs once, because it closes its source and sink; make a new one")

    def _run(self, seconds: float) -> None:
        try:
            try:
                # no real-time priority with a simulated clock: it never sleeps and would block the machine
                latency = low_latency() if isinstance(self._clock, Clock) else nullcontext()
                with latency, stop_on_interrupt(self._stop):
                    self._run_ticks(seconds)
            finally:
                self._close()
        except BaseException as error:
            self._failed = error  # raised again by stop
            raise
        finally:
            self._ended.set()

    def _close(self) -> None:
        self._held = "ended"
        with ExitStack() as stack:  # closes both, even if one raises
            stack.callback(self._sink.close)
            stack.callback(self._source.close)


def _checked(tracker: Tracker, mappings: int) -> Tracker:
    if not (isinstance(tracker, Tracker) and tracker._single):
        raise BadInput(f"tracker must be a Tracker of one arm, got {tracker!r}")
    if len(tracker.goals) != mappings:
        raise BadInput(f"one mapping for each link is needed: {len(tracker.goals)} links, {mappings} mappings")
    if any(goal.axis is not None for goal in tracker.goals):
        raise BadInput("a command has whole frames: track a link, or a goal without an axis")
    return tracker
