"""The measures of several controllers as Markdown tables: all hazards, each hazard, each operator."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from supple._table import markdown_table
from supple.gauntlet.describe import short_number
from supple.gauntlet.rows import Row, worst

from .criteria import RETURNS, SIX_JOINTS

_SUMMARY = (
    ("controller", "controller"),
    ("raw", "raw request / speed limit"),
    ("violated", "limit violated, rad"),
    ("singular", "singularities (s2, s3), mm / deg"),
    ("excess", "error above the optimum in holds x 1e-3"),
    ("lost", "not recovered"),
    ("recovery", "mean recovery, s"),
    ("flips", "six joints: another branch"),
    ("chatter", "chatter, s2-5 s8, worst %"),
    ("rest", "rad/s while the command rests"),
    ("jerk", "jerk"),
    ("acc", "acceleration, worst"),
    ("wander", "s7 in tolerance %"),
    ("failures", "exceptions, NaN"),
    ("mean", "us mean"),
    ("tail", "us p99.9"),
)


_BOUNDARY = ("s2_wrist", "s3_shoulder", "s4_reach", "s5_limit", "s8_orient")


def summary_table(rows: Sequence[Row]) -> str:
    """A line for each controller over all arms and hazards of clean runs, in Markdown."""
    clean = [row for row in rows if row["operator"] is None and row["hazard"] != "pushes"]
    lines = [[head for _, head in _SUMMARY]]
    for name in dict.fromkeys(row["controller"] for row in clean):
        cells = _line(name, [row for row in clean if row["controller"] == name])
        lines.append([cells[key] for key, _ in _SUMMARY])
    return markdown_table(lines)


def _line(name: str, own: Sequence[Row]) -> dict[str, str]:
    passes = [row for row in own if row["hazard"] in ("s2_wrist", "s3_shoulder")]
    back = [row for row in own if row["hazard"] in RETURNS and row.get("recovery_n")]
    shares = [
        row["in_tol_frac_reachable"] for row in own if row["hazard"] == "s7_hand" and row["reachable_frac"] > 0.05
    ]
    waits = [row["recovery_mean_s"] for row in back if row["recovery_mean_s"] is not None]
    held = [row for row in own if "excess_hold" in row]
    timed = [row for row in own if row.get("t_mean_us") is not None]
    return {
        "controller": name,
        "raw": short_number(worst(own, "raw_ratio_max")),
        "violated": short_number(worst(own, "limit_viol_worst_rad")),
        "singular": f"{short_number(worst(passes, 'pos_max_mm'))} / {short_number(worst(passes, 'ori_max_deg'))}"
        if passes
        else "",
        "excess": short_number(1e3 * worst(held, "excess_hold")) if held else "",
        "lost": f"{sum(row['recovery_never'] for row in back)}/{sum(row['recovery_n'] for row in back)}",
        "recovery": short_number(float(np.mean(waits))) if waits else "",
        "flips": str(sum(row["arm"] in SIX_JOINTS and row.get("closure_rad", 0.0) > 0.1 for row in own)),
        "chatter": short_number(100 * worst([row for row in own if row["hazard"] in _BOUNDARY], "chatter_frac")),
        "rest": short_number(worst(own, "rest_joint_speed_max")),
        "jerk": short_number(float(np.exp(np.mean(np.log([max(row["jerk_rms"], 1e-9) for row in own]))))),
        "acc": short_number(worst(own, "acc_max")),
        "wander": short_number(100 * float(np.mean(shares))) if shares else "",
        "failures": str(sum(row["exceptions"] + row["nan"] for row in own)),
        "mean": short_number(float(np.median([row["t_mean_us"] for row in timed]))) if timed else "",
        "tail": short_number(float(np.median([row["t_p999_us"] for row in timed]))) if timed else "",
    }


_OPERATOR_COLUMNS = (
    "controller",
    "operator",
    "raw request / speed limit",
    "acceleration, worst",
    "chatter, worst %",
    "error above the optimum at rest",
    "rad/s in holds",
    "rad/s while the command rests",
    "not recovered",
    "s7 in tolerance %",
    "with the best shift %",
    "stated lag, ms",
    "best shift, ms",
    "jerk / clean run",
)


def operator_table(rows: Sequence[Row]) -> str:
    """A line for each controller and operator over all arms and hazards, in Markdown; "" without operators."""
    with_operator = [row for row in rows if row["operator"] is not None]
    clean = {(r["controller"], r["arm"], r["hazard"], r["rate"]): r for r in rows if r["operator"] is None}
    lines = [list(_OPERATOR_COLUMNS)]
    for name, who in dict.fromkeys((row["controller"], row["operator"]) for row in with_operator):
        own = [row for row in with_operator if (row["controller"], row["operator"]) == (name, who)]
        lines.append([name, who, *_operator_cells(own, clean)])
    return markdown_table(lines) if with_operator else ""


def _operator_cells(own: Sequence[Row], clean: dict[tuple[Any, ...], Row]) -> list[str]:
    held = [row for row in own if "excess_hold" in row]
    back = [row for row in own if row["hazard"] in RETURNS and row.get("recovery_n")]
    s7 = [row for row in own if row["hazard"] == "s7_hand" and row["reachable_frac"] > 0.05]
    pairs = [(row, clean.get((row["controller"], row["arm"], row["hazard"], row["rate"]))) for row in own]
    ratios = [row["jerk_rms"] / max(other["jerk_rms"], 1e-9) for row, other in pairs if other is not None]
    return [
        short_number(worst(own, "raw_ratio_max")),
        short_number(worst(own, "acc_max")),
        short_number(100 * worst(own, "chatter_frac")),
        short_number(worst(held, "excess_hold")) if held else "",
        short_number(worst(held, "hold_joint_speed_max")) if held else "",
        short_number(worst(own, "rest_joint_speed_max")),
        f"{sum(row['recovery_never'] for row in back)}/{sum(row['recovery_n'] for row in back)}",
        *(short_number(100 * float(np.mean([row[key] for row in s7]))) if s7 else "" for key in _TOLERATED),
        short_number(1e3 * worst(own, "lag_s")),
        short_number(1e3 * float(np.median([row["lag_best_s"] for row in s7]))) if s7 else "",
        short_number(float(np.exp(np.mean(np.log(ratios))))) if ratios else "",
    ]


_TOLERATED = ("in_tol_frac_reachable", "in_tol_frac_best")
_COLUMNS: dict[str, tuple[tuple[str, float, str], ...]] = {
    "s1_baseline": (("pos_rms_mm", 1e3, "position, um rms"), ("jerk_rms", 1, "jerk")),
    "s2_wrist": (
        ("pos_max_mm", 1, "worst mm"),
        ("ori_max_deg", 1, "worst deg"),
        ("jerk_rms", 1, "jerk"),
        ("rest_joint_speed_max", 1, "rad/s at rest"),
    ),
    "s3_shoulder": (
        ("pos_max_mm", 1, "worst mm"),
        ("recovery_max_s", 1, "recovery, s"),
        ("chatter_frac", 100, "chatter %"),
        ("rest_joint_speed_max", 1, "rad/s at rest"),
    ),
    "s4_reach": (
        ("excess_hold", 1, "held above optimum"),
        ("recovery_max_s", 1, "recovery, s"),
        ("chatter_frac", 100, "chatter %"),
        ("rest_joint_speed_max", 1, "rad/s at rest"),
    ),
    "s5_limit": (
        ("excess_hold", 1, "held above optimum"),
        ("stick_s", 1e3, "stick, ms"),
        ("recovery_max_s", 1e3, "recovery, ms"),
        ("chatter_frac", 100, "chatter %"),
        ("rest_joint_speed_max", 1, "rad/s at rest"),
    ),
    "s6_step": (
        ("recovery_max_s", 1, "settled, s"),
        ("acc_max", 1, "acceleration"),
        ("jerk_rms", 1, "jerk"),
        ("rest_joint_speed_max", 1, "rad/s at rest"),
    ),
    "s7_hand": (
        ("in_tol_frac_reachable", 100, "in tolerance %"),
        ("chatter_frac", 100, "chatter %"),
        ("jerk_rms", 1, "jerk"),
    ),
    "s8_orient": (
        ("excess_hold", 1, "held above optimum"),
        ("recovery_max_s", 1, "recovery, s"),
        ("chatter_frac", 100, "chatter %"),
        ("rest_joint_speed_max", 1, "rad/s at rest"),
    ),
    "s9_circle": (
        ("excess_mean", 1, "above optimum, mean"),
        ("chatter_frac", 100, "chatter %"),
        ("jerk_rms", 1, "jerk"),
    ),
}


def hazard_tables(rows: Sequence[Row]) -> str:
    """A Markdown table for each hazard: a line for each controller; each cell lists the arms."""
    clean = [row for row in rows if row["operator"] is None and row["hazard"] in _COLUMNS]
    arms = list(dict.fromkeys(row["arm"] for row in clean))
    parts = []
    for hazard in (key for key in _COLUMNS if any(row["hazard"] == key for row in clean)):
        lines = [["controller", *(head for _, _, head in _COLUMNS[hazard])]]
        for name in dict.fromkeys(row["controller"] for row in clean if row["hazard"] == hazard):
            own = {row["arm"]: row for row in clean if row["hazard"] == hazard and row["controller"] == name}
            cells = [" / ".join(_cell(own.get(arm), key, by) for arm in arms) for key, by, _ in _COLUMNS[hazard]]
            lines.append([name, *cells])
        parts.append(f"**{hazard}**, {' / '.join(arms)}\n\n{markdown_table(lines)}")
    return "\n\n".join(parts)


def _cell(row: Row | None, key: str, by: float) -> str:
    if row is None or (key not in row):
        return "-"
    if key.startswith("recovery") and row.get("recovery_never"):
        return "never"
    return "-" if row[key] is None else short_number(by * row[key])
