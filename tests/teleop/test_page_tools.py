"""The rarer tools of the page in a real Chromium: legends, arrow, gamepad."""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

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
