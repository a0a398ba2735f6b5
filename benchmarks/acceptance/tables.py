"""Measures as text: a table of numbers for many controllers, a table in words for one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from supple.gauntlet.rows import RETURNS, SIX, Row, worst

_SUMMARY = (
    ("controller", "controller"),
    ("raw", "raw request / speed limit"),
    ("broken", "limit broken, rad"),
    ("far", "singular passes, mm / deg"),
    ("excess", "above the optimum while held x 1e-3"),
    ("lost", "never came back"),
    ("wait", "mean recovery, s"),
    ("flips", "6R on another branch"),
    ("chatter", "chatter, s2-5 s8, worst %"),
    ("jerk", "jerk"),
    ("acc", "acceleration, worst"),
    ("hand", "s7 in tolerance %"),
    ("raised", "exceptions, NaN"),
    ("mean", "us mean"),
    ("tail", "us p99.9"),
)


_WALLS = ("s2_wrist", "s3_shoulder", "s4_reach", "s5_limit", "s8_orient")


def summary(rows: Sequence[Row]) -> str:
    """A line for each controller over all arms and hazards of clean runs, as METHOD's table; Markdown."""
    clean = [row for row in rows if row["operator"] is None and row["hazard"] != "pushes"]
    lines = [[head for _, head in _SUMMARY]]
    for name in dict.fromkeys(row["controller"] for row in clean):
        told = _line(name, [row for row in clean if row["controller"] == name])
        lines.append([told[key] for key, _ in _SUMMARY])
    return markdown(lines)


def _line(name: str, own: Sequence[Row]) -> dict[str, str]:
    passes = [row for row in own if row["hazard"] in ("s2_wrist", "s3_shoulder")]
    back = [row for row in own if row["hazard"] in RETURNS and row.get("recovery_n")]
    hands = [row["in_tol_frac_reachable"] for row in own if row["hazard"] == "s7_hand" and row["reachable_frac"] > 0.05]
    waits = [row["recovery_mean_s"] for row in back if row["recovery_mean_s"] is not None]
    held = [row for row in own if "excess_hold" in row]
    timed = [row for row in own if row.get("t_mean_us") is not None]
    return {
        "controller": name,
        "raw": short(worst(own, "raw_ratio_max")),
        "broken": short(worst(own, "limit_viol_worst_rad")),
        "far": f"{short(worst(passes, 'pos_max_mm'))} / {short(worst(passes, 'ori_max_deg'))}" if passes else "",
        "excess": short(1e3 * worst(held, "excess_hold")) if held else "",
        "lost": f"{sum(row['recovery_never'] for row in back)}/{sum(row['recovery_n'] for row in back)}",
        "wait": short(float(np.mean(waits))) if waits else "",
        "flips": str(sum(row["arm"] in SIX and row.get("closure_rad", 0.0) > 0.1 for row in own)),
        "chatter": short(100 * worst([row for row in own if row["hazard"] in _WALLS], "chatter_frac")),
        "jerk": short(float(np.exp(np.mean(np.log([max(row["jerk_rms"], 1e-9) for row in own]))))),
        "acc": short(worst(own, "acc_max")),
        "hand": short(100 * float(np.mean(hands))) if hands else "",
        "raised": str(sum(row["exceptions"] + row["nan"] for row in own)),
        "mean": short(float(np.median([row["t_mean_us"] for row in timed]))) if timed else "",
        "tail": short(float(np.median([row["t_p999_us"] for row in timed]))) if timed else "",
    }


_OPERATED = (
    "controller",
    "operator",
    "raw request / speed limit",
    "acceleration, worst",
    "chatter, worst %",
    "above the optimum at rest",
    "rad/s at rest",
    "returns lost",
    "s7 in tolerance %",
    "after the best shift %",
    "stated lag, ms",
    "best shift, ms",
    "jerk / clean's",
)


