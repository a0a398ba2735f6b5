"""The acceptance bars and comparison tables of benchmarks/acceptance."""

from __future__ import annotations

from typing import Any

from acceptance.comparison import better_peers
from acceptance.criteria import Bar, bars
from acceptance.tables import hazard_tables, summary_table

from supple import gauntlet


def rows_of(arm: str, **changed: Any) -> list[dict[str, Any]]:
    made = []
    for one in gauntlet.hazards(arm):
        run = gauntlet.run(one, gauntlet.tracked(replay=True))
        made.append(gauntlet.make_row(run, "supple", gauntlet.measure(run)) | changed)
    return made


def test_a_bar_is_met_up_to_its_limit_and_not_beyond() -> None:
    assert Bar(1, "x", "y", 1.0, 1.0).met
    assert not Bar(1, "x", "y", 1.1, 1.0).met
    assert Bar(6, "x", "y", 1.1, 1.0, least=True).met
    assert Bar(7, "x", "y", 1.1).met is None
    assert "MISSED" in str(Bar(1, "x", "y", 1.1, 1.0))


def test_there_is_a_bar_for_every_measured_row() -> None:
    found = bars(rows_of("ur5"))
    said = {bar.what for bar in found}
    assert {bar.number for bar in found} == {1, 2, 3, 4, 5, 6, 9}
    assert {"s1 position, um rms", "s3 worst mm", "hold: joint speed, rad/s", "s7 in tolerance, %"} <= said
    assert {"rest: joint speed, rad/s", "rest: peak to peak of a joint, rad"} <= said
    assert all(bar.met for bar in found if bar.number == 1)
    broken = bars(rows_of("ur5", limit_viol_worst_rad=1e-9, chatter_frac=0.5))
    assert {bar.what for bar in broken if bar.met is False} >= {"limits violated, rad", "chatter, worst % of ticks"}
    buzzing = bars(rows_of("ur5", rest_joint_speed_max=1.1e-6))
    assert {bar.what for bar in buzzing if bar.met is False and bar.number == 9} == {"rest: joint speed, rad/s"}
    assert bars(rows_of("ur5"), "another") == []


def test_a_better_controller_is_listed_with_its_measure() -> None:
    mine = rows_of("kraft")
    better = [row | {"controller": "peer", "jerk_rms": 0.0} for row in mine]
    found = better_peers(mine + better)
    assert {worse.what for worse in found} == {"rad/s3 jerk"}
    assert {worse.whose for worse in found} == {"peer"}
    assert better_peers(mine) == []


def test_tables_have_a_line_for_each_controller() -> None:
    rows = rows_of("ur5") + rows_of("ur5", controller="peer")
    assert [line.split("|")[1].strip() for line in summary_table(rows).splitlines()[2:]] == ["supple", "peer"]
    assert hazard_tables(rows).count("**s") == 8
