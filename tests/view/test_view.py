"""The viewer without a browser: what is drawn, where it is, and what the sliders may do."""

from __future__ import annotations

import asyncio
import socket
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import supple.view
from drawn_frames import drawn_frames
from supple import (
    Box,
    Capsule,
    Cylinder,
    Frame,
    Geometry,
    Goal,
    Joint,
    Link,
    Linkage,
    Mesh,
    Solver,
    Sphere,
    models,
)
from supple.errors import BadInput, MissingExtra

pytest.importorskip("viser", reason="the view extra is not installed")
trimesh = pytest.importorskip("trimesh")

from supple.view import bodies, panel, solids  # noqa: E402
from supple.view.server import _SharedEvent  # noqa: E402

ALL = models.names()
WHITE = (1.0, 1.0, 1.0, 1.0)


def odd() -> Linkage:
    """One joint of every kind, and names that a scene tree must not trip over."""
    return Linkage(
        "odd",
        [
            Joint.prismatic("lift", "base", "a/b", lower=0, upper=0.5, at=Frame.at([0, 0, 0.2])),
            Joint.ball("shoulder", "a/b", "upper arm", axis=[1, 0, 0], swing=0.5, at=Frame.at([0.2, 0, 0])),
            Joint.revolute("elbow", "upper arm", "fore", lower=0.3, upper=0.3, at=Frame.at([0.3, 0, 0])),
            Joint.fixed("grip", "fore", "手", at=Frame.at([0.3, 0, 0])),
            Joint.continuous("wheel", "base", "wheel"),
            Joint.planar("table", "base", "puck"),
            Joint.floating("free", "base", "drone"),
        ],
    )


def only(shape: object) -> Linkage:
    return Linkage(
        "one", [Joint.revolute("j", "a", "b", at=Frame.at([1, 0, 0]))], [Link("a", (Geometry(shape),)), Link("b")]
    )  # type: ignore[arg-type]


def test_importing_the_viewer_imports_no_extra() -> None:
    code = "import sys, supple, supple.view; print([m for m in ('viser', 'trimesh', 'websockets') if m in sys.modules])"
    assert (
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip() == "[]"
    )


def test_a_missing_extra_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "viser", None)
    with pytest.raises(MissingExtra, match=r"pip install 'supple\[view\]'"):
        supple.view.serve(models.planar2(), port=0)


def test_show_returns_a_viewer_that_can_be_closed_twice() -> None:
    viewer = supple.view.show(models.planar2(), port=0, open_browser=False, block=False)
    assert isinstance(viewer, supple.view.Viewer)
    assert viewer.url in repr(viewer)
    viewer.close()
    viewer.close()
    viewer.wait()  # returns at once: it is closed
    assert "closed" in repr(viewer)


@pytest.mark.slow
@pytest.mark.parametrize(
    "linkage", [*map(models.get, ALL), odd(), Linkage("dot", links=[Link("dot")])], ids=lambda x: x.name
)
def test_every_link_is_drawn_where_its_frame_is(linkage: Linkage) -> None:
    with supple.view.serve(linkage, port=0) as viewer:
        for q in (linkage.rest, *linkage.random(3, seed=1)):
            viewer.q = q
            frames = linkage.frames(q)
            drawn = drawn_frames(viewer._scene._nodes)
            for link, frame in zip(linkage.links, drawn, strict=True):
                np.testing.assert_allclose(frame.position, frames[link.name].position, atol=1e-12)
                assert np.abs(frame.rotation - frames[link.name].rotation).max() < 1e-9
            assert np.array_equal(viewer.q, q)


@pytest.mark.parametrize("name", ["panda", "baxter", "g1"])
def test_the_motion_of_a_joint_is_one_message(name: str) -> None:
    linkage = models.get(name)
    with supple.view.serve(linkage, port=0) as viewer:
        buffer = viewer._server._websock_server.get_message_buffer()
        mimics = sum(joint.mimic is not None for joint in linkage.joints)
        for q in linkage.random(4, seed=2):
            before = buffer.message_counter
            viewer._scene.show(q)
            assert buffer.message_counter - before <= linkage.dof + mimics + 1


@pytest.mark.slow
@pytest.mark.parametrize("linkage", [*map(models.get, ALL), odd()], ids=lambda x: x.name)
def test_no_slider_leaves_the_limits(linkage: Linkage) -> None:
    with supple.view.serve(linkage, port=0) as viewer:
        sliders = viewer._panel._sliders
        assert len(sliders) == linkage.dof
        for i, slider in enumerate(sliders):
            assert linkage.lower[i] <= slider.min <= slider.max <= linkage.upper[i]
            assert slider.label.startswith(linkage.names[i])
            assert abs(slider.value - np.clip(linkage.rest[i], slider.min, slider.max)) <= slider.step


