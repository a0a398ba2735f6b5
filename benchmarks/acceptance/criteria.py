"""The acceptance bars of docs/tracking.md: for each the measured value, its limit, and whether it is met."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from supple.gauntlet.rest_measures import REST
from supple.gauntlet.rows import Row, or_infinity, worst

NAMED = ("panda", "ur5", "puma560")
"""The arms with bars of their own."""
SIX_JOINTS = ("ur5", "puma560")
RETURNS = ("s3_shoulder", "s4_reach", "s5_limit", "s6_step", "s8_orient")
"""The hazards in which the command becomes reachable again."""
ACCELERATION = 15.0  # rad/s2
MEAN_RECOVERY = 0.30  # s, of three arms together
_PINV_JERK = {"panda": 5.08, "ur5": 5.49, "puma560": 9.18}  # rad/s3, of the pseudo-inverse in s1


@dataclass(frozen=True)
class Bar:
    """One acceptance bar; without a ``limit`` the value is only reported."""

    number: int
    what: str
    where: str
    value: float
    limit: float | None = None
    least: bool = False
    """Whether the limit is a lower one."""

    @property
    def met(self) -> bool | None:
        """Whether the bar is met; None without a limit."""
        if self.limit is None:
            return None
        return bool(self.value >= self.limit if self.least else self.value <= self.limit)

    def __str__(self) -> str:
        sign = "" if self.limit is None else f" {'>=' if self.least else '<='} {_short(self.limit)}"
        verdict = {True: "met", False: "MISSED", None: "-"}[self.met]
        return f"{self.number}  {verdict:<6}  {self.where:<20} {self.what:<58} {_short(self.value):>9}{sign}"


def bars(rows: Iterable[Row], controller: str = "supple") -> list[Bar]:
    """Every bar for which the rows of a controller have data: 1 to 7 and 9 from clean runs, 8 from operators."""
    mine = [row for row in rows if row["controller"] == controller]
    found: list[Bar] = []
    for rate in sorted({row["rate"] for row in mine}):
        clean = [row for row in mine if row["rate"] == rate and row["operator"] is None]
        hazards = [row for row in clean if not row["hazard"].startswith("push")]
        for arm in dict.fromkeys(row["arm"] for row in hazards):
            own = {row["hazard"]: row for row in hazards if row["arm"] == arm}
            found += _of_arm(arm, rate, own)
        found += _together(rate, [row for row in hazards if row["arm"] in NAMED])
        found += [bar for row in clean if row["hazard"] == "pushes" for bar in _pushes(row)]
        with_operator = [row for row in mine if row["operator"] is not None and row["rate"] == rate]
        for arm in dict.fromkeys(row["arm"] for row in with_operator):
            clean_by_hazard = {row["hazard"]: row for row in hazards if row["arm"] == arm}
            found += _with_operators(
                f"{arm} {rate:g} Hz", [row for row in with_operator if row["arm"] == arm], clean_by_hazard
            )
        found += _recovery_with_operators(rate, [row for row in with_operator if row["arm"] in NAMED])
    return sorted(found, key=lambda bar: bar.number)


def _of_arm(arm: str, rate: float, own: dict[str, Row]) -> list[Bar]:
    where, every = f"{arm} {rate:g} Hz", list(own.values())
    found = _bounds(where, every)
    if arm in NAMED:
        found += _exactness(arm, where, own) + _singularities(arm, where, rate, own) + _hold(where, every)
        found += _limits_and_wander(arm, where, own)
    found += [Bar(4, "chatter, worst % of ticks", where, 100 * worst(every, "chatter_frac"), 0.1)]
    found += _rest(where, every)
    back = [row for row in every if row["hazard"] in RETURNS and row.get("recovery_n")]
    if back:
        found.append(Bar(5, "not recovered", where, sum(row["recovery_never"] for row in back), 0))
    if arm in SIX_JOINTS:
        found.append(Bar(5, "closure (same branch), rad", where, worst(every, "closure_rad"), 1e-6))
    jerk = np.exp(np.mean(np.log([max(row["jerk_rms"], 1e-9) for row in every])))
    if arm not in NAMED:
        found.append(Bar(7, "jerk, geometric mean", where, float(jerk), _jerk(rate)))
    if any("apart_mm" in row for row in every):
        found.append(Bar(7, "difference between rates, worst mm", where, worst(every, "apart_mm")))
    times = [row for row in every if row.get("t_mean_us") is not None]
    if times:
        found.append(Bar(7, "us per tick, mean of the slowest hazard", where, worst(times, "t_mean_us"), 3.0))
        found.append(Bar(7, "us per tick, p99.9 of the median hazard", where, _middle(times, "t_p999_us"), 20.0))
    return found


def _bounds(where: str, every: Sequence[Row], number: int = 1) -> list[Bar]:
    return [
        Bar(number, "request / speed limit", where, worst(every, "raw_ratio_max"), 1.0 + 1e-9),
        Bar(number, "limits violated, rad", where, worst(every, "limit_viol_worst_rad"), 1e-12),
        Bar(number, "acceleration, rad/s2", where, worst(every, "acc_max"), ACCELERATION * (1 + 1e-6)),
        Bar(number, "exceptions and NaN", where, sum(row["exceptions"] + row["nan"] for row in every), 0),
    ]


def _exactness(arm: str, where: str, own: dict[str, Row]) -> list[Bar]:
    if "s1_baseline" not in own:
        return []
    row, natural = own["s1_baseline"], _PINV_JERK[arm]
    return [
        Bar(2, "s1 position, um rms", where, 1e3 * row["pos_rms_mm"], 0.1),
        Bar(2, "s1 jerk / pseudo-inverse", where, row["jerk_rms"] / natural, 1.01),
    ]


def _singularities(arm: str, where: str, rate: float, own: dict[str, Row]) -> list[Bar]:
    found = []
    if "s2_wrist" in own:
        row = own["s2_wrist"]
        far, off = (0.8, 0.45) if arm in SIX_JOINTS else (0.1, 0.05)
        found += [
            Bar(3, "s2 worst mm", where, row["pos_max_mm"], far),
            Bar(3, "s2 worst deg", where, row["ori_max_deg"], off),
        ]
        if arm in SIX_JOINTS:
            found.append(Bar(3, "s2 jerk", where, row["jerk_rms"], 150 if rate < 600 else 230))
    if "s3_shoulder" in own:
        most = {"puma560": 6.0, "ur5": 6.5, "panda": 0.1}[arm]
        found.append(Bar(3, "s3 worst mm", where, own["s3_shoulder"]["pos_max_mm"], most))
    return found


def _hold(where: str, every: Sequence[Row], number: int = 4) -> list[Bar]:
    held = [row for row in every if row.get("excess_hold") is not None]
    if not held:
        return []
    return [
        # an arm with five joints puts position before orientation, so its weighted error is not the least
        Bar(
            number,
            "hold: weighted error above the optimum",
            where,
            worst(held, "excess_hold"),
            1e-8 if held[0]["arm"] in NAMED else None,
        ),
        Bar(number, "hold: joint speed, rad/s", where, worst(held, "hold_joint_speed_max"), REST),
    ]


def _rest(where: str, every: Sequence[Row], number: int = 9) -> list[Bar]:
    """Motion of the joints while the command rests, on any arm: also a buzz too small or too slow for chatter."""
    resting = [row for row in every if "rest_joint_speed_max" in row]
    if not resting:
        return []
    return [
        Bar(number, "rest: joint speed, rad/s", where, worst(resting, "rest_joint_speed_max"), REST),
        Bar(number, "rest: peak to peak of a joint, rad", where, worst(resting, "rest_motion_max")),
    ]


def _limits_and_wander(arm: str, where: str, own: dict[str, Row]) -> list[Bar]:
    found = []
    if "s5_limit" in own:
        row = own["s5_limit"]
        soon = {"panda": 35.0, "ur5": 20.0, "puma560": 15.0}[arm]
        found.append(Bar(6, "s5 reverses within, ms", where, 1e3 * or_infinity(row["stick_s"]), 7.0))
        found.append(Bar(6, "s5 recovered within, ms", where, 1e3 * or_infinity(row["recovery_max_s"]), soon))
    if "s7_hand" in own:
        part = {"panda": 90.0, "ur5": 95.0, "puma560": 77.0}[arm]
        found.append(
            Bar(6, "s7 in tolerance, %", where, 100 * own["s7_hand"]["in_tol_frac_reachable"], part, least=True)
        )
    return found


def _jerk(rate: float) -> float:
    return 120.0 if rate < 600 else 170.0


def _together(rate: float, rows: Sequence[Row]) -> list[Bar]:
    """The bars of the three named arms together, if all of them ran all eight hazards."""
    if len(rows) < 24:
        return []
    where = f"three arms {rate:g} Hz"
    back = [row for row in rows if row["hazard"] in RETURNS and row.get("recovery_n")]
    jerk = float(np.exp(np.mean(np.log([max(row["jerk_rms"], 1e-9) for row in rows]))))
    count = sum(row["recovery_n"] for row in back)
    return [
        Bar(
            5,
            f"returns recovered, of {count}",
            where,
            count - sum(row["recovery_never"] for row in back),
            count,
            least=True,
        ),
        Bar(5, "mean recovery, s", where, _mean_recovery(rows), MEAN_RECOVERY),
        Bar(7, "jerk, geometric mean", where, jerk, _jerk(rate)),
    ]


def _mean_recovery(rows: Sequence[Row]) -> float:
    """The mean time of the hazards in which the command becomes reachable again, in seconds."""
    waits = [or_infinity(row["recovery_mean_s"]) for row in rows if row["hazard"] in RETURNS and row.get("recovery_n")]
    return float(np.mean(waits)) if waits else np.inf


def _recovery_with_operators(rate: float, rows: Sequence[Row]) -> list[Bar]:
    """Bar 8: the mean recovery of the three named arms together, as without operators; the worst operator."""
    means = {}
    for who in dict.fromkeys(row["operator"] for row in rows):
        own = [row for row in rows if row["operator"] == who]
        if len(own) >= 24:
            means[who] = _mean_recovery(own)
    if not means:
        return []
    slowest = max(means, key=lambda who: means[who])
    where = f"three arms {rate:g} Hz"
    return [Bar(8, f"mean recovery, s ({slowest})", where, means[slowest], MEAN_RECOVERY)]


def _pushes(row: Row) -> list[Bar]:
    where = f"{row['arm']} {row['rate']:g} Hz"
    found = _bounds(f"{where}, pushes", [row])
    found.append(Bar(5, f"pushes without return, of {row['count']}", where, row["lost"], 0))
    own = 0 if row["dof"] <= 6 else None  # a redundant arm may return with another elbow
    found.append(Bar(5, f"pushes on another branch, of {row['count']}", where, row["other_branch"], own))
    found.append(Bar(4, f"pushes with chatter above 0.1 %, of {row['count']}", where, row["chattering"], 0))
    # only reported: an arm may still be returning in these rests of 1.0 and 1.2 s
    found.append(Bar(9, f"pushes with motion at rest, of {row['count']}", where, row["moving"]))
    return found


def _with_operators(where: str, rows: Sequence[Row], clean: dict[str, Row]) -> list[Bar]:
    """Bar 8: real operators; of each line the worst operator, with its name."""
    lines: dict[str, tuple[Bar, str]] = {}
    for who in dict.fromkeys(row["operator"] for row in rows):
        for bar in _with_one_operator(where, [row for row in rows if row["operator"] == who], clean):
            if bar.what not in lines or bar.value > lines[bar.what][0].value:
                lines[bar.what] = bar, who
    return [replace(bar, what=f"{bar.what} ({who})" if bar.value > 0 else bar.what) for bar, who in lines.values()]


def _with_one_operator(where: str, own: Sequence[Row], clean: dict[str, Row]) -> list[Bar]:
    found = _bounds(where, own, 8) + _hold(where, own, 8) + _rest(where, own, 8)
    found.append(Bar(8, "chatter, worst % of ticks", where, 100 * worst(own, "chatter_frac"), 0.5))
    found.append(Bar(8, "stated lag, ms", where, 1e3 * worst(own, "lag_s"), 25.0))
    back = [row for row in own if row["hazard"] in RETURNS and row.get("recovery_n")]
    if back:
        found.append(Bar(8, "not recovered", where, sum(row["recovery_never"] for row in back), 0))
    if own[0]["arm"] in SIX_JOINTS:
        found.append(Bar(8, "closure (same branch), rad", where, worst(own, "closure_rad"), 1e-6))
    ratios = [row["jerk_rms"] / clean[row["hazard"]]["jerk_rms"] for row in own if row["hazard"] in clean]
    if ratios:
        found.append(Bar(8, "jerk / clean run, geometric mean", where, float(np.exp(np.mean(np.log(ratios)))), 2.0))
    hand = [row for row in own if row["hazard"] == "s7_hand"]
    if hand and "s7_hand" in clean and clean["s7_hand"]["reachable_frac"] > 0.05:
        lost = clean["s7_hand"]["in_tol_frac_reachable"] - hand[0]["in_tol_frac_reachable"]
        found.append(Bar(8, "s7 in tolerance, points below clean", where, 100 * lost, 5.0))
        found.append(Bar(8, "s7 jerk / clean run", where, hand[0]["jerk_rms"] / clean["s7_hand"]["jerk_rms"], 2.0))
    return found


def _middle(rows: Iterable[Row], key: str) -> float:
    return float(np.median([or_infinity(row[key]) for row in rows if key in row]))


def _short(value: float) -> str:
    if value == 0 or 1e-3 <= abs(value) < 1e5:
        return f"{value:.4g}"
    return f"{value:.1e}"
