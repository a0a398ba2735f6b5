"""Ticker: one tick of a loop: the newest command to goals to joint values, or a hold with its reason."""

from __future__ import annotations

import math
import threading
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from supple.frame import Array
from supple.teleop.adapters import command_of
from supple.teleop.clock import Timer
from supple.teleop.command import Command, Sink, Source, Tick
from supple.teleop.goals import GoalFrames
from supple.teleop.joint_move import JointMove
from supple.teleop.reachable import ReachableTurns
from supple.teleop.robot import Connection, Lost, Waiting
from supple.teleop.statistics import Statistics
from supple.teleop.steering import Steering
from supple.teleop.watchdog import Silent, Watchdog
from supple.tracker import Tracker

_REST_SPEED = 1e-6  # joint speed, per second, that counts as rest
_BRAKING, _STANDING = "braking: the arm was connected again", "waiting until the arm stands"
_BEHIND = 0.2  # rad or m; a move waits for a measured arm that is farther behind


@dataclass
class Move:
    """Something to do once the arm stands: joint values to move to, and what to do then."""

    why: str
    """Shown while it lasts."""
    q: Array | None
    """Joint values (dof,) to move to; None to stay where the arm has come to rest."""
    speed: float
    """Share of the speed and acceleration limits that is used, up to 1."""
    done: Callable[[], None]
    """Called in the loop's thread when it is there."""
    motion: JointMove | None = None
    cancelled: bool = False
    """Whether it should end as soon as the arm has braked."""


