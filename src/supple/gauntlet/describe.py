"""The measures of a run in a sentence."""

from __future__ import annotations

import math
from typing import Any

from supple.gauntlet.rest_measures import REST
from supple.gauntlet.rows import Row

_NOT_FOLLOWED = ("s6_step", "s7_hand", "s9_circle")  # hazards in which the largest error means nothing


def describe(row: Row) -> str:
    """The result of a run in a line."""
    parts = [*_accuracy(row)]
    if row.get("recovery_n") and row["hazard"] != "s7_hand":
        seconds = row["recovery_max_s"]
        lost = row["recovery_never"] or seconds is None
        parts.append("did not recover" if lost else f"recovered after {seconds:.2f} s")
    if row["chatter_frac"] > 0:
        parts.append(f"chatter in {100 * row['chatter_frac']:.2g} % of ticks")
    if row.get("rest_joint_speed_max", 0.0) > max(REST, row.get("hold_joint_speed_max", 0.0)):
        parts.append(f"moving at {short_number(row['rest_joint_speed_max'])} rad/s while the command rests")
    return "; ".join([*parts, *_violations(row)])


def _accuracy(row: Row) -> list[str]:
    """How near the arm came to the command."""
    parts = []
    if row.get("excess_hold") is not None:
        speed, excess = row["hold_joint_speed_max"], row["excess_hold"]
        motion = "at rest" if speed <= REST else f"moving at {short_number(speed)} rad/s"
        parts.append(
            f"held at the smallest possible error, {motion}"
            if excess < 1e-6
            else f"held {short_number(excess)} above the smallest possible error, {motion}"
        )
    elif row.get("pos_max_mm") is not None and row["hazard"] not in _NOT_FOLLOWED:
        parts.append(f"followed to {_length(row['pos_max_mm'])}, {short_number(row['ori_max_deg'])} deg")
    if row["hazard"] == "s7_hand" and row["reachable_frac"] > 0.05:
        share = 100 * row["in_tol_frac_reachable"]
        parts.append(f"{share:.0f} % of the reachable commands within 1 mm and 0.5 deg")
    elif row.get("excess_mean") is not None and row["hazard"] in _NOT_FOLLOWED:
        parts.append(f"on average {short_number(row['excess_mean'])} above the smallest possible error")
    return parts


def _violations(row: Row) -> list[str]:
    """Violated bounds and failures."""
    parts = []
    if row["raw_ratio_max"] > 1 + 1e-9:
        parts.append(f"requested {short_number(row['raw_ratio_max'])} times the speed limit")
    if row["limit_viol_worst_rad"] > 1e-12:
        parts.append(f"requested {short_number(row['limit_viol_worst_rad'])} past a joint limit")
    if row["exceptions"] or row["nan"]:
        parts.append(f"{row['exceptions']} exceptions, {row['nan']} results not finite")
    return parts


def _length(millimetres: float) -> str:
    if millimetres >= 0.1:
        return f"{short_number(millimetres)} mm"
    return "less than 0.1 um" if millimetres < 1e-4 else f"{short_number(1e3 * millimetres)} um"


def short_number(value: Any) -> str:
    """A number with three digits; "never" for inf, the recovery time of an arm that does not recover."""
    number = float(value)
    if number == 0:
        return "0"
    if not math.isfinite(number):
        return "never" if number > 0 else "-"
    if abs(number) >= 1e5 or abs(number) < 1e-3:
        return f"{number:.0e}".replace("e-0", "e-").replace("e+0", "e")
    return f"{number:.0f}" if abs(number) >= 100 else f"{number:.3g}"
