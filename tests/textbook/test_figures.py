"""The chapter's figures: the numbers behind them, and drawings that can be read."""

from __future__ import annotations

import itertools
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from lxml import etree

import supple
from supple import Goal, MissingExtra, Solver, UnknownName, method, models
from supple.analysis import TwoLink, constraint
from supple.textbook import chapter, compare, figures, figures_jacobian, figures_two_link
from supple.view import solution

ALL = tuple(f"5.{n}" for n in range(14, 26))


# -- numbers ------------------------------------------------------------------------------------------------------


def test_a_straight_line_is_followed_nearly_straight_and_ends_near_its_goal() -> None:
    plain, damped = chapter.runs("5.20")
    assert plain.distance[-1] == pytest.approx(0.095, abs=5e-4)
    assert damped.distance[-1] == pytest.approx(0.439, abs=5e-4)
    for run in (plain, damped):
        way = np.linalg.norm(run.goals[-1] - run.goals[0])
        assert run.deviation < 0.01 * way
        assert run.largest_change < 0.17
        assert run.q.shape == (21, 3)
        assert np.array_equal(run.q[0], chapter.START)


def test_out_of_reach_the_plain_arm_jerks_and_the_damped_one_stretches_calmly() -> None:
    plain, damped = chapter.runs("5.21")
    assert plain.largest_change == pytest.approx(1.359, abs=5e-4)
    assert damped.largest_change == pytest.approx(0.304, abs=5e-4)
    assert np.abs(damped.q[-1, 1:]).max() < 0.06
    assert np.linalg.norm(damped.end_effector[-1]) == pytest.approx(30, abs=0.03)
    assert chapter.shown("5.21") == (0, 10, 18, 19, 20)


def test_the_same_goal_held_ends_on_the_edge_of_the_workspace() -> None:
    held = chapter.textbook_solver(method.damped(), damping=25)
    q = chapter.runs("5.21")[1].q[-1]
    for _ in range(2000):
        q = held.step(models.planar3(), chapter.planar_goal([*chapter.FAR, 0]), q)
    left = np.linalg.norm(models.planar3().frame(q, "tip").position[:2] - chapter.FAR)
    assert left == pytest.approx(np.hypot(*chapter.FAR) - 30, abs=1e-3)


def test_a_higher_gain_keeps_its_joint_straighter() -> None:
    second, third = chapter.runs("5.22")
    plain = chapter.runs("5.20")[0]
    assert second.q[-1, 1:] == pytest.approx([0.97, 1.43], abs=5e-3)
    assert third.q[-1, 1:] == pytest.approx([1.62, 0.04], abs=5e-3)
    assert plain.q[-1, 1:] == pytest.approx([1.371, 0.659], abs=5e-4)
    assert second.q[-1, 1] < plain.q[-1, 1]
    assert third.q[-1, 2] < plain.q[-1, 2]


def test_pulled_transposed_and_descending_arms_end_where_they_are_said_to() -> None:
    assert chapter.runs("5.23")[0].distance[-1] == pytest.approx(0.216, abs=5e-4)
    slow, best = chapter.runs("5.24")
    assert slow.distance[-1] == pytest.approx(0.04, abs=5e-3)
    assert best.distance[-1] < 0.6
    once, ten = chapter.runs("5.25")
    assert ten.distance.max() < 0.01 < once.distance[-1]


def test_both_elbows_reach_the_goal_and_every_hand_lies_in_the_ring() -> None:
    arm = models.planar2()
    on, back = figures_two_link.elbows()
    assert on[1] == pytest.approx(-back[1])
    assert on[1] > 0
    for q in (on, back):
        assert arm.frame(q, "tip").position[:2] == pytest.approx(figures_two_link.POINT, abs=1e-12)
    hands = arm.frame(arm.random(4000, seed=1), "tip").position
    assert np.all(TwoLink(arm, "tip").annulus.contains(hands, 1e-9))