def operated(rows: Sequence[Row]) -> str:
    """A line for each controller and operator, over all arms and hazards; Markdown, empty if there was no operator."""
    hands = [row for row in rows if row["operator"] is not None]
    calm = {(r["controller"], r["arm"], r["hazard"], r["rate"]): r for r in rows if r["operator"] is None}
    lines = [list(_OPERATED)]
    for name, who in dict.fromkeys((row["controller"], row["operator"]) for row in hands):
        own = [row for row in hands if (row["controller"], row["operator"]) == (name, who)]
        lines.append([name, who, *_by(own, calm)])
    return markdown(lines) if hands else ""


def _by(own: Sequence[Row], calm: dict[tuple[Any, ...], Row]) -> list[str]:
    held = [row for row in own if "excess_hold" in row]
    back = [row for row in own if row["hazard"] in RETURNS and row.get("recovery_n")]
    s7 = [row for row in own if row["hazard"] == "s7_hand" and row["reachable_frac"] > 0.05]
    pairs = [(row, calm.get((row["controller"], row["arm"], row["hazard"], row["rate"]))) for row in own]
    ratios = [row["jerk_rms"] / max(other["jerk_rms"], 1e-9) for row, other in pairs if other is not None]
    return [
        short(worst(own, "raw_ratio_max")),
        short(worst(own, "acc_max")),
        short(100 * worst(own, "chatter_frac")),
        short(worst(held, "excess_hold")) if held else "",
        short(worst(held, "hold_joint_speed_max")) if held else "",
        f"{sum(row['recovery_never'] for row in back)}/{sum(row['recovery_n'] for row in back)}",
        *(short(100 * float(np.mean([row[key] for row in s7]))) if s7 else "" for key in _TOLERATED),
        short(1e3 * worst(own, "lag_s")),
        short(1e3 * float(np.median([row["lag_best_s"] for row in s7]))) if s7 else "",
        short(float(np.exp(np.mean(np.log(ratios))))) if ratios else "",
    ]


_TOLERATED = ("in_tol_frac_reachable", "in_tol_frac_best")
_COLUMNS: dict[str, tuple[tuple[str, float, str], ...]] = {
    "s1_baseline": (("pos_rms_mm", 1e3, "position, um rms"), ("jerk_rms", 1, "jerk")),
    "s2_wrist": (("pos_max_mm", 1, "worst mm"), ("ori_max_deg", 1, "worst deg"), ("jerk_rms", 1, "jerk")),
    "s3_shoulder": (
        ("pos_max_mm", 1, "worst mm"),
        ("recovery_max_s", 1, "recovery, s"),
        ("chatter_frac", 100, "chatter %"),
    ),
    "s4_reach": (
        ("excess_hold", 1, "held above optimum"),
        ("recovery_max_s", 1, "recovery, s"),
        ("chatter_frac", 100, "chatter %"),
    ),
    "s5_limit": (
        ("excess_hold", 1, "held above optimum"),
        ("stick_s", 1e3, "stick, ms"),
        ("recovery_max_s", 1e3, "recovery, ms"),
        ("chatter_frac", 100, "chatter %"),
    ),
    "s6_step": (("recovery_max_s", 1, "settled, s"), ("acc_max", 1, "acceleration"), ("jerk_rms", 1, "jerk")),
    "s7_hand": (
        ("in_tol_frac_reachable", 100, "in tolerance %"),
        ("chatter_frac", 100, "chatter %"),
        ("jerk_rms", 1, "jerk"),
    ),
    "s8_orient": (
        ("excess_hold", 1, "held above optimum"),
        ("recovery_max_s", 1, "recovery, s"),
        ("chatter_frac", 100, "chatter %"),
    ),
    "s9_circle": (
        ("excess_mean", 1, "above optimum, mean"),
        ("chatter_frac", 100, "chatter %"),
        ("jerk_rms", 1, "jerk"),
    ),
}


