"""The rarer tools of the page in a real Chromium: legends, arrow, gamepad, boxes of handles, uploads."""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from test_page_uploads import box, packed, sizes, urdf

from browser import patient, plain
from driven_page import PAD, Browser, browsed, plainly
from supple import Frame, models
from supple.teleop.devices import Reading
from supple.teleop.page import keys, serve
from supple.teleop.page.arrow import out_of_view
from supple.teleop.page.gamepad import PageGamepad, sample

NO_NOTICES = ".mantine-Notifications-root { display: none }"
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


def test_keys_act_in_the_order_in_which_they_are_pressed() -> None:
    pressed: dict[str, Any] = {}

    def add_command(label: str, hotkey: str, modifier: str | None = None) -> Any:
        return SimpleNamespace(on_trigger=lambda act: pressed.update({f"{modifier or ''}{hotkey}": act}))

    camera = SimpleNamespace(position=(1.0, 0.0, 1.0), look_at=(0.0, 0.0, 1.0))
    client = SimpleNamespace(gui=SimpleNamespace(add_command=add_command), camera=camera)
    done: list[Any] = []
    keys.add(
        client,
        lambda way, turn: done.append((*way, turn)),
        lambda: done.append("switch"),
        lambda change: done.append(change),
    )
    assert all(inspect.iscoroutinefunction(act) for act in pressed.values())  # viser awaits them, one after the other
    for key in ("U", "H", "shiftO", "N", "I"):
        with contextlib.suppress(StopIteration):
            pressed[key](None).send(None)
    assert done == [(0, 0, 1, False), "switch", (0, 0, -1, True), -0.1, (-1, 0, 0, False)]


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
def opened(chromium: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    folder = tmp_path_factory.mktemp("drives") / "recordings"
    with patient(), serve(models.g1(), port=0, folder=folder) as page:
        plain(page._server)
        browser = Browser(page, chromium)
        browser.tab.get_by_text("method", exact=True).wait_for()
        yield browser
        browser.context.close()


@pytest.fixture
def driver(opened: Browser) -> Browser:
    """The G1's page, and the browser that drives it, whatever the test before has left."""
    opened.ready()
    return opened


@browsed
def test_the_plots_name_their_lines_units_and_time(driver: Browser) -> None:
    legend = driver.tab.locator("[data-legend]").first
    legend.wait_for()
    names = " ".join(driver.arm.linkage.names[k].removesuffix("_joint").replace("_", " ") for k in driver.arm.columns)
    assert driver.until(lambda: legend.inner_text().split() == names.split())
    assert driver.until(lambda: legend.evaluate("one => one.scrollHeight <= one.clientHeight + 1"))  # all are seen
    driver.tab.get_by_text("joint positions, ±1: limits").wait_for()
    numbers = "() => Object.values(window.__viserTestpoints.uplots).map((one) => one.chart.axes[0]._values)"
    drawn = ["-8", "-6", "-4", "-2", "0"]
    assert driver.until(lambda: all(values == drawn for values in driver.tab.evaluate(numbers)))
    hidden = driver.tab.add_style_tag(content=NO_NOTICES)  # one may be over it
    driver.tab.get_by_text("damping and error", exact=True).click()
    hidden.evaluate("style => style.remove()")
    driver.tab.get_by_text("error in mm, and in degrees on the right").wait_for()
    last = driver.tab.locator("[data-legend]").last
    assert driver.until(lambda: "mm of left_rubber_hand" in last.inner_text())
    plainly(driver.page)


@browsed
def test_a_gamepad_moves_the_handle_while_a_shoulder_button_is_down(
    driver: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert driver.still()
    start, heard = driver.handle().position, list[Reading]()
    pad = driver.page._clients[driver.id][1]._gamepad
    hear = pad.hear
    monkeypatch.setattr(pad, "hear", lambda state, stops: (hear(state, stops), heard.append(state)))
    driver.tab.evaluate(PAD, [[0, -1, 0, 0], []])  # away, without the button
    assert driver.until(lambda: sum(state.axes[0] == 1.0 for state in heard) > 10)
    assert np.array_equal(driver.handle().position, start)
    driver.tab.evaluate(PAD, [[0, -0.6, 0, 0], [SHOULDER]])
    assert driver.until(lambda: np.linalg.norm(driver.handle().position - start) > 0.03)
    driver.tab.evaluate(PAD, [[0, 0, 0, 0], []])
    assert driver.until(lambda: not heard[-1].engaged)
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
def test_a_box_for_each_hand_foot_and_head_gives_it_a_handle(driver: Browser) -> None:
    driver.more()
    tab, before = driver.tab, driver.page.session.q
    tab.get_by_text("handles", exact=True).dispatch_event("click")
    box = tab.get_by_label("head_link", exact=True)
    box.wait_for()
    box.evaluate("one => { one.dataset.same = 'yes'; }")
    box.dispatch_event("click")
    links = ("left_rubber_hand", "right_rubber_hand", "head_link")
    assert driver.until(lambda: driver.arm.links == links and driver.page.session.newest is not None)
    assert driver.until(lambda: len(driver.page._clients[driver.id][1]._handles) == 3)
    assert np.abs(driver.page.session.q - before).max() < 1e-9  # it did not jump
    assert driver.until(tab.locator("[data-same=yes]").is_checked)  # the box is still there
    box.dispatch_event("click")
    assert driver.until(lambda: driver.arm.links == links[:2])


@browsed
def test_a_description_is_uploaded_with_its_meshes_as_a_zip_file_or_as_several_files(driver: Browser) -> None:
    driver.more()
    files = {"zipped.urdf": urdf("meshes/a.stl", "meshes/b.stl").encode(), "a.stl": box(0.1), "b.stl": box(0.2)}

    def upload(**chosen: bytes) -> None:
        assert driver.idle()
        with driver.tab.expect_file_chooser() as asked:
            driver.button("your own URDF").dispatch_event("click")
        assert asked.value.is_multiple()
        kind = "application/octet-stream"
        asked.value.set_files([{"name": name, "mimeType": kind, "buffer": data} for name, data in chosen.items()])

    upload(**{"robot.zip": packed(**{f"robot/{name}": data for name, data in files.items()})})
    assert driver.until(lambda: driver.arm.linkage.name == "zipped" and sizes(driver.arm)[1:] == [0.1, 0.2])
    first = driver.arm
    names = {"a.stl": "ä.stl"}  # names are UTF-8
    files["zipped.urdf"] = files["zipped.urdf"].replace(b"zipped", b"several").replace(b"a.stl", "ä.stl".encode())
    upload(**{names.get(name, name): data for name, data in files.items()})
    assert driver.until(lambda: driver.arm is not first and driver.arm.linkage.name == "several")
    assert sizes(driver.arm)[1:] == [0.1, 0.2]
    plainly(driver.page)
    upload(**{"a.urdf": files["zipped.urdf"], "b.urdf": files["zipped.urdf"]})
    driver.tab.get_by_text("a.urdf and 1 more.zip was refused").wait_for()
    driver.tab.get_by_text("must have one .urdf file, it has 2").first.wait_for()
    driver.tab.mouse.click(60, 500)
    start = driver.hand()
    driver.tab.keyboard.press("k")
    assert driver.until(lambda: np.linalg.norm(driver.hand() - start) > 0.002)


@browsed
def test_a_new_tab_after_detaching_says_nothing_of_it_and_its_keys_move_the_arm(driver: Browser, chromium: Any) -> None:
    driver.button("detach").click()
    driver.tab.get_by_text("the arm stays").wait_for()
    second = Browser(driver.page, chromium)
    try:
        driver.tab.close()
        second.tab.get_by_text("method", exact=True).wait_for()
        second.tab.get_by_text("drag the handle", exact=True).wait_for()
        assert second.tab.get_by_text("the arm stays").count() == 0
        second.button("detach").wait_for()
        start = second.hand()
        second.tab.mouse.click(60, 500)
        second.tab.keyboard.press("i")
        assert second.until(lambda: np.linalg.norm(second.hand() - start) > 0.002)
    finally:
        second.context.close()
