"""Laws of workspaces: what is sampled is reachable, what is dexterous is so by theory, and neither depends on cores."""

from __future__ import annotations

import io
import math
import os
import subprocess
import sys

import numpy as np
import pytest

import supple
from supple import BadInput, Frame, Goal, Joint, Linkage, MissingExtra, Solver, UnknownName, models, workspace
from supple._linkage import outline as _outline
from supple._linkage import sampling
from supple._progress import Progress
from supple.view import cloud
from supple.workspace import Workspace, dexterous, reachable

PI = math.pi


def disc() -> Workspace:
    return reachable(models.planar3(), "tip", 200_000)


# -- reachable --------------------------------------------------------------------------------------------------


def test_the_planar_arm_fills_its_disc_and_nothing_else() -> None:
    found = disc()
    assert found.flat
    assert found.dimension == 2
    assert found.distances[1] <= 30 + 1e-9
    assert abs(found.area() / (PI * 30**2) - 1) < 0.02
    assert found.volume() == 0
    assert "m² reachable" in str(found)


def test_a_ring_has_its_hole() -> None:
    found = reachable(models.planar2(), "tip", 200_000)
    assert 5 - 1e-9 <= found.distances[0] < 5.01
    assert abs(found.area() / (PI * (25**2 - 5**2)) - 1) < 0.02
    assert found.contains([[0, 0, 0], [15, 0, 0], [0, -20, 0], [26, 0, 0], [15, 0, 3]]).tolist() == [
        False,
        True,
        True,
        False,
        False,
    ]


@pytest.mark.parametrize(
    ("name", "link"), [("panda", "panda_hand_tcp"), ("so101", "gripper_frame_link"), ("planar3", "tip")]
)
def test_no_sample_is_beyond_the_reach(name: str, link: str) -> None:
    linkage = models.get(name)
    found = reachable(linkage, link, 50_000)
    assert found.positions.shape == (50_000, 3)
    assert found.distances[1] <= linkage.reach(link) + 1e-9
    assert found.counts.sum() == 50_000
    assert found.contains(found.positions).all()
    low, high = found.bounds
    assert ((found.positions >= low) & (found.positions <= high)).all()


def test_a_ball_of_two_links_has_the_volume_of_a_ball() -> None:
    """A shoulder that turns every way and an elbow: the solid between two spheres."""
    shoulder = Joint.ball("shoulder", "base", "upper")
    elbow = Joint.revolute("elbow", "upper", "fore", at=Frame.at([1, 0, 0]))
    arm = Linkage("arm", [shoulder, elbow, Joint.fixed("end", "fore", "hand", at=Frame.at([0.5, 0, 0]))])
    found = reachable(arm, "hand", 400_000)
    assert found.dimension == 3
    assert not found.flat
    assert abs(found.volume() / (4 / 3 * PI * (1.5**3 - 0.5**3)) - 1) < 0.03


def test_moving_the_base_moves_the_workspace_and_keeps_its_size() -> None:
    rng = np.random.default_rng(0)
    base = Frame.at(10 * rng.normal(size=3)) @ Frame.quaternion(rng.normal(size=4))
    here, there = disc(), reachable(models.planar3().at(base), "tip", 200_000)
    np.testing.assert_allclose(there.positions, base.apply(here.positions), atol=1e-10)
    assert there.flat
    assert abs(there.area() / here.area() - 1) < 0.01
    points = rng.uniform(-29, 29, (1000, 3)) * [1, 1, 0]
    points = points[np.abs(np.linalg.norm(points, axis=-1) - 30) > 2]
    assert np.array_equal(there.contains(base.apply(points)), here.contains(points))


def test_what_fills_no_volume_says_so() -> None:
    pair = [Joint.revolute("yaw", "a", "b"), Joint.revolute("pitch", "b", "c", axis=[0, 1, 0])]
    sphere = reachable(Linkage("s", [*pair, Joint.fixed("end", "c", "tip", at=Frame.at([1, 0, 0]))]), "tip", 20_000)
    assert (sphere.dimension, sphere.flat, sphere.volume()) == (2, False, 0)
    with pytest.raises(BadInput, match="not flat"):
        sphere.area()
    slide = reachable(Linkage("line", [Joint.prismatic("x", "a", "b", axis=[1, 2, 3], lower=0, upper=1)]), "b", 5000)
    assert (slide.dimension, slide.flat, slide.area()) == (1, True, 0)
    assert "no volume" in str(slide)