def by_hazard(rows: Sequence[Row]) -> str:
    """A table for each hazard: a line for each controller, a cell holds the arms one after another; Markdown."""
    clean = [row for row in rows if row["operator"] is None and row["hazard"] in _COLUMNS]
    arms = list(dict.fromkeys(row["arm"] for row in clean))
    parts = []
    for hazard in (key for key in _COLUMNS if any(row["hazard"] == key for row in clean)):
        lines = [["controller", *(head for _, _, head in _COLUMNS[hazard])]]
        for name in dict.fromkeys(row["controller"] for row in clean if row["hazard"] == hazard):
            own = {row["arm"]: row for row in clean if row["hazard"] == hazard and row["controller"] == name}
            cells = [" / ".join(_cell(own.get(arm), key, by) for arm in arms) for key, by, _ in _COLUMNS[hazard]]
            lines.append([name, *cells])
        parts.append(f"**{hazard}**, {' / '.join(arms)}\n\n{markdown(lines)}")
    return "\n\n".join(parts)


def _cell(row: Row | None, key: str, by: float) -> str:
    if row is None or (key not in row):
        return "-"
    if key.startswith("recovery") and row.get("recovery_never"):
        return "never"
    return "-" if row[key] is None else short(by * row[key])


_NOT_FOLLOWED = ("s6_step", "s7_hand", "s9_circle")  # what matters there is not how close it stays


def in_words(row: Row) -> str:
    """What a run did, in a line."""
    said = []
    if row.get("excess_hold") is not None:
        still = (
            "at rest" if row["hold_joint_speed_max"] < 1e-3 else f"moving at {short(row['hold_joint_speed_max'])} rad/s"
        )
        near = row["excess_hold"]
        best = "as near as can be" if near < 1e-6 else f"{short(near)} above the least error there is"
        said.append(f"held {best}, {still}")
    elif row.get("pos_max_mm") is not None and row["hazard"] not in _NOT_FOLLOWED:
        said.append(f"followed to {_length(row['pos_max_mm'])}, {short(row['ori_max_deg'])} deg")
    if row["hazard"] == "s7_hand" and row["reachable_frac"] > 0.05:
        said.append(f"{100 * row['in_tol_frac_reachable']:.0f} % of what can be reached within 1 mm and 0.5 deg")
    elif row.get("excess_mean") is not None and row["hazard"] in _NOT_FOLLOWED:
        said.append(f"{short(row['excess_mean'])} above the least error there is, on average")
    if row.get("recovery_n") and row["hazard"] != "s7_hand":
        late = row["recovery_max_s"]
        said.append("never came back" if row["recovery_never"] or late is None else f"back after {late:.2f} s")
    if row["chatter_frac"] > 0:
        said.append(f"chatters in {100 * row['chatter_frac']:.2g} % of ticks")
    said += _broken(row)
    return "; ".join(said)


def _broken(row: Row) -> list[str]:
    said = []
    if row["raw_ratio_max"] > 1 + 1e-9:
        said.append(f"asked for {short(row['raw_ratio_max'])} times the speed limit")
    if row["limit_viol_worst_rad"] > 1e-12:
        said.append(f"asked for {short(row['limit_viol_worst_rad'])} past a joint limit")
    if row["exceptions"] or row["nan"]:
        said.append(f"raised {row['exceptions']} exceptions, {row['nan']} NaN")
    return said


def _length(millimetres: float) -> str:
    for scale, unit in ((1.0, "mm"), (1e3, "um")):
        if millimetres * scale >= 0.1:
            return f"{short(millimetres * scale)} {unit}"
    return "less than 0.1 um" if millimetres < 1e-4 else f"{short(1e3 * millimetres)} um"


def markdown(lines: Sequence[Sequence[str]]) -> str:
    """Rows of cells as a Markdown table; the first row is its head."""
    wide = [max(len(line[i]) for line in lines) for i in range(len(lines[0]))]
    rows = [[cell.ljust(width) for cell, width in zip(line, wide, strict=True)] for line in lines]
    rows.insert(1, ["-" * width for width in wide])
    return "\n".join("| " + " | ".join(row) + " |" for row in rows)


def short(value: Any) -> str:
    """A number in three digits."""
    number = float(value)
    if number == 0:
        return "0"
    if not np.isfinite(number):
        return "never" if number > 0 else "-"
    if abs(number) >= 1e5 or abs(number) < 1e-3:
        return f"{number:.0e}".replace("e-0", "e-").replace("e+0", "e")
    return f"{number:.0f}" if abs(number) >= 100 else f"{number:.3g}"
