"""The measures of a run with a real operator: they allow for the stated lag and for the tremor."""

from __future__ import annotations

import numpy as np

from supple.frame import Array
from supple.gauntlet.arms import difference
from supple.gauntlet.measures import (
    ANGLE,
    POSITION,
    Measures,
    common_measures,
    following_measures,
    hold_measures,
    position_and_angle,
    reachable_ticks,
    recovery_measures,
)
from supple.gauntlet.nearest_pose import nearest
from supple.gauntlet.operator import Operator
from supple.gauntlet.reference import Mask
from supple.gauntlet.runner import Run


def measure_operator(run: Run, operator: Operator) -> Measures:
    """The measures of a run with a sampled command with tremor, loss and delay.

    The reference is the clean command, shifted by the lag that the controller states; the amplitude of the tremor is
    added to the tolerance. If samples are delayed, their mean delay may be added to the lag, since a controller
    without stamps cannot know it. Once the hand rests, the reference is the command as received: rounded, but at rest.

    The measures of clean runs, and: lag_s (mean stated lag), lag_max_s, shift_s (allowed shift); lag_best_s and
    in_tol_frac_best (the shift up to 80 ms with the most ticks within tolerance, and their share: for controllers that
    state no lag); and, if the hand rests at the end, closure_rad (|q at the end - q for the last command received, on
    the branch of the start|), end_mm and end_deg (error at the end against that command).
    """
    hazard = run.hazard
    stated = np.broadcast_to(run.lag, run.times.shape)
    shifts = [stated, stated + operator.delay] if operator.delay else [stated]
    found = max((_after(run, operator, shift) for shift in shifts), key=lambda row: row["in_tol_frac_reachable"] or 0.0)
    found |= {"lag_s": float(stated.mean()), "lag_max_s": float(stated.max())}
    found |= common_measures(run) | _best_shift(run, operator)
    if hazard.hold is not None:
        found |= _held(run)
    end = hazard.hand(hazard.duration - np.array([0.5, 0.25, 0.0]))
    if np.abs(end - end[-1]).max() < 1e-9:  # the hand rests at the end
        last = run.commands[-1]
        there, _ = nearest(hazard.arm, hazard.start, last)
        far, off = position_and_angle(hazard.arm.error(run.q[-1:], last[None]))
        found["closure_rad"] = float(np.abs(run.q[-1] - there).max())
        found |= {"end_mm": float(far[0] * 1e3), "end_deg": float(np.degrees(off[0]))}
    return found


def _after(run: Run, operator: Operator, lag: Array) -> Measures:
    """The measures against the clean command, shifted by a lag (N,) in seconds."""
    error = run.error(run.hazard.hand(np.maximum(run.times - lag, 0.0)))
    late = float(lag.mean())
    good = _good(error, operator)
    return following_measures(run, error, good, late) | recovery_measures(run, good, late) | {"shift_s": late}


def _good(error: Array, operator: Operator) -> Mask:
    """Which errors (N, 6) are within the tolerance plus the tremor."""
    far, off = position_and_angle(error)
    return np.asarray((far < POSITION + operator.tremor) & (off < ANGLE + operator.angle_tremor))


def _best_shift(run: Run, operator: Operator) -> Measures:
    """The shift, in whole milliseconds, with the most ticks within tolerance, and their share."""
    clean, arm = run.hazard.frames(1000.0), run.hazard.arm
    within, _ = reachable_ticks(run.hazard, run.hazard.reference, run.times)
    ticks = np.flatnonzero(within & (run.times > 0.1))[:: max(1, round(run.rate / 100))]
    if not len(ticks):
        return {"lag_best_s": None, "in_tol_frac_best": None}
    frames, at = arm.frames(run.q[1:][ticks]), np.round(run.times[ticks] * 1000).astype(int)
    parts = [float(_good(difference(clean[at - shift], frames), operator).mean()) for shift in range(81)]
    best = np.flatnonzero(np.array(parts) >= max(parts) - 1e-12)
    return {"lag_best_s": float(np.median(best)) / 1000, "in_tol_frac_best": max(parts)}


def _held(run: Run) -> Measures:
    """The measures of the hold window against the command as received."""
    hazard = run.hazard
    assert hazard.hold is not None
    tick = int(np.searchsorted(run.times, np.mean(hazard.hold)))
    goal = run.commands[tick]
    starts = [run.q[tick + 1], *([] if hazard.reference.held is None else [hazard.reference.held])]
    least = min(nearest(hazard.arm, start, goal)[1] for start in starts)
    weighted = np.linalg.norm(run.error(np.broadcast_to(goal, run.commands.shape)) * hazard.arm.weights, axis=1)
    return hold_measures(run, weighted, least)
