"""The measures of a run with a clean command: errors, bounds, smoothness, recovery and time, each a plain number."""

from __future__ import annotations

from math import radians
from typing import Any

import numpy as np

from supple.frame import Array
from supple.gauntlet.hazard import Hazard
from supple.gauntlet.reference import REACHABLE_ERROR, Mask, Reference
from supple.gauntlet.rest_measures import rest_measures
from supple.gauntlet.runner import Run

POSITION, ANGLE = 1e-3, radians(0.5)  # tolerances in m and rad: a smaller error counts as following
CHATTER = 5.0  # rad/s2; a change of sign between larger accelerations is chatter
Measures = dict[str, Any]


def measure_clean(run: Run) -> Measures:
    """The measures of a run with a clean command. Errors are measured after each tick against the command of that tick.

    Always present: raw_ratio_max (requested speed over its limit), raw_over_frac, limit_viol_count,
    limit_viol_worst_rad, jerk_rms, acc_max, chatter_frac (share of ticks in which the acceleration of a joint changes
    sign with more than 5 rad/s2 on both sides), exceptions, nan, closure_rad (|q at the end - q at the start|), and
    times in microseconds.
    Where they apply: pos_rms_mm, pos_max_mm, ori_rms_deg, ori_max_deg (while the command is reachable),
    in_tol_frac_reachable, excess_* (weighted error above the optimum), hold_* (while the command is held out of
    reach), rest_* (while the command rests, see `rest_measures`; chatter_frac sees no acceleration below 5 rad/s2),
    recovery_* (seconds from when the command is reachable again until it is followed for good), stick_s.
    """
    hazard = run.hazard
    error = run.error(run.commands)
    found = common_measures(run)
    far, off = position_and_angle(error)
    good = (far < POSITION) & (off < ANGLE)
    found |= following_measures(run, error, good) | _excess(run, error) | recovery_measures(run, good)
    if hazard.driven is not None:
        found |= _stick(run)
    if hazard.key != "s7_hand":
        found["closure_rad"] = float(np.abs(run.q[-1] - hazard.start).max())
    return found


def compare_rates(one: Run, other: Run) -> Measures:
    """The largest difference between two runs of one hazard at different rates: apart_rad and apart_mm.

    They are compared every 10 ms, where both have a tick, after that tick.
    """
    every = np.arange(0.0, one.hazard.duration, 0.01)
    a, b = (run.q[1:][np.round(every * run.rate).astype(int)] for run in (one, other))
    frames = one.hazard.arm.frames(a), one.hazard.arm.frames(b)
    distance = np.linalg.norm(frames[0][:, :3, 3] - frames[1][:, :3, 3], axis=1)
    return {"apart_rad": float(np.abs(a - b).max()), "apart_mm": float(1e3 * distance.max())}


def common_measures(run: Run) -> Measures:
    """The measures that need no error: bounds, smoothness, motion while the command rests, time."""
    return _bounds(run) | _motion(run) | rest_measures(run) | _times(run)


def _bounds(run: Run) -> Measures:
    """Requested steps compared with speed limits and joint limits."""
    arm = run.hazard.arm
    ratio = np.abs(run.requested) / (arm.speed * run.dt)
    target = run.q[:-1] + run.requested
    beyond = np.maximum(target - arm.upper, arm.lower - target).max(1)
    found: Measures = {
        "raw_ratio_max": float(ratio.max()),
        "raw_over_frac": float((ratio.max(1) > 1.001).mean()),
        "limit_viol_count": int((beyond > 1e-9).sum()),
        "limit_viol_worst_rad": float(max(beyond.max(), 0.0)),
        "exceptions": sum(run.exceptions.values()),
        "nan": run.not_finite,
    }
    return found | ({"exception_names": dict(run.exceptions)} if run.exceptions else {})


def _motion(run: Run) -> Measures:
    """How smoothly the joints moved."""
    acceleration = np.diff(run.q, n=2, axis=0) / run.dt**2
    jerk = np.diff(run.q, n=3, axis=0) / run.dt**3
    a, b = acceleration[1:], acceleration[:-1]
    chatter = (a * b < 0) & (np.minimum(np.abs(a), np.abs(b)) > CHATTER)
    return {
        "jerk_rms": float(np.sqrt((jerk**2).mean())),
        "acc_max": float(np.abs(acceleration).max()),
        "chatter_frac": float(chatter.any(1).mean()),
    }


def _times(run: Run) -> Measures:
    if run.wall_ns is None or run.cpu_ns is None:
        return {}
    wall, cpu = run.wall_ns / 1e3, run.cpu_ns / 1e3
    return {
        "t_mean_us": float(wall.mean()),
        "t_p50_us": float(np.median(wall)),
        "t_p999_us": float(np.quantile(wall, 0.999)),
        "cpu_mean_us": float(cpu.mean()),
        "cpu_p999_us": float(np.quantile(cpu, 0.999)),
    }


def reachable_ticks(hazard: Hazard, reference: Reference, times: Array, late: float = 0.0) -> tuple[Mask, Mask]:
    """Ticks (N,) in which the command is reachable, and those in which it should be followed closely.

    The latter begin half a second after the command becomes reachable and two seconds after a jump.
    """
    within, close = np.ones(len(times), dtype=bool), np.ones(len(times), dtype=bool)
    for begin, end in reference.unreachable:
        within &= ~((times >= begin + late) & (times <= end + late))
        close &= ~((times >= begin + late) & (times <= end + late + 0.5))
    for jump in hazard.jumps:
        close &= ~((times >= jump + late) & (times < jump + late + 2.0))
    return within, close