@pytest.mark.slow
def test_a_seed_gives_the_same_bits_on_any_number_of_cores() -> None:
    code = (
        "import hashlib, supple\n"
        "from supple.workspace import dexterous, reachable\n"
        "arm = supple.models.panda()\n"
        "w = reachable(arm, 'panda_hand_tcp', 100_001)\n"
        "d = dexterous(arm, 'panda_hand_tcp', 4, samples=20_000, voxel=0.4, starts=2)\n"
        "print(hashlib.sha256(w.positions.tobytes()).hexdigest(), w.volume(), d.dexterity.tobytes().hex())"
    )
    said = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "SUPPLE_THREADS": threads},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for threads in ("1", "2", "5")
    }
    assert len(said) == 1


def test_another_seed_gives_other_samples_and_nearly_the_same_volume() -> None:
    one, two = (reachable(models.panda(), "panda_hand_tcp", 100_000, seed=seed) for seed in (0, 1))
    assert not np.array_equal(one.positions, two.positions)
    assert abs(one.volume() / two.volume() - 1) < 0.05


@pytest.mark.slow
def test_the_outline_goes_around_every_sample_of_the_section() -> None:
    found = disc()
    around = found.outline()
    radius = np.linalg.norm(around, axis=-1)
    assert (radius > 29.5).all()
    assert (radius <= 30 + 1e-9).all()
    edges = np.roll(around, -1, axis=0) - around
    outward = np.cross(edges, [0, 0, 1])
    for corner, normal in zip(around, outward, strict=True):
        assert ((found.positions[::50] - corner) @ normal).max() < 1e-9
    assert np.array_equal(_outline.hull(found.positions[:1000, :2]), _outline.hull(found.positions[:1000, :2][::-1]))
    panda = reachable(models.panda(), "panda_hand_tcp", 50_000)
    side = panda.outline()
    assert np.abs(side[:, 1]).max() < 1e-12
    assert len(side) > 10
    assert panda.outline(through=[0, 5, 0]).shape == (0, 3)
    assert np.allclose(panda.outline([0, 0, 2], [0, 0, 0.5])[:, 2], 0.5)


@pytest.mark.parametrize("n", [0, 1, 2, 3, 4, 2000])
def test_a_hull_is_convex_whatever_the_number_of_points(n: int) -> None:
    points = np.random.default_rng(n).normal(size=(n, 2))
    corners = _outline.hull(points)
    assert len(corners) <= n
    assert {tuple(c) for c in corners} <= {tuple(p) for p in points}
    if n > 2:
        ahead = np.roll(corners, -1, axis=0) - corners
        turns = ahead[:, 0] * np.roll(ahead[:, 1], -1) - ahead[:, 1] * np.roll(ahead[:, 0], -1)
        assert (turns > 0).all()
        outward = np.stack([ahead[:, 1], -ahead[:, 0]])
        assert (points @ outward - (corners * outward.T).sum(axis=-1)).max() < 1e-12
    else:
        assert len(corners) == n


# -- dexterous --------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_three_links_turn_every_way_where_theory_says() -> None:
    """The wrist must come within the ring of the first two links: all around it, for 10 <= r <= 20."""
    n, arm = 36, models.planar3()
    found = dexterous(arm, "tip", n, samples=50_000, voxel=1.5)
    assert found.dexterity is not None
    tried = ~np.isnan(found.dexterity)
    assert np.array_equal(tried, found.counts > 0)
    middles, dexterity = found.centres(), found.dexterity[tried]
    angle = arm.rest.sum() + 2 * PI * np.arange(n) / n
    wrist = middles[:, None, :2] - 5 * np.stack([np.cos(angle), np.sin(angle)], axis=-1)
    far = np.linalg.norm(wrist, axis=-1)
    possible = (far >= 5) & (far <= 25)
    unclear = (np.abs(far - 5) < 0.02) | (np.abs(far - 25) < 0.02)
    assert (np.abs(dexterity - possible.mean(axis=-1)) <= unclear.mean(axis=-1) + 1e-12).all()
    radius = np.linalg.norm(middles, axis=-1)
    assert (dexterity[(radius > 10.05) & (radius < 19.95)] == 1).all()
    assert (dexterity[(radius < 9.5) | (radius > 20.5)] < 1).all()
    assert abs(found.area(1) / (PI * (20**2 - 10**2)) - 1) < 0.05
    assert found.contains([15, 0, 0], dexterity=1)
    assert not found.contains([25, 0, 0], dexterity=1)
    assert found.contains([25, 0, 0], dexterity=0.1)
    assert "in any orientation" in str(found)


def test_two_links_turn_almost_no_way() -> None:
    found = dexterous(models.planar2(), "tip", 16, samples=20_000, voxel=3)
    assert found.area(1) == 0
    assert np.nanmean(found.dexterity) < 0.05  # two of infinitely many