def test_a_slider_cannot_push_a_ball_joint_out_of_its_cone() -> None:
    with supple.view.serve(odd(), port=0) as viewer:
        i = viewer.linkage.names.index("shoulder.ry")
        slider = viewer._panel._sliders[i]
        slider.value = 2.0
        viewer._panel._slide(SimpleNamespace(client_id=0), i)
        assert viewer.q[i] == pytest.approx(0.5)
        assert slider.value == pytest.approx(0.5)
        assert viewer.linkage.inside(viewer.q, 1e-9)


def test_bad_joint_values_are_refused_and_nothing_moves() -> None:
    with supple.view.serve(models.planar3(), port=0) as viewer:
        before = viewer.q
        for bad in ([1, 2], [1, 2, np.nan], [[1, 2, 3]]):
            with pytest.raises(BadInput):
                viewer.q = bad
        viewer.q[0] = 9.0  # a copy
        assert np.array_equal(viewer.q, before)


def test_a_taken_port_gives_way_to_the_next() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with supple.view.serve(models.planar2(), port=port) as viewer:
            assert viewer.port > port
            assert viewer.url == f"http://127.0.0.1:{viewer.port}"


@pytest.mark.parametrize(
    ("host", "port"), [("no such host", 0), ("127.0.0.1", -1), ("127.0.0.1", 65536), ("192.0.2.1", 0)]
)
def test_an_address_that_cannot_be_served_is_refused(host: str, port: int) -> None:
    with pytest.raises(BadInput, match=r"host|port"):
        supple.view.serve(models.planar2(), host=host, port=port)


@pytest.mark.parametrize("shape", [Box((1, 2, 3)), Sphere(0.5), Cylinder(0.5, 2), Capsule(0.5, 2)])
def test_a_shape_is_drawn_in_its_own_size(shape: object) -> None:
    half = {Box: (0.5, 1, 1.5), Sphere: (0.5, 0.5, 0.5), Cylinder: (0.5, 0.5, 1), Capsule: (0.5, 0.5, 1.5)}[type(shape)]
    (solid,) = solids.solids(shape, None, WHITE)  # type: ignore[arg-type]
    np.testing.assert_allclose(solid.bounds, [np.negative(half), half], atol=0.003)


@pytest.mark.parametrize("axis", [(0, 0, 1), (0, 0, -1), (1, 0, 0), (0, -0.6, 0.8)])
def test_a_cylinder_is_drawn_along_its_axis(axis: tuple[float, float, float]) -> None:
    along = np.asarray(solids.drum(0.1, 3, WHITE, axis).vertices) @ np.array(axis)
    np.testing.assert_allclose([along.min(), along.max()], [-1.5, 1.5], atol=1e-9)


def test_a_limb_reaches_from_its_start_to_its_end() -> None:
    start, end = np.array([1.0, 2, 3]), np.array([2.0, 0, 5])
    vertices = np.asarray(solids.limb(start, end, 0.2, 0.1, WHITE).vertices)
    along = (vertices - start) @ (end - start) / 3
    np.testing.assert_allclose([along.min(), along.max()], [-0.2, 3.1], atol=1e-9)


def test_sharp_edges_stay_sharp_and_round_ones_round() -> None:
    (box,) = solids.solids(Box((1, 1, 1)), None, WHITE)
    assert len(box.vertices) == 24  # each side has its own corners
    assert np.all(np.abs(box.vertex_normals).max(axis=-1) > 0.999)
    (ball,) = solids.solids(Sphere(1), None, WHITE)
    assert len(ball.vertices) == len(trimesh.creation.icosphere(subdivisions=3).vertices)


def test_a_mesh_file_is_drawn_scaled_and_in_place(tmp_path: Path) -> None:
    trimesh.creation.box((1, 1, 1)).export(tmp_path / "cube.stl")
    shape = Mesh(str(tmp_path / "cube.stl"), (1.0, 2.0, 3.0))
    link = Link("a", (Geometry(shape, Frame.at([10, 0, 0])),))
    ((solid,),) = bodies.bodies(Linkage("m", links=[link]))
    np.testing.assert_allclose(solid.bounds, [[9.5, -1, -1.5], [10.5, 1, 1.5]], atol=1e-6)


def test_a_mirrored_mesh_keeps_its_outside_out(tmp_path: Path) -> None:
    trimesh.creation.box((1, 1, 1)).export(tmp_path / "cube.stl")
    (solid,) = solids.solids(Mesh(str(tmp_path / "cube.stl"), (1.0, -2.0, 1.0)), None, WHITE)
    assert solid.volume == pytest.approx(2)
    assert np.all(np.sum(np.asarray(solid.vertex_normals) * np.asarray(solid.vertices), axis=-1) > 0)