def position_and_angle(error: Array) -> tuple[Array, Array]:
    """Distance in metres (N,) and angle in radians (N,) of errors (N, 6)."""
    return np.linalg.norm(error[:, :3], axis=1), np.linalg.norm(error[:, 3:], axis=1)


def following_measures(run: Run, error: Array, good: Mask, late: float = 0.0) -> Measures:
    """How closely the command was followed: errors (N, 6), and which ticks (N,) are within tolerance."""
    within, close = reachable_ticks(run.hazard, run.hazard.reference, run.times, late)
    far, off = position_and_angle(error)
    found: Measures = {"reachable_frac": float(within.mean())}
    if close.any():
        found |= {
            "pos_rms_mm": float(np.sqrt((far[close] ** 2).mean()) * 1e3),
            "pos_max_mm": float(far[close].max() * 1e3),
            "ori_rms_deg": float(np.degrees(np.sqrt((off[close] ** 2).mean()))),
            "ori_max_deg": float(np.degrees(off[close].max())),
        }
    found["in_tol_frac_reachable"] = float(good[within].mean()) if within.any() else None
    return found


def _excess(run: Run, error: Array) -> Measures:
    """Weighted error above the smallest possible one, while the command is out of reach."""
    hazard, reference = run.hazard, run.hazard.reference
    out = reference.least >= REACHABLE_ERROR
    if not out.any():
        return {}
    weighted = np.linalg.norm(error * hazard.arm.weights, axis=1)
    tick = np.minimum(np.round(reference.times / run.dt).astype(int), len(weighted) - 1)
    above = weighted[tick][out] - reference.least[out]
    found: Measures = {"excess_mean": float(above.mean()), "excess_max": float(above.max())}
    if hazard.hold is not None:
        begin, end = hazard.hold
        least = float(np.interp(0.5 * (begin + end), reference.times, reference.least))
        found |= hold_measures(run, weighted, least)
    return found


def hold_measures(run: Run, weighted: Array, least: float) -> Measures:
    """The measures of the hold window, from the weighted error (N,) and its smallest possible value."""
    assert run.hazard.hold is not None
    begin, end = run.hazard.hold
    times = run.times
    inside = (times >= begin) & (times <= end)
    speeds = np.diff(run.q[1:][inside], axis=0) / run.dt
    return {
        "excess_hold": float(weighted[inside].mean() - least),
        "hold_ripple": float(np.ptp(weighted[inside])),
        "hold_joint_speed_rms": float(np.sqrt((speeds**2).mean())),
        "hold_joint_speed_max": float(np.abs(speeds).max()),
    }


def recovery_measures(run: Run, good: Mask, late: float = 0.0) -> Measures:
    """Recovery times: ``good`` (N,) are the ticks within tolerance, ``late`` the allowed lag in seconds."""
    hazard, times, out = run.hazard, run.times, run.hazard.reference.unreachable
    ends = [*(begin for begin, _ in out), *hazard.jumps, float(times[-1])]
    waits: list[tuple[float | None, float]] = []
    for when in hazard.jumps if hazard.key == "s6_step" else [end for _, end in out]:
        event = when + late
        if event >= times[-1] - 0.05:
            continue
        until = min([e for e in ends if e > event + 1e-6] + [float(times[-1])])
        settled = _settled if hazard.key == "s7_hand" else _for_good
        waits.append((settled(times, good, event, until, run.dt), until - event))
    if not waits:
        return {}
    done = [wait for wait, _ in waits if wait is not None]
    return {
        "recovery_n": len(waits),
        "recovery_never": sum(wait is None and left > 0.4 for wait, left in waits),
        "recovery_mean_s": float(np.mean(done)) if done else None,
        "recovery_max_s": float(np.max(done)) if done else None,
    }


def _for_good(times: Array, good: Mask, begin: float, end: float, dt: float) -> float | None:
    """Seconds until all further ticks of the window are good; None if the last 0.1 s are not."""
    bad = np.flatnonzero((times >= begin) & (times < end - 1e-9) & ~good)
    if not len(bad):
        return 0.0
    last = float(times[bad[-1]])
    return None if last > end - 0.1 else last + dt - begin


def _settled(times: Array, good: Mask, begin: float, end: float, dt: float) -> float | None:
    """Seconds until 0.2 s of good ticks, or until the rest of the window is good."""
    need, count = max(1, round(0.2 / dt)), 0
    first, last = int(np.searchsorted(times, begin - 1e-9)), int(np.searchsorted(times, end + 1e-9))
    for i in range(first, last):
        count = count + 1 if good[i] else 0
        if count >= need or (count > 0 and i == last - 1 and count >= min(need, last - first)):
            return float(times[i - count + 1] - begin)
    return None


def _stick(run: Run) -> Measures:
    """How long a joint stays at its limit after the command is back inside."""
    driven, arm, times = run.hazard.driven, run.hazard.arm, run.times
    assert driven is not None
    limit = (arm.upper if driven.sign > 0 else arm.lower)[driven.joint]
    past = driven.sign * (driven.q(times)[:, driven.joint] - limit)
    back = times[np.flatnonzero(past > 0)[-1]]
    gap = np.abs(run.q[1:, driven.joint] - limit)
    away = np.flatnonzero((times >= back) & (gap > 2e-3))
    return {
        "stick_s": float(times[away[0]] - back) if len(away) else None,
        "limit_gap_while_pushed_rad": float(gap[(times > back - 2.0) & (times < back - 0.5)].min()),
    }