def test_a_spherical_wrist_makes_all_orientations_of_its_ring() -> None:
    """Two links and a ball joint for a hand: wherever it gets, it turns every way."""
    yaw = Joint.revolute("yaw", "base", "turret")
    lift = Joint.revolute("lift", "turret", "upper", axis=[0, 1, 0])
    elbow = Joint.revolute("elbow", "upper", "fore", at=Frame.at([1, 0, 0]), axis=[0, 1, 0])
    arm = Linkage("arm", [yaw, lift, elbow, Joint.ball("wrist", "fore", "hand", at=Frame.at([0.6, 0, 0]))])
    found = dexterous(arm, "hand", 8, samples=20_000, voxel=0.4)
    middles = found.centres()
    radius = np.linalg.norm(middles, axis=-1)
    assert found.dexterity is not None
    inside = (radius > 0.5) & (radius < 1.5)
    assert (found.dexterity[found.counts > 0][inside] == 1).mean() > 0.99
    assert (found.dexterity[found.counts > 0][radius > 1.6] == 0).all()


def test_what_counts_as_reached_is_reached() -> None:
    """Full marks in a voxel are confirmed by another, stricter solve."""
    arm = models.ur5()
    found = dexterous(arm, "tool0", 6, samples=50_000, voxel=0.3)
    turns = sampling.orientations(arm, "tool0", 6)
    middles = found.centres(1.0)[:20]
    assert len(middles) == 20
    goal = Goal("tool0", position=middles[:, None], orientation=turns)
    reached = np.zeros((20, 6), dtype=bool)
    for seed in range(12):
        reached |= Solver().solve(arm, goal, start=arm.random(20, 6, seed=seed)).arrived
    assert reached.all()


def test_orientations_are_well_spread() -> None:
    turns = sampling.orientations(models.panda(), "panda_hand_tcp", 256)
    np.testing.assert_allclose(turns @ np.swapaxes(turns, -1, -2), np.broadcast_to(np.eye(3), (256, 3, 3)), atol=1e-12)
    assert np.abs(turns.mean(axis=0)).max() < 0.03  # balanced
    q = Frame.at(np.zeros(3), turns).to_quaternion()
    alike = np.abs(q @ q.T) - 2 * np.eye(256)
    assert 2 * np.arccos(min(1.0, alike.max())) > 0.15  # no two are nearly the same
    other = Frame.quaternion(np.random.default_rng(0).normal(size=(2000, 4))).to_quaternion()
    assert 2 * np.arccos(np.abs(other @ q.T).max(axis=-1)).max() < 1.1  # and no turn is far from all of them


def test_a_search_begins_from_what_is_turned_most_alike() -> None:
    turned = Frame.turn([0, 0, 1], np.linspace(0, 3, 31)).to_quaternion()
    wanted = Frame.turn([0, 0, 1], [0.52, 2.11]).to_quaternion()
    assert sampling.nearest_orientations(np.arange(31), turned, wanted, 3).tolist() == [[5, 6, 4], [21, 22, 20]]
    few = sampling.nearest_orientations(np.array([30]), turned, wanted, 4)
    assert few.shape == (2, 4)
    assert few[1, 0] == 30


# -- bad questions, Ctrl-C, the bar -----------------------------------------------------------------------------


def test_bad_questions_are_refused_before_any_work() -> None:
    arm = models.planar3()
    with pytest.raises(UnknownName, match="tip"):
        reachable(arm, "top")
    with pytest.raises(BadInput, match="must be a Linkage"):
        reachable("planar3", "tip")  # type: ignore[arg-type]
    for bad in (0, -5, 2.5, True):
        with pytest.raises(BadInput, match="samples"):
            reachable(arm, "tip", bad)  # type: ignore[arg-type]
    for voxel in (0.0, -1.0, math.nan, math.inf):
        with pytest.raises(BadInput, match="voxel"):
            reachable(arm, "tip", voxel=voxel)
    with pytest.raises(BadInput, match="too small"):
        reachable(arm, "tip", 1000, voxel=1e-4)
    with pytest.raises(BadInput, match="seed"):
        reachable(arm, "tip", 10, seed=-1)
    with pytest.raises(BadInput, match="no joint moves the position of link 'base'"):
        reachable(arm, "base")
    with pytest.raises(BadInput, match="orientations"):
        dexterous(arm, "tip", 0)
    with pytest.raises(BadInput, match="starts"):
        dexterous(arm, "tip", starts=0)
    with pytest.raises(BadInput, match="solver"):
        dexterous(arm, "tip", solver="damped")  # type: ignore[arg-type]
    found = reachable(arm, "tip", 1000)
    with pytest.raises(BadInput, match="only positions"):
        found.area(1)
    with pytest.raises(BadInput, match="between 0 and 1"):
        found.contains([0, 0, 0], dexterity=2)
    with pytest.raises(BadInput, match="point"):
        found.contains([0, 0])
    with pytest.raises(BadInput, match="normal"):
        found.outline([0, 0, 0])