class Ticker:
    """The state of a loop from tick to tick, and what a tick does. All but the requests is used by one thread."""

    def __init__(
        self,
        source: Source,
        steering: Steering,
        tracker: Tracker,
        sink: Sink,
        watchdog: Watchdog,
        statistics: Statistics,
        clock: Timer,
        measured: Callable[[], ArrayLike | None] | None,
        arm: Connection | None,
    ) -> None:
        self._source, self._steering, self._sink, self._watchdog = source, steering, sink, watchdog
        self._statistics, self._clock, self._measured, self.arm = statistics, clock, measured, arm
        self._take(tracker)
        self.q: Array = np.array(tracker.q)
        self.requests: deque[Callable[[], None]] = deque([lambda: self.reset(self.q)])
        """Done at the beginning of the next tick."""
        self.moves: deque[Move] = deque()
        """Done one after the other, each when the arm stands."""
        self.paused = self.stopped = ""
        self._stops, self._latch = 0, threading.Lock()
        self._rearming = -1  # the number of the stop that is to be ended
        self.failure: BaseException | None = None
        """The error because of which the loop ends: the arm brakes, and source and sink are used no more."""
        self.held = "not begun"
        self.at_rest, self.stopping = True, False
        self._back = True  # whether no joint of the arm is on its way back into its limits
        self._begin: Array | None = None  # joint values to which the tracker was reset in this tick
        self._command: Command | None = None
        self._no_goals = np.full((len(tracker.goals), 4, 4), np.nan)
        self._no_goals.flags.writeable = False
        self._restart_goals = True  # whether the goals must start from the end effectors

    # -- stop, from any thread ----------------------------------------------------------------------------------------

    def stop(self, why: str) -> None:
        """Stops the arm until `rearm`, and ends the moves that were requested."""
        with self._latch:
            self._stops += 1
            self.stopped = why
            self.cancel()

    def cancel(self, why: str | None = None) -> None:
        """Ends the moves with this reason, or all. What is done where the arm stands, as a change of method, is not."""
        for move in list(self.moves):
            move.cancelled |= move.q is not None and why in (None, move.why)

    def rearm(self) -> None:
        """Ends a stop as soon as the joints stand, unless there is another stop until then."""
        self._rearming = self._stops

    @property
    def stays_stopped(self) -> str:
        """Why the arm is stopped, unless it is being armed again; else empty."""
        with self._latch:
            return "" if self._rearming == self._stops else self.stopped

    def _end_stop(self) -> None:
        """Ends a stop if that was requested. A real arm must stand first: what is written to it ends at once."""
        with self._latch:
            if self._rearming != self._stops or (self.arm is not None and not self.at_rest):
                return
            self._rearming = -1
            if self.arm is not None and (self.stopped or self.arm.latched):
                self.arm.arm()
            self.stopped = ""

    # -- requests, in the loop's thread -------------------------------------------------------------------------------

    def reset(self, q: Array, grippers: Array | None = None) -> None:
        """Sets the joint values (dof,), at rest, and the grippers (links,) if given."""
        self.tracker.reset(q)
        self.q = self._begin = np.array(q)
        if grippers is not None:
            self._steering.set_grippers(grippers)
        self._restart_goals = self.at_rest = True

    def use(self, tracker: Tracker) -> None:
        """Goes on with another tracker, from the present joint values, at rest."""
        self._take(tracker)
        tracker.reset(self.q)
        self._begin = np.array(self.q)

    def _take(self, tracker: Tracker) -> None:
        self.tracker, self._frames, self._reachable = tracker, GoalFrames(tracker), ReachableTurns(tracker)

    # -- a tick -------------------------------------------------------------------------------------------------------

    def tick(self, number: int, t: float, dt: float, now: float, late: float) -> None:
        """One tick: reads the source, steps the tracker, writes the sink and the arm."""
        self._begin = None
        while self.requests:
            self.requests.popleft()()
        self._end_stop()
        fresh, source_silent, source_failure = self._read_command(now)
        measured, arm_failure, waiting = self._read_measured()
        self._statistics.failures += bool(source_failure) + bool(arm_failure)
        stopped = self._why_stopped(arm_failure)
        held = stopped or self.paused or source_failure or arm_failure or waiting or source_silent
        held = "stopping" if self.stopping else held or self._watchdog.reason(now)
        requested, free = bool(self.moves), not held
        moves = bool(requested and self.moves[0].q is not None)
        held = self._run_move(dt, measured, held) if requested else held
        if self.arm is not None:
            self._back = self.arm._come_back(dt, free and (moves or self._steering.moves))
            held = f"{held}; {self.arm.beyond}" if held and self.arm.beyond and not self.stopping else held
        self.held = held
        goals, stamp = self._hold(counted=not requested) if held else self._steer(fresh, now, dt)
        before = self._clock.now()
        step = self.tracker.step(self._frames.commands(goals), dt, None if math.isnan(stamp) else stamp, measured)
        self._statistics.tracker_seconds += self._clock.now() - before
        self.q = step.q
        moving = bool(self.moves and self.moves[0].motion is not None and not self.moves[0].motion.at_rest)
        self.at_rest = not moving and not (np.abs(step.velocity) > _REST_SPEED).any()
        grippers, note = self._steering.grippers, "" if held or self.arm is None else self.arm.limited
        tick = Tick(
            number, t, dt, late, self._command, fresh, goals, stamp, measured, step, held, self._begin, grippers, note
        )
        if self.failure is None:
            self._sink.write(tick)
        if self.arm is not None:
            self.arm.write(tick)
            if self.stopped and self.at_rest:
                self.arm.hold()

    def _hold(self, counted: bool) -> tuple[Array, float]:
        """Goals (links, 4, 4) of nan, with which the tracker brakes, and no stamp."""
        if counted and not self.stopping:
            self._statistics.holds += not self._restart_goals
            self._statistics.held += 1
            self._statistics.hold_reason = self.held
        self._restart_goals = True
        return self._no_goals, math.nan

    def _steer(self, fresh: bool, now: float, dt: float) -> tuple[Array, float]:
        """Goals (links, 4, 4) for the newest command, and its stamp."""
        if self._restart_goals:
            self._steering.begin(self._frames.begin(self.q))
        if self._command is not None and (fresh or self._restart_goals):
            self._steering.apply(self._command, now)
        self._steering.advance(dt)
        self._restart_goals = False
        return self._reachable.nearest(self._steering.goals, self.q), self._steering.stamp

    def _run_move(self, dt: float, measured: Array | None, held: str) -> str:
        """Goes on with the first requested move; returns why the arm is held meanwhile.

        It brakes while the arm is held for another reason, and ends if that is the end, or for a move a stop. A move is
        done when the measured arm is there too, and nothing else holds it.
        """
        move = self.moves[0]
        ending = bool(self.stopping or move.cancelled or (move.q is not None and self.stopped))
        if ending and (move.motion is None or move.motion.at_rest):
            self.moves.popleft()
            return held
        if move.motion is None:
            if not self.at_rest or (held and move.q is not None):
                return held or move.why
            end = self.q if move.q is None else move.q
            bounds = move.speed * self.tracker.linkage.speed, move.speed * self.tracker.acceleration
            move.motion = JointMove(self.q, end, *bounds)
        behind = measured is not None and bool(np.abs(measured - self.q).max() > _BEHIND)
        move.motion.step(dt, brake=bool(held) or behind or ending)
        self.reset(move.motion.q)
        if not move.motion.arrived or (move.q is not None and (held or behind or not self._back)):
            return held or move.why
        move.done()  # which may add the next
        self.moves.popleft()
        return held or (self.moves[0].why if self.moves else "")

    def _why_stopped(self, arm_failure: str) -> str:
        """Why the arm is stopped, and the error if it cannot be read; empty if it is not stopped."""
        if not (self.stopped and arm_failure) or arm_failure in self.stopped:
            return self.stopped
        again = self.arm is not None and self.arm._error and self.arm._error in self.stopped
        return f"{self.stopped}; {'it does not answer yet' if again else arm_failure}"

    # -- inputs -------------------------------------------------------------------------------------------------------

    def _read_command(self, now: float) -> tuple[bool, str, str]:
        """Whether a new valid command has arrived, why the operator is silent, and the error if the source failed."""
        if self.failure is not None:
            return False, "", ""
        try:
            command = command_of(self._source.read())
        except StopIteration:
            self.stopping, self.failure = True, getattr(self._source, "failure", None)
            return False, "", ""
        except Silent as silent:
            return False, str(silent), ""
        except Exception as error:  # hold the arm, keep the loop running
            return False, "", f"the source failed: {type(error).__name__}: {error}"
        if command is None or not self._watchdog.accept(command, now):
            return False, "", ""
        self._command = command
        return True, "", ""

    def _read_measured(self) -> tuple[Array | None, str, str]:
        """The measured joint values (dof,), the error if they could not be read, and what is waited for."""
        if self.arm is not None:
            return self._follow_arm(self.arm)
        if self._measured is None:
            return None, "", ""
        try:
            value = self._measured()
            if value is None:
                return None, "", ""
            q: Array = np.array(value, dtype=float)
        except Exception as error:  # hold the arm, keep the loop running
            return None, f"the arm cannot be read: {type(error).__name__}: {error}", ""
        if q.shape != self.q.shape or not np.isfinite(q).all():
            return None, f"the arm's joint values must be {self.q.size} finite numbers", ""
        return q, "", ""

    def _follow_arm(self, arm: Connection) -> tuple[Array | None, str, str]:
        """The measured joint values (dof,) of the arm; where it was connected anew, the loop begins from there.

        Also the error if there are none, and what is waited for.
        """
        if arm.mistake:
            self.stopping = True
            return None, arm.mistake, ""
        try:
            q = arm.measured().copy()
            waiting = arm.needs_start and not self.stopped and not arm.latched
            if waiting and not self.stopping:
                if not self.at_rest:
                    return None, "", _BRAKING
                arm._margin = self.tracker._limits.margin
                begin = arm.start()
                if begin is None:
                    return None, "", _STANDING
                for move in self.moves:  # from where the arm is
                    move.motion = None
                self._command = None  # its grippers are not those of this arm
                self.reset(*begin)
                reach = [self.tracker.linkage.reach(goal.link) for goal in self.tracker.goals if goal.link]
                self._steering.soften(max(reach, default=1.0))
        except Lost as lost:
            if arm.latched and not self.stopped:
                self.stop(arm.latched)
            return None, *(("", str(lost)) if isinstance(lost, Waiting) else (str(lost), ""))
        if arm.latched and not self.stopped:
            self.stop(arm.latched)
        q, fingers = arm._inside(q), arm.fingers.every
        q[fingers] = self.q[fingers]  # the loop opens the grippers, not the tracker
        return q, "", ""
