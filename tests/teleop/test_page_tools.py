"""The rarer tools of the page in a real Chromium: joint sliders, legends, arrow, gamepad, more handles, a zip file."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import trimesh

from browser import PATIENCE
from driven_page import Browser, browsed, plainly
from supple import Frame, models
from supple.teleop.devices import Reading
from supple.teleop.page import heartbeat, serve
from supple.teleop.page.arrow import out_of_view
from supple.teleop.page.gamepad import PageGamepad, sample

PAD = """([axes, pressed]) => {
  const buttons = [...Array(17).keys()].map((k) => ({value: pressed.includes(k) ? 1 : 0}));
  const pad = {connected: true, mapping: "standard", axes, buttons};
  navigator.getGamepads = () => [null, pad];
}"""
SHOULDER, START = 5, 9

# -- without a browser ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "message",
    [
        "",
        "x",
        "[]",
        "[1, 2, 3]",
        "{}",
        "[0, 0, 0, 0, 0, 0, 0, 0, 9]",
        "[0, 0, 0, 0, 0, 0, 0, 0, NaN]",
        "[0, 0, 0, 0, 0, 0, 0, 0, true]",
        '[0, 0, 0, 0, 0, 0, 0, 0, "1"]',
        "[[0], 0, 0, 0, 0, 0, 0, 0, 1]",
        "[0, 0, 0, 0, 0, 0, 0, 0, 0, 0]",
        "[" * 390,
        "[0, 0, 0, 0, 0, 0, 0, 0, 0]" + " " * 400,
        b"[0, 0, 0, 0, 0, 0, 0, 0, 0]",
    ],
)
def test_what_is_no_sample_of_a_gamepad_is_refused(message: str | bytes) -> None:
    with pytest.raises((ValueError, RecursionError)):
        sample(message)


def test_a_sample_is_a_reading_and_a_middle_button_stops_once_for_each_press() -> None:
    state, stops = sample("[1, -0.5, 0, 0, 0, 0.25, 1, -1, 0]")
    assert state == Reading((1.0, -0.5, 0.0, 0.0, 0.0, 0.25), 0, True, grip=-1)
    assert not stops
    heard: list[float] = []
    stopped: list[int] = []
    gate = SimpleNamespace(channels={})
    client = SimpleNamespace(
        _viser_server=SimpleNamespace(gate=gate),
        _websock_connection=SimpleNamespace(queue_message=lambda message: None),
    )
    pad = PageGamepad(client, lambda state, dt: heard.append(dt), lambda: stopped.append(1))
    assert len(gate.channels) == 1
    for down in (False, True, True, False, True):
        pad.hear(state, down)
    assert len(stopped) == 2
    assert max(heard) <= 0.1


def test_an_arrow_points_to_where_a_place_out_of_view_is() -> None:
    looks = Frame(np.array([[0, 0, 1, -2], [-1, 0, 0, 0], [0, -1, 0, 0], [0, 0, 0, 1.0]]))  # along x, z up
    camera = SimpleNamespace(wxyz=looks.to_quaternion(), position=looks.position, fov=1.0, aspect=1.5)
    for place, angle in (([0, 0, 0], None), ([0, 0.5, 0.5], None), ([0, -5, 0], 0.0), ([0, 5, 0], np.pi)):
        found = out_of_view(camera, np.array(place, dtype=float))
        assert found is angle if angle is None else abs(found) == pytest.approx(angle, abs=1e-9)
    assert out_of_view(camera, np.array([0, 0, 5.0])) == pytest.approx(-np.pi / 2)
    assert out_of_view(camera, np.array([-9, -1.0, 0])) == pytest.approx(0.0)  # behind the camera, to its right


# -- in a browser -----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def driver(chromium: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with (
        pytest.MonkeyPatch.context() as patched,
        serve(models.g1(), port=0, folder=tmp_path_factory.mktemp("drives") / "recordings") as page,
    ):
        patched.setattr(heartbeat, "PATIENCE", PATIENCE)
        patched.setattr(heartbeat, "SEAT_SECONDS", PATIENCE)
        page._server.scene.configure_default_lights(cast_shadow=False)
        browser = Browser(page, chromium)
        browser.tab.get_by_text("method", exact=True).wait_for()
        yield browser
        browser.context.close()


def opened(driver: Browser, folder: str) -> None:
    """Opens or closes a folder, as an event: a click would wait until two drawn frames are alike."""
    driver.tab.get_by_text(folder, exact=True).dispatch_event("click")


@browsed
def test_the_plots_name_their_lines_units_and_time(driver: Browser) -> None:
    legend = driver.tab.locator("[data-legend]").first
    legend.wait_for()
    names = [driver.arm.linkage.names[k] for k in driver.arm.columns]
    assert legend.inner_text().split() == names
    driver.tab.get_by_text("joint positions, ±1: limits").wait_for()
    driver.tab.add_style_tag(content=".mantine-Notifications-root { display: none }")
    driver.tab.get_by_text("damping and error", exact=True).click()
    driver.tab.get_by_text("error in mm, and in degrees on the right").wait_for()
    assert "mm of left_rubber_hand" in driver.tab.locator("[data-legend]").last.inner_text()
    plainly(driver.page)


@browsed
def test_a_joint_slider_moves_its_joint_and_shows_its_number(driver: Browser) -> None:
    opened(driver, "move joints")
    columns = list(driver.arm.columns)
    place = columns.index(driver.arm.linkage.names.index("left_elbow_joint"))
    column, thumbs = columns[place], driver.tab.get_by_role("slider")
    assert driver.until(lambda: thumbs.count() > len(columns))
    thumb = thumbs.nth(thumbs.count() - len(columns) + place)

    def shown() -> float:
        return float(thumb.get_attribute("aria-valuenow") or "nan")

    before = driver.page.session.q
    assert driver.until(lambda: abs(shown() - np.degrees(before[column])) < 0.11)
    thumb.focus()
    thumb.press("End")
    assert driver.until(lambda: driver.page.session.q[column] == driver.arm.linkage.upper[column])
    others = np.delete(np.abs(driver.page.session.q - before), column)
    assert others.max() < 1e-6
    assert driver.until(lambda: driver.page.session.newest.held == "")
    assert driver.until(lambda: abs(shown() - np.degrees(driver.arm.linkage.upper[column])) < 0.11)
    opened(driver, "move joints")


@browsed
def test_a_gamepad_moves_the_handle_while_a_shoulder_button_is_down(driver: Browser) -> None:
    assert driver.still()
    start = driver.handle().position
    driver.tab.evaluate(PAD, [[0, 0, 0, 0], []])
    driver.tab.evaluate(PAD, [[0, -1, 0, 0], []])  # away, without the button
    driver.tab.wait_for_timeout(1200)
    assert np.array_equal(driver.handle().position, start)
    driver.tab.evaluate(PAD, [[0, -0.6, 0, 0], [SHOULDER]])
    assert driver.until(lambda: np.linalg.norm(driver.handle().position - start) > 0.03)
    driver.tab.evaluate(PAD, [[0, 0, 0, 0], []])
    assert driver.still()
    end = driver.handle().position
    driver.tab.wait_for_timeout(300)
    assert np.array_equal(driver.handle().position, end)
    camera = driver.page._server.get_clients()[driver.id].camera
    away = np.array(camera.look_at) - np.array(camera.position)
    assert (end - start) @ [away[0], away[1], 0.0] > 0
    assert abs((end - start)[2]) < 1e-9
    driver.tab.evaluate("() => { navigator.getGamepads = () => []; }")


@browsed
def test_an_arrow_shows_where_the_handle_is_that_is_out_of_view(driver: Browser) -> None:
    mark = driver.tab.locator("#supple-arrow")
    assert driver.until(lambda: mark.count() == 0)
    camera = driver.page._server.get_clients()[driver.id].camera
    looked = np.array(camera.position), np.array(camera.look_at)
    camera.position, camera.look_at = (4.0, 0.0, 1.0), (8.0, 0.0, 1.0)  # the arm is behind it
    assert driver.until(lambda: mark.count() == 1)
    camera.position, camera.look_at = looked
    assert driver.until(lambda: mark.count() == 0)


@browsed
def test_a_box_adds_a_handle_for_a_foot(driver: Browser) -> None:
    driver.more()
    opened(driver, "handles")
    boxes = driver.tab.get_by_role("checkbox")  # the first is that of the ellipsoid
    assert driver.until(lambda: boxes.count() > len(driver.arm.candidates))
    boxes.nth(boxes.count() - len(driver.arm.candidates) + 2).dispatch_event("click")
    assert driver.until(lambda: len(driver.arm.links) == 3)
    assert set(driver.arm.links) == set(driver.arm.candidates[:3])
    plainly(driver.page)


@browsed
def test_a_zip_file_is_uploaded_and_drawn_with_its_mesh(driver: Browser) -> None:
    driver.more()
    urdf = (
        '<robot name="zipped"><link name="base"/><link name="arm"><visual><geometry><mesh filename="arm.stl"/>'
        '</geometry></visual></link><joint name="j" type="revolute"><parent link="base"/><child link="arm"/>'
        '<origin xyz="0.3 0 0"/><axis xyz="0 0 1"/><limit lower="-1" upper="1" velocity="1"/></joint>'
        '<link name="tip"/><joint name="end" type="fixed"><parent link="arm"/><child link="tip"/>'
        '<origin xyz="0.3 0 0"/></joint></robot>'
    )
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as file:
        file.writestr("robot/arm.urdf", urdf)
        file.writestr("robot/meshes/arm.stl", trimesh.creation.box((0.3, 0.1, 0.1)).export(file_type="stl"))
    sent = {"name": "robot.zip", "mimeType": "application/zip", "buffer": made.getvalue()}
    for _ in range(3):  # a page that draws slowly may be without its seat for a moment
        driver.button("your own URDF").wait_for()
        driver.tab.locator("input[type=file]").set_input_files([sent])
        if driver.until(lambda: driver.arm.linkage.name == "zipped", 20):
            break
    assert driver.arm.linkage.name == "zipped"
    (solid,) = driver.arm.bodies[1]
    assert np.ptp(solid.vertices, axis=0) == pytest.approx([0.3, 0.1, 0.1])
    assert driver.says("following")