def interrupting(monkeypatch: pytest.MonkeyPatch, after: int) -> None:
    def step(self: Progress, n: int = 1) -> None:
        self.done += n
        if self.done >= after:
            raise KeyboardInterrupt

    monkeypatch.setattr(Progress, "step", step)


def test_ctrl_c_leaves_what_was_drawn_by_then(monkeypatch: pytest.MonkeyPatch) -> None:
    interrupting(monkeypatch, 3)
    found = reachable(models.planar3(), "tip", 40 * sampling.CHUNK)
    assert not found.complete
    assert 3 * sampling.CHUNK <= len(found.positions) < 40 * sampling.CHUNK
    assert found.counts.sum() == len(found.positions)
    assert np.linalg.norm(found.positions, axis=-1).max() <= 30 + 1e-9


def test_ctrl_c_leaves_the_voxels_tried_by_then(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workspace, "ROWS", 64)
    interrupting(monkeypatch, 10)
    found = dexterous(models.planar3(), "tip", 8, samples=10_000, voxel=3)
    assert not found.complete
    assert found.dexterity is not None
    tried = ~np.isnan(found.dexterity)
    assert 0 < tried.sum() < (found.counts > 0).sum()


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_the_bar_waits_a_second_and_leaves_no_trace() -> None:
    stream, now = Terminal(), [0.0]
    with Progress("work", 10, stream=stream, clock=lambda: now[0]) as bar:
        now[0] = 0.9
        bar.step(2)
        assert stream.getvalue() == ""
        now[0] = 1.0
        bar.step(3)
        assert stream.getvalue() == "\rwork [###############...............]  50 %, 1 s left"
        now[0] = 1.05
        bar.step()  # too soon after the last one
        assert stream.getvalue().count("\r") == 1
        now[0] = 2.0
        bar.step(4)
        assert "100 %, 0 s left" in stream.getvalue()
    assert stream.getvalue().endswith("\r")
    assert stream.getvalue().rsplit("\r", 2)[1].strip() == ""


@pytest.mark.parametrize(("stream", "shown"), [(io.StringIO(), True), (Terminal(), False)])
def test_no_bar_without_a_terminal_or_unasked(stream: io.StringIO, shown: bool) -> None:
    now = [0.0]
    with Progress("work", 10, shown=shown, stream=stream, clock=lambda: now[0]) as bar:
        for now[0] in range(1, 11):
            bar.step()
    assert stream.getvalue() == ""


# -- drawn ------------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("normal", [None, [0, 1, 0], [1, 1, 0]])
def test_a_section_is_drawn_within_its_bounds(normal: list[float] | None) -> None:
    pytest.importorskip("matplotlib").use("Agg")
    from matplotlib import pyplot

    found = reachable(models.panda(), "panda_hand_tcp", 50_000)
    figure, ax = pyplot.subplots()
    assert found.draw(ax, normal=normal) is ax
    assert ax.get_ylabel() == "z (m)"
    low, high = found.bounds
    assert low[2] - found.voxel <= ax.dataLim.y0
    assert ax.dataLim.y1 <= high[2] + found.voxel
    figure.canvas.draw()
    pyplot.close(figure)


def test_a_flat_one_and_a_dexterous_one_are_drawn_on_axes_of_their_own() -> None:
    pytest.importorskip("matplotlib").use("Agg")
    from matplotlib import pyplot

    ax = dexterous(models.planar3(), "tip", 4, samples=5000, voxel=5).draw()
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("x (m)", "y (m)")
    values = ax.collections[0].get_array()
    assert values.min() >= 0
    assert values.max() == 1
    pyplot.close(ax.figure)


def test_a_picture_without_matplotlib_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingExtra, match=r"supple\[plot\]"):
        disc().draw()


def test_a_cloud_shows_what_is_asked_of_it() -> None:
    pytest.importorskip("viser")
    arm = models.planar3()
    found = dexterous(arm, "tip", 8, samples=20_000, voxel=2)
    with supple.view.serve(arm, port=0) as viewer:
        whole = cloud.add(viewer, found, points=5000)
        assert 2500 < len(whole.points) <= 5000
        assert whole.colors.shape == whole.points.shape
        half = cloud.add(viewer, found, beyond=[1, 0, 0], dexterity=1, name="/half")
        assert (half.points[:, 0] >= 0).all()
        radius = np.linalg.norm(half.points.astype(float), axis=-1)
        assert radius.min() > 10 - 2
        assert radius.max() < 20 + 2
        assert (half.colors == cloud.COLOURS[-1]).all()
        reached = cloud.add(viewer, reachable(arm, "tip", 5000), name="/reached")
        assert len(reached.points) == 5000
        with pytest.raises(BadInput, match="points"):
            cloud.add(viewer, found, points=0)
        whole.remove()