def test_what_the_joints_add_up_to_is_what_was_wanted() -> None:
    arm = models.planar3()
    _, parts = figures_jacobian.step_of_each_joint()
    hand = arm.frame(figures_jacobian.BENT, "tip").position[:2]
    assert hand + parts.sum(axis=0) == pytest.approx(figures_jacobian.WANTED, abs=1e-10)
    levers = hand - chapter.places(arm, figures_jacobian.BENT)[:3]
    for lever, change in zip(levers, figures_jacobian.jacobian_columns(arm, figures_jacobian.BENT), strict=True):
        assert change == pytest.approx([-lever[1], lever[0]], abs=1e-12)


def test_the_straight_arm_is_singular_and_its_goal_is_not_unreachable() -> None:
    arm, (q, at) = models.planar3(), figures_jacobian.straight()
    goal = chapter.planar_goal([*at, 0])
    here = constraint(arm, goal, q)
    assert here.lost == 1
    assert here.stalled
    solver = chapter.textbook_solver(method.damped(), damping=25)
    assert np.abs(solver.step(arm, goal, q) - q).max() < 1e-12
    assert solver.solve(arm, goal, q + figures_jacobian.BEND).arrived


def test_an_unknown_figure_is_refused_with_near_matches() -> None:
    with pytest.raises(UnknownName, match=r"'5\.2'; did you mean '5\.2"):
        figures.draw("5.2")
    with pytest.raises(UnknownName, match="figure with frames"):
        chapter.runs("5.14")
    with pytest.raises(supple.BadInput, match="gif"):
        figures.save("nowhere", ["5.20"], ["gif"])
    assert not Path("nowhere").exists()
    assert figures.names() == ALL


def test_figures_are_not_drawn_without_matplotlib_and_nothing_else_needs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    code = "import sys, supple.cli, supple.textbook.figures, supple.view.solution; print('matplotlib' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingExtra, match=r"supple\[plot\]"):
        figures.draw("5.20")


# -- the table ----------------------------------------------------------------------------------------------------


def test_the_table_says_what_the_solver_says() -> None:
    near, far, two = compare.chapter_tables(rounds=1)
    for table in (near, far, two):
        assert [row.method for row in table.rows][: len(method.names())] == list(method.names())
        for row in table.rows:
            assert row.refused or row.iterations > 0
    by_name = [{row.method: row for row in table.rows} for table in (near, two)]
    assert "square" in by_name[0]["inverse"].refused
    assert by_name[1]["inverse"].arrived == by_name[0]["search"].arrived == by_name[1]["search"].arrived == 1
    assert not any(row.arrived for row in far.rows if not row.refused)
    damped = by_name[0]["damped"]
    found = Solver(method=method.damped()).solve(models.planar3(), chapter.planar_goal([*chapter.NEAR, 0]))
    said = (damped.iterations, damped.distance, damped.largest, damped.path)
    assert said == (found.iterations, found.distance[0], found.largest_step, found.path)
    lines = str(near).splitlines()
    assert lines[0] == "**planar3 to (-20, 5)**"
    assert {line.count("|") for line in lines[2:]} == {8}
    assert len({len(line) for line in lines[2:]}) == 1
    assert len(lines) == 4 + len(near.rows)


# -- drawings -----------------------------------------------------------------------------------------------------