@pytest.mark.parametrize(("kind", "of"), [("ply", "face"), ("ply", "vertex"), ("glb", "vertex"), ("stl", "none")])
def test_a_mesh_has_the_colour_given_or_its_own_or_the_default(tmp_path: Path, kind: str, of: str) -> None:
    mesh, path = trimesh.creation.box((1, 1, 1)), tmp_path / f"cube.{kind}"
    if of != "none":
        setattr(mesh.visual, f"{of}_colors", [255, 0, 0, 255])
    mesh.export(path)

    def drawn(colour: solids.Colour | None) -> list[int]:
        (solid,) = solids.solids(Mesh(str(path)), colour, WHITE)
        return list(solid.visual.material.baseColorFactor)

    assert drawn((0.0, 1.0, 0.0, 1.0)) == [0, 255, 0, 255]
    assert drawn(None) == ([255, 255, 255, 255] if of == "none" else [255, 0, 0, 255])


@pytest.mark.parametrize(
    "content", [None, b"", b"solid nothing\nendsolid nothing\n", b"\x00" * 84, b"not a mesh at all"]
)
def test_a_mesh_that_cannot_be_read_gives_way_to_a_limb(tmp_path: Path, content: bytes | None) -> None:
    path = tmp_path / "broken.stl"
    if content is not None:
        path.write_bytes(content)
    first, _ = bodies.bodies(only(Mesh(str(path), found=content is not None)))
    assert first
    assert max(solid.bounds[1][0] for solid in first) > 0.99  # it reaches to the joint, a metre away


def test_limbs_are_cut_where_the_tree_branches() -> None:
    groups = panel.limbs(models.baxter())
    assert [joint.name for _, group in groups for joint in group] == [j.name for j in models.baxter().joints if j.dof]
    assert sorted(len(group) for _, group in groups) == [1, 8, 8]
    assert len(panel.limbs(models.panda())) == 1
    assert [len(group) for _, group in panel.limbs(models.g1())] == [6, 6, 3, 7, 7]


def test_a_scale_lies_within_its_limits() -> None:
    rng = np.random.default_rng(0)
    for _ in range(500):
        low, high = (float(x) for x in np.sort(rng.normal(size=2) * 10.0 ** rng.integers(-6, 6)))
        for least, most in ((low, high), (low, np.inf), (-np.inf, high), (-np.inf, np.inf), (low, low)):
            first, last, step = panel.scale(least, most, 2.0)
            assert least <= first <= last <= most
            assert step > 0
            assert np.isfinite([first, last, step]).all()
            assert last > first or least == most
            if np.isfinite([least, most]).all():
                assert last - first >= 0.99 * (most - least)


def test_the_readout_says_where_the_tip_is() -> None:
    text = panel.readout(models.planar3(), np.zeros(3), "tip")
    assert [cell.strip() for cell in text.splitlines()[2].split("|")[1:-1]] == [
        "position, m",
        "30.0000",
        "0.0000",
        "0.0000",
    ]
    assert "1.0000 0.0000 0.0000 0.0000" in text


@pytest.mark.parametrize("name", ["ur5", "baxter"])
def test_the_caption_of_a_drawn_solution_ends_above_its_axes(name: str) -> None:
    pytest.importorskip("matplotlib")
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    from supple.view.solution import draw

    arm = models.get(name)
    ends = ["tool0"] if name == "ur5" else ["left_gripper", "right_gripper"]
    far = [Goal(link, Frame.at([3, 0, 1 - 2 * k])) for k, link in enumerate(ends)]  # out of reach: a long caption
    figure = draw(Solver().solve(arm, far))
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    renderer = canvas.get_renderer()
    assert figure.texts[0].get_window_extent(renderer).y0 >= figure.axes[0].get_tightbbox(renderer).y1


@pytest.mark.parametrize("notebook", [False, True])
def test_any_thread_may_set_the_event_of_a_server_while_others_wait_for_it(notebook: bool) -> None:
    ended: list[bool] = []

    async def set_in_a_loop(event: asyncio.Event) -> None:
        event.set()

    def set_by_a_thread(event: asyncio.Event) -> None:
        """A cell of a notebook runs in a thread that has an event loop of its own."""
        asyncio.run(set_in_a_loop(event)) if notebook else event.set()
        ended.append(True)

    async def woken() -> bool:
        event = _SharedEvent()
        waits = asyncio.ensure_future(event.wait())
        await asyncio.sleep(0)
        outside = threading.Thread(target=set_by_a_thread, args=(event,))
        waiters, event._waiters = event._waiters, None  # another thread must not touch those who wait
        outside.start()
        outside.join()
        assert ended
        assert event.is_set()
        event._waiters = waiters
        assert not waits.done()
        event.set()  # viser calls it in the thread of the server too
        return await asyncio.wait_for(waits, 5.0)

    with ThreadPoolExecutor(1) as own:  # Playwright may have left a running loop in this thread
        assert own.submit(asyncio.run, woken()).result()