def texts(figure: Any) -> list[tuple[str, Any]]:
    """Every text that can be seen, with its box in pixels."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.text import Text

    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    shown = [text for text in figure.findobj(Text) if text.get_visible() and text.get_text().strip()]
    return [(text.get_text(), text.get_window_extent(canvas.get_renderer())) for text in shown]


def assert_legible(figure: Any) -> None:
    """No text lies on another or leaves the page."""
    boxes = texts(figure)
    page = figure.bbox
    assert len(boxes) > 3
    for words, box in boxes:
        inside = box.x0 >= page.x0 and box.x1 <= page.x1 and box.y0 >= page.y0 and box.y1 <= page.y1
        assert inside, f"{words!r} leaves the page"
    for (one, a), (other, b) in itertools.combinations(boxes, 2):
        assert not a.overlaps(b), f"{one!r} lies on {other!r}"


@pytest.mark.slow
@pytest.mark.parametrize("name", ALL)
def test_no_text_of_a_figure_lies_on_another(name: str) -> None:
    pytest.importorskip("matplotlib")
    assert_legible(figures.draw(name))


@pytest.mark.slow
@pytest.mark.parametrize("name", chapter.names())
def test_panels_show_what_the_solver_did(name: str) -> None:
    pytest.importorskip("matplotlib")
    figure, frames = figures.draw(name), chapter.shown(name)
    panels = iter(figure.axes)
    for run in chapter.runs(name):
        for k in frames:
            axes = next(panels)
            lines = [np.array(line.get_data()) for line in axes.lines]
            ways = [run.end_effector[: k + 1, :2].T, *(place.T for place in limbs_of(run, k))]
            for way in ways:
                assert any(line.shape == way.shape and np.allclose(line, way, atol=1e-12) for line in lines)
            assert axes.get_title("left") == f"frame {k}"
            assert axes.get_title("right") == (f"{run.distance[k]:.3f} m from the goal" if k else "")
    assert next(panels, None) is None
    assert len({(axes.get_xlim(), axes.get_ylim()) for axes in figure.axes}) == 1


def limbs_of(run: chapter.Run, k: int) -> list[Any]:
    places = chapter.places(run.linkage, run.q[k])
    return [places[i : i + 2] for i in range(3)]


@pytest.mark.slow
def test_figures_are_written_as_pixels_and_as_lines_into_their_folder_only(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    out = tmp_path / "new" / "folder"
    written = figures.save(out, ["5.19", "5.21", "5.19"])
    assert [path.name for path in written] == [f"figure-{n}.{e}" for n in ("5.19", "5.21") for e in ("png", "svg")]
    assert sorted(path for path in tmp_path.rglob("*") if path.is_file()) == sorted(written)
    for path in written:
        if path.suffix == ".svg":
            drawing = etree.parse(path).getroot()
            assert drawing.tag.endswith("svg")
            assert [True for part in drawing.iter() if str(part.tag).endswith("path")]
        else:
            head = path.read_bytes()[:24]
            assert head.startswith(b"\x89PNG")
            assert int.from_bytes(head[16:20], "big") > 500  # width in pixels
    again = figures.save(tmp_path / "again", ["5.19"])
    assert [path.read_bytes() for path in again] == [path.read_bytes() for path in written[:2]]


# -- a picture of an answer ---------------------------------------------------------------------------------------


def test_only_arms_that_stay_level_are_drawn_from_above() -> None:
    assert [name for name in models.names() if solution.is_horizontal(models.get(name))] == ["planar2", "planar3"]


@pytest.mark.parametrize(
    ("name", "goal"),
    [
        ("planar3", Goal("tip", position=[-20, 5, 0])),
        ("planar3", Goal("tip", position=[-35, 5, 0])),
        ("panda", Goal("panda_hand_tcp", supple.Frame.at([0.4, 0.1, 0.5]))),
        ("panda", Goal("panda_hand_tcp", position=[2, 0.1, 0.5])),
        ("baxter", Goal("left_gripper", axis=[0, 0, 1], direction=[0, 0, -1])),
    ],
)
def test_an_answer_is_drawn_with_its_sentence_its_hand_and_its_goal(name: str, goal: Goal) -> None:
    pytest.importorskip("matplotlib")
    found = supple.solve(models.get(name), goal)
    figure = solution.draw(found)
    sentence = " ".join(figure.texts[0].get_text().split())
    assert sentence == f"{name}: {found}"
    drawn = [
        np.ravel(line.get_data_3d() if hasattr(line, "get_data_3d") else line.get_data())
        for line in figure.axes[0].lines
    ]
    size = 2 if name == "planar3" else 3
    hand = found.linkage.frame(found.q, goal.link).position[:size]
    places = [hand] if goal.position is None else [hand, goal.position[:size]]
    for place in places:
        assert any(line.shape == place.shape and np.allclose(line, place) for line in drawn)
    if size == 2:
        assert_legible(figure)


def test_many_answers_are_not_drawn_on_one_sheet() -> None:
    pytest.importorskip("matplotlib")
    found = supple.solve(models.planar3(), Goal("tip", position=[[-20, 5, 0], [10, 5, 0]]))
    with pytest.raises(supple.BadInput, match="one solution"):
        solution.draw(found)
    assert len(solution.draw(found[1]).axes) == 1
