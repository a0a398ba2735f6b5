"""The page in a real Chromium: people drag the hand, and the arm follows, yields, is held; nobody else can move it."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from browser import PATIENCE, differing, patient
from driven_page import Browser, browsed, plainly
from packets import until
from supple import Frame, models
from supple._linkage import reach as _reach
from supple.cli import app, output
from supple.errors import BadInput, BadLinkage
from supple.step import TrackingStatus
from supple.teleop.adapters import frames
from supple.teleop.methods import METHODS
from supple.teleop.page import Page, serve
from supple.teleop.page.arm import MAX_UPLOAD, Arm, from_upload
from supple.teleop.page.drivers import TRIES, Drivers
from supple.teleop.page.handles import INTERPOLATION, Handle, HandleSource, valid_frame
from supple.teleop.page.tour import HAZARDS, RATE
from supple.teleop.recording import Recording
from supple.teleop.recording.replay import replay
from supple.view import address, qr

URDF = """<robot name="two_turns">
<link name="base"/><link name="upper"/><link name="fore"/><link name="tip"/>
<joint name="a" type="revolute"><parent link="base"/><child link="upper"/><axis xyz="0 0 1"/>
<limit lower="-2" upper="2" velocity="2"/></joint>
<joint name="b" type="revolute"><parent link="upper"/><child link="fore"/><origin xyz="0.4 0 0"/><axis xyz="0 0 1"/>
<limit lower="0.2" upper="2" velocity="2"/></joint>
<joint name="c" type="fixed"><parent link="fore"/><child link="tip"/><origin xyz="0.3 0 0"/></joint>
</robot>"""

# counts how often a text comes into a page, and how often a person can see it then
WATCH = """(text) => {
  [window.said, window.seen] = [0, 0];
  const look = () => {
    for (const one of document.querySelectorAll(".mantine-Notification-description"))
      if (one.textContent.includes(text)) {
        window.seen += one.checkVisibility();
        window.said += !one.suppleSaid;
        one.suppleSaid = true;
      }
  };
  new MutationObserver(look).observe(document, {subtree: true, childList: true, characterData: true});
}"""

# -- without a browser ------------------------------------------------------------------------------------------------


# a figure on a floating root walks where an arm meets its limits
@pytest.mark.parametrize("name", [name for name in models.names() if name != "human"])
def test_every_stock_arm_can_be_driven_through_its_hazards_and_comes_home(name: str) -> None:
    arm = Arm.of(models.get(name))
    linkage, home = arm.linkage, arm.frames(arm.linkage.rest)
    for hazard in HAZARDS:
        script = hazard.script(arm)
        if script is None:
            assert hazard.name == "limit"
            assert not np.isfinite(linkage.upper[arm.columns]).any()
            continue
        follow = METHODS["supple"].track(linkage, list(arm.goals))
        seen, limited = set(), False
        for tick in range(int(script.seconds * RATE) + 1):
            step = follow.step(
                [frame or rest for frame, rest in zip(script.at(tick / RATE), home, strict=True)], 1 / RATE
            )
            seen.add(step.status)
            limited |= bool((np.abs(step.sides) == 1).any())
            assert linkage.inside(step.q)
        assert step.status is TrackingStatus.FOLLOWING  # it is back
        assert step.distance.max() < 1e-3
        expected = {"reach": TrackingStatus.YIELDING, "speed": TrackingStatus.LAGGING, "jump": TrackingStatus.LAGGING}
        assert expected.get(hazard.name, TrackingStatus.FOLLOWING) in seen, hazard.name
        assert limited or hazard.name != "limit"


@pytest.mark.parametrize("name", ["panda", "so101", "iiwa14", "ur5", "baxter", "g1"])
def test_a_joint_limit_of_the_tour_does_not_lead_the_hand_into_the_base(name: str) -> None:
    arm = Arm.of(models.get(name))
    base = _reach._measured(arm.linkage, arm.links[0])[1]
    script = next(hazard for hazard in HAZARDS if hazard.name == "limit").script(arm)
    assert script is not None
    places = np.array([frames[0].position for frames in map(script.at, np.arange(0, script.seconds, 0.05))])
    assert np.linalg.norm((places - base)[:, :2], axis=-1).min() > 0.2 * arm.size


def test_a_hand_glides_from_sample_to_sample_and_never_past_them() -> None:
    start = Frame.at([0.1, 0, 0])
    hand = Handle(start)
    assert hand.frame == start
    assert not hand.moving
    hand.drag(True)
    hand.move([0.2, 0, 0], Frame.turn([0, 0, 1], 1.0).to_quaternion())
    now = hand._motion[2]  # when the sample arrived
    ways = [hand.at(now + t) for t in np.linspace(0, INTERPOLATION, 20)]
    x = np.array([frame.position[0] for frame in ways])
    turned = np.array([frame.to_rotvec()[2] for frame in ways])
    assert (np.diff(x) >= 0).all()
    assert (np.diff(turned) >= 0).all()
    assert x[-1] == pytest.approx(0.2)
    assert turned[-1] == pytest.approx(1.0)
    assert np.abs(np.diff(x)).max() < 0.03
    hand.drag(False)
    assert hand.moving  # until it was passed on where it came to rest
    assert hand.command(now + INTERPOLATION / 2) == start  # however late it is read, it was taken hold of there
    assert hand.command(now + INTERPOLATION / 2) not in (start, hand.frame)
    assert hand.moving
    assert hand.command(now + 2 * INTERPOLATION) == hand.frame
    assert not hand.moving
    assert hand.command(now + 3 * INTERPOLATION) is None


@pytest.mark.parametrize(
    ("position", "wxyz"),
    [
        ([np.nan, 0, 0], [1, 0, 0, 0]),
        ([0, np.inf, 0], [1, 0, 0, 0]),
        ([1e9, 0, 0], [1, 0, 0, 0]),
        ([0, 0, 0], [0, 0, 0, 0]),
        ([0, 0, 0], [1, 0, 0]),
        ([0, 0], [1, 0, 0, 0]),
        (["x", 0, 0], [1, 0, 0, 0]),
    ],
)
def test_what_no_handle_can_be_is_dropped(position: Any, wxyz: Any) -> None:
    assert valid_frame(position, wxyz) is None
    hand = Handle(Frame())
    hand.move(position, wxyz)
    assert hand.frame == Frame()


def test_no_browser_sends_no_command_and_a_released_handle_disengages() -> None:
    source = HandleSource([Frame(), Frame()])
    assert source.read() is None
    source.alive = True
    said = source.read()
    assert said is not None
    assert said.hands == (None, None)
    source.handles[1].drag(True)
    said = source.read()
    assert said is not None
    assert said.hands[0] is None
    assert said.hands[1] == Frame()
    source.attached = False  # indexing
    said = source.read()
    assert said is not None
    assert said.hands == (None, None)


def test_another_source_drives_instead_of_the_handles_until_it_ends() -> None:
    source = HandleSource([Frame()], frames([Frame.at([0.1, 0, 0]), None]))
    assert source.other_drives
    said = source.read()
    assert said is not None
    assert said.hand == Frame.at([0.1, 0, 0])
    assert source.read() is None
    source.alive = True
    said = source.read()  # it has ended
    assert said is not None
    assert said.hands == (None,)
    assert not source.other_drives


def test_one_browser_drives_at_a_time_in_the_order_they_came() -> None:
    changes: list[int] = []
    line = Drivers(lambda: changes.append(1))
    for browser in (1, 2, 3):
        line.connect(browser, trusted=True)
    assert [line.queue_position(browser) for browser in (1, 2, 3)] == [0, 1, 2]
    line.release(1)
    assert line.driver == 2
    assert line.queue_position(1) is None
    line.request(1)
    line.disconnect(2)
    assert [line.driver, line.queue_position(1)] == [3, 1]
    assert len(changes) == 6


def test_a_stranger_drives_with_the_token_only_and_has_few_tries() -> None:
    line = Drivers(lambda: None)
    line.connect(1, trusted=False)
    assert line.driver is None
    line.request(1)
    assert line.driver is None
    assert not line.give_token(1, "wrong")
    assert line.give_token(1, f" {line.token} ")
    assert line.driver == 1
    line.connect(2, trusted=False)
    assert not any(line.give_token(2, "wrong") for _ in range(TRIES))
    assert not line.give_token(2, line.token)
    assert not line.admitted(2)
    assert not line.give_token(9, line.token)  # a browser that never came


def test_a_token_that_is_soon_guessed_is_refused() -> None:
    with pytest.raises(BadInput, match="at least 8 characters, got 3"):
        serve(models.planar2(), port=0, token="abc")


def test_an_uploaded_description_is_read_without_opening_any_file() -> None:
    mesh = '<link name="tip"><visual><geometry><mesh filename="/etc/passwd"/></geometry></visual></link>'
    arm = from_upload("two.urdf", URDF.replace('<link name="tip"/>', mesh).encode())
    assert arm.links == ("tip",)
    assert not any(link.geometry for link in arm.linkage.links)
    assert arm.axes == ((True, True, False),)
    with pytest.raises(BadInput, match="bytes"):
        from_upload("big.urdf", b" " * (MAX_UPLOAD + 1))
    with pytest.raises(BadLinkage, match="DOCTYPE"):
        from_upload("bomb.urdf", b'<!DOCTYPE lolz [<!ENTITY lol "lol">]><robot name="x"/>')
    with pytest.raises(BadLinkage, match="it has no joint that moves"):
        from_upload("stone.urdf", b'<robot name="x"><link name="a"/></robot>')


# -- in a browser -----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def opened(chromium: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """The Panda's page, and the browser that drives it."""
    folder = tmp_path_factory.mktemp("drives") / "recordings"
    with patient(), serve(models.panda(), port=0, folder=folder) as page:
        plainly(page)
        browser = Browser(page, chromium)
        browser.tab.get_by_text("method", exact=True).wait_for()
        yield browser
        browser.context.close()


@pytest.fixture
def driver(opened: Browser) -> Browser:
    """The same, whatever the test before has left."""
    opened.ready()
    return opened


@browsed
def test_the_page_loads_without_a_complaint(driver: Browser) -> None:
    assert driver.says("following")
    assert driver.complaints == []


def steady_box(driver: Browser) -> dict[str, float]:
    """Where a button of the panel is, once all that is above it has come."""
    boxes: list[Any] = [None]

    def same() -> bool:
        driver.drawn()
        boxes.append(driver.button("detach").bounding_box())
        return boxes[-1] is not None and boxes[-2] == boxes[-1]

    assert driver.until(same)
    return dict(boxes[-1])


@browsed
def test_the_controls_stay_where_they_are_when_notes_come_and_no_two_buttons_have_one_word(driver: Browser) -> None:
    driver.tab.get_by_text("drag the handle", exact=True).wait_for()
    before = steady_box(driver)
    driver.page._actions.show_message("a note", "with more words than there is room for in the card. " * 8, None)
    driver.tab.get_by_text("a note", exact=True).wait_for()
    assert driver.button("detach").bounding_box() == before
    driver.page._actions.show_message("", "")
    driver.tab.get_by_text("drag the handle", exact=True).wait_for()
    assert driver.button("detach").bounding_box() == before
    driver.more()
    names = [name for name in driver.tab.get_by_role("button").all_inner_texts() if name.strip()]
    assert len(names) == len(set(names)) > 8


@browsed
def test_dragging_the_handle_moves_the_arm_to_it(driver: Browser) -> None:
    before, seen, start = driver.hand(), driver.picture(), driver.handle()
    tip = start.position + 0.95 * 0.21 * driver.arm.size * start.rotation[:, 2]  # the blue arrow, which points down
    way = driver.on_screen(tip - np.array([0, 0, 0.2])) - driver.on_screen(tip)
    driver.drag(lambda: driver.on_screen(tip), way)
    assert driver.still()
    moved = driver.handle().position - start.position
    assert moved[2] < -0.1  # along the arrow, and not across
    assert np.abs(moved[:2]).max() < 1e-6
    assert np.allclose(driver.hand(), driver.handle().position, atol=1e-3)
    assert driver.hand()[2] < before[2] - 0.1
    assert driver.says("following")
    assert driver.until(lambda: differing(driver.picture(), seen) > 1_500)


@browsed
def test_out_of_reach_the_status_says_yielding_and_why_and_the_arm_is_stretched(driver: Browser) -> None:
    driver.fresh()
    seen = driver.picture()
    driver.drag_ball((420, 60), hold=True)
    assert driver.says("yielding")
    assert driver.until(lambda: "out of reach" in driver.tab.locator("[data-why]").inner_text())
    assert driver.until(lambda: np.abs(driver.page.session.newest.step.velocity).max() < 1e-3)
    arm, tick = driver.arm, driver.page.session.newest
    base = np.array([0, 0, 0.333])
    assert np.linalg.norm(driver.hand() - base) > 0.9 * arm.linkage.reach(arm.links[0])
    towards = tick.goals[0, :3, 3] - base
    assert (driver.hand() - base) @ towards > 0.97 * np.linalg.norm(driver.hand() - base) * np.linalg.norm(towards)
    assert driver.until(lambda: driver.page._actions.view._goal_marks[0][0].visible)  # the goal, where the arm is not
    assert driver.until(lambda: differing(driver.picture(), seen) > 3_000)
    driver.tab.mouse.up()
    driver.button("recentre").click()
    assert driver.says("following")
    assert driver.until(lambda: np.allclose(driver.hand(), driver.handle().position, atol=1e-6))


@browsed
def test_taking_hold_again_does_not_move_the_arm(driver: Browser) -> None:
    driver.fresh()
    q = driver.page.session.q
    driver.button("detach").click()
    driver.button("attach").wait_for()
    start = driver.handle().position
    driver.drag_ball((-90, -60))
    assert driver.until(lambda: not driver.dragged)
    moved = driver.handle().position - start
    assert np.linalg.norm(moved) > 0.05
    assert np.abs(driver.page.session.q - q).max() < 1e-9
    driver.button("attach").click()
    driver.button("detach").wait_for()
    ticks = driver.page.session.newest.number
    driver.press(driver.on_screen(driver.handle().position))
    assert driver.until(lambda: driver.page.session.newest.number > ticks + 100)
    assert np.abs(driver.page.session.q - q).max() < 1e-9
    driver.tab.mouse.up()
    start = driver.handle().position
    driver.drag_ball((60, 0))
    assert driver.still()
    moved = driver.handle().position - start
    assert np.allclose(driver.hand() - driver.arm.frames(q)[0].position, moved, atol=1e-3)


@browsed
def test_scale_makes_large_moves_of_the_handle_small_ones_of_the_arm(driver: Browser) -> None:
    driver.fresh()
    thumb = driver.tab.get_by_role("slider").first
    thumb.focus()
    thumb.press("Home")
    assert driver.until(lambda: driver.page.session.scale == pytest.approx(0.1))
    start, hand = driver.handle().position, driver.hand()
    driver.drag_ball((-80, -40))
    assert driver.still()
    assert np.allclose(driver.hand() - hand, 0.1 * (driver.handle().position - start), atol=1e-4)


@browsed
def test_keys_move_the_hand_as_the_eye_sees_it(driver: Browser) -> None:
    driver.fresh()
    driver.tab.mouse.click(60, 500)  # the scene, so that keys are not meant for a control
    hand, x = driver.hand(), driver.on_screen(driver.hand())[0]
    for _ in range(5):
        driver.tab.keyboard.press("l")
    assert driver.until(lambda: np.linalg.norm(driver.hand() - hand) > 0.03)
    assert driver.until(lambda: driver.on_screen(driver.hand())[0] > x + 10)
    assert driver.still()
    assert driver.hand()[2] == pytest.approx(hand[2], abs=1e-3)


@browsed
def test_a_slider_and_a_number_move_one_joint_and_show_where_it_is(driver: Browser) -> None:
    tab, session = driver.tab, driver.page.session
    tab.get_by_text("move joints", exact=True).dispatch_event("click")
    name = "panda_joint4"
    column = driver.arm.linkage.names.index(name)
    label = tab.locator("label", has_text=f"{name}, °")
    label.wait_for()
    slider = tab.locator(f"[id='{label.get_attribute('for')}']")
    number, thumb = slider.locator("xpath=following-sibling::*//input"), slider.get_by_role("slider")
    assert driver.still()
    assert driver.until(lambda: float(number.input_value()) == pytest.approx(np.degrees(session.q[column]), abs=0.06))
    start = session.q
    number.fill("-100")
    number.press("Enter")
    assert driver.until(lambda: abs(session.q[column] - np.radians(-100)) < 1e-6)
    others = np.delete(np.arange(len(start)), column)
    assert np.abs(session.q - start)[others].max() < 1e-9
    thumb.focus()
    for _ in range(5):
        thumb.press("ArrowLeft")
    assert driver.until(lambda: abs(session.q[column] - np.radians(-100.5)) < 1e-6)
    assert driver.until(lambda: float(number.input_value()) == pytest.approx(-100.5))
    driver.fresh()
    rest = float(np.degrees(driver.arm.linkage.rest[column]))
    assert driver.until(lambda: float(number.input_value()) == pytest.approx(rest, abs=0.06))
    tab.get_by_text("move joints", exact=True).dispatch_event("click")


@browsed
def test_another_method_steps_from_where_the_arm_is(driver: Browser) -> None:
    driver.fresh()
    driver.choose("method", "pseudo-inverse")
    solver = METHODS["pseudo-inverse"]
    assert driver.until(lambda: driver.page.session.newest.step._tracker.solver == solver)
    assert np.allclose(driver.page.session.q, driver.arm.linkage.rest, atol=1e-6)
    driver.choose("method", "supple")
    assert driver.until(lambda: driver.page.session.newest.step._tracker.solver == METHODS["supple"])


@browsed
@pytest.mark.gate  # on a busy machine the drag may miss the ball
def test_a_drive_is_recorded_in_the_folder_and_replayed_in_the_page(driver: Browser) -> None:
    driver.fresh()
    driver.button("record").click()
    driver.button("finish").wait_for()
    driver.drag_ball((-60, -70))
    assert driver.still()
    end = driver.hand()
    driver.button("finish").click()
    driver.button("record").wait_for()
    folder = driver.page._actions._folder
    assert driver.until(lambda: [path.name for path in Path(folder).iterdir()] == ["panda-001.parquet"])
    assert replay(folder / "panda-001.parquet").identical  # to the last bit
    rows = Recording(folder / "panda-001.parquet").rows()
    assert np.allclose(rows.q[0], driver.arm.linkage.rest, atol=1e-6)
    assert np.linalg.norm(rows.goals[-1, 0, :3, 3] - rows.goals[0, 0, :3, 3]) > 0.05
    driver.fresh()
    with driver.watched() as seen:
        driver.button("replay").click()
        assert driver.until(lambda: any(title == "replay" for title, _ in seen))
        assert driver.until(lambda: not driver.page.session.source.scripted)
    assert driver.went(seen, rows.goals[0, 0, :3, 3]) > 0.05
    assert np.allclose(driver.hand(), end, atol=2e-3)


@browsed
def test_the_tour_moves_the_handle_by_itself_and_can_be_stopped(driver: Browser) -> None:
    driver.fresh()
    home = driver.hand()
    with driver.watched() as seen:
        driver.button("jump").click()
        assert driver.until(lambda: any(title == "a jump and back" for title, _ in seen))
        assert driver.until(lambda: not driver.page.session.source.scripted)
    assert driver.went(seen, home) > 0.2
    assert driver.until(lambda: np.allclose(driver.hand(), home, atol=1e-3))
    with driver.watched() as seen:
        driver.button("all five").click()
        driver.tab.locator("[data-note]", has_text="of 5: ").wait_for()
        assert driver.until(lambda: any(tick.step.status is TrackingStatus.YIELDING for _, tick in seen))
        assert any(title == "1 of 5: push past reach" for title, _ in seen)
        driver.button("end tour").click()
        assert driver.until(lambda: not driver.page.session.source.scripted)
    assert driver.until(lambda: not driver.page.session.source.scripted)


@browsed
def test_two_hands_are_driven_at_once(driver: Browser) -> None:
    driver.choose("arm", "baxter")
    assert driver.until(lambda: driver.arm.linkage.name == "baxter" and driver.page.session.newest is not None)
    assert driver.until(lambda: len(driver.page._clients[driver.id][1]._handles) == 2)
    plainly(driver.page)
    hands = driver.page.session.source.handles
    for k, hand in enumerate(hands):  # a mouse has one pointer: both are taken hold of as the browser would tell it
        driver.page._actions.handles.drag(k, "start", hand.frame.position, None)
        driver.page._actions.handles.drag(k, "update", (Frame.at([0, 0, 0.1]) @ hand.frame).position, None)
    for k, hand in enumerate(hands):
        driver.page._actions.handles.drag(k, "end", hand.frame.position, None)
    assert driver.still()
    assert driver.says("following")
    home = driver.arm.frames(driver.arm.linkage.rest)
    for k, frame in enumerate(home):
        assert np.allclose(driver.hand(k) - frame.position, [0, 0, 0.1], atol=1e-3)


@browsed
def test_a_description_of_ones_own_is_uploaded_and_driven_and_bad_ones_are_refused(driver: Browser) -> None:
    driver.more()

    def upload(name: str, content: str) -> None:
        driver.button("your own URDF").wait_for()
        assert driver.idle()
        file = {"name": name, "mimeType": "text/xml", "buffer": content.encode()}
        driver.tab.locator("input[type=file]").set_input_files([file])  # what the button asks for

    driver.tab.evaluate(WATCH, "successfully")
    said, seen = (lambda: driver.tab.evaluate("() => window.said")), (lambda: driver.tab.evaluate("() => window.seen"))
    for count, (name, content) in enumerate(
        (("bad.urdf", "<robot><b>no</robot>"), ("big.urdf", URDF + " " * MAX_UPLOAD), ("empty.urdf", "")), 1
    ):
        before = driver.arm
        upload(name, content)
        driver.tab.get_by_text(f"{name} was refused").first.wait_for()
        assert driver.until(lambda count=count: said() >= count)  # what viser says of it is in the page, but not seen
        assert driver.arm is before
    assert seen() == 0
    upload("two.urdf", URDF.replace("two_turns", "two &lt;i&gt;turns"))
    assert driver.until(lambda: driver.arm.linkage.name == "two <i>turns")
    driver.tab.get_by_text("two.urdf was read").wait_for()
    assert seen() == 0
    assert driver.arm is not before
    plainly(driver.page)
    assert driver.says("following")
    start = driver.hand()
    assert driver.until(lambda: driver.page.session.newest is not None)
    driver.tab.mouse.click(60, 500)
    for _ in range(4):
        driver.tab.keyboard.press("k")
    assert driver.until(lambda: np.linalg.norm(driver.hand() - start) > 0.005)
    assert driver.tab.locator("i", has_text="turns").count() == 0
    driver.choose("arm", "panda")
    assert driver.until(lambda: driver.arm.linkage.name == "panda")
    plainly(driver.page)


@browsed
def test_a_second_browser_watches_until_the_first_lets_go(driver: Browser, chromium: Any) -> None:
    second = Browser(driver.page, chromium, {"width": 390, "height": 844})  # a phone
    try:
        second.tab.get_by_text("Someone else is driving").wait_for()
        assert second.tab.get_by_text("method", exact=True).count() == 0
        assert driver.page.drivers.driver == driver.id
        driver.more()
        driver.button("stop driving").click()
        second.tab.get_by_text("method", exact=True).wait_for()
        assert driver.page.drivers.driver == second.id
        driver.tab.get_by_text("Someone else is driving").wait_for()
        assert driver.until(lambda: driver.button("detach").count() == 0)

        def above() -> float:
            """How many pixels are above the panel, which has the whole width of a phone; 0 while it is not there."""
            place, foot = (second.tab.locator(part).bounding_box() for part in ("[data-status]", "[data-foot]"))
            wide = place is not None and foot is not None and foot["width"] > 0.9 * 390
            return place["y"] - 60 if wide else 0.0  # the panel's own head is above it

        def in_the_open() -> bool:  # the page takes the phone's camera some time after it has loaded
            (x, y), top = second.on_screen(second.hand()), above()
            return 0 < x < 390 and 0 < y < top and top > 0.38 * 844

        assert second.until(in_the_open), (second.on_screen(second.hand()), above())
        second.drag_ball((-40, -40))
        assert second.still()
        assert np.allclose(second.hand(), second.handle().position, atol=1e-3)
        driver.button("drive").click()
        driver.tab.get_by_text("you are next").wait_for()
    finally:
        second.context.close()
    driver.tab.get_by_text("method", exact=True).wait_for()  # the second one left


@browsed
def test_a_browser_that_disconnects_while_driving_holds_the_arm(driver: Browser) -> None:
    driver.fresh()
    driver.drag_ball((200, 0), hold=True)
    assert driver.until(lambda: driver.dragged)
    driver.tab.close()
    session = driver.page.session
    assert until(lambda: session.newest.held == "nobody drives")
    assert until(lambda: driver.page.drivers.driver is None)  # the tab is silent first, then gone
    assert until(lambda: not session.newest.step.velocity.any())
    q, ticks = session.q, session.newest.number
    assert until(lambda: session.newest.number > ticks + 100)
    assert np.array_equal(session.q, q)
    assert driver.complaints == []


@browsed
def test_beyond_this_machine_a_browser_is_asked_for_the_token(chromium: Any, tmp_path: Path) -> None:
    with patient(), serve(models.planar2(), host="0.0.0.0", port=0, folder=tmp_path) as page:
        plainly(page)
        browser = Browser(page, chromium)
        browser.tab.get_by_text("enter the token").wait_for()
        assert page.drivers.driver is None
        browser.tab.get_by_text("on another machine", exact=True).dispatch_event("click")
        shown = browser.tab.locator("[data-invitation]")
        shown.locator("svg").wait_for()  # the QR code
        (link, *_) = address.network_urls("0.0.0.0", page.port)
        assert shown.get_by_role("link").first.get_attribute("href") == link
        assert page.token not in shown.inner_html()
        field = browser.tab.get_by_role("textbox").first
        field.fill("wrong")
        browser.button("drive").click()
        browser.tab.get_by_text("is not the token").wait_for()
        assert page.drivers.driver is None
        field.fill(page.token)
        browser.button("drive").click()
        browser.tab.get_by_text("method", exact=True).wait_for()
        assert page.drivers.driver == browser.id
        browser.context.close()
        assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("host", "warned"), [("127.0.0.1", False), ("0.0.0.0", True)])
def test_a_program_that_lets_others_in_is_told_so_with_the_token(
    host: str, warned: bool, caplog: pytest.LogCaptureFixture
) -> None:
    with serve(models.planar2(), host=host, port=0) as page:
        said = [record.getMessage() for record in caplog.records if record.name == "supple.teleop.page"]
    assert bool(said) == warned
    assert all(page.token in line and "can drive the arm" in line for line in said)


# -- the command ------------------------------------------------------------------------------------------------------


@pytest.mark.skipif(os.name == "nt", reason="there, a test cannot press Ctrl-C for another process alone")
@pytest.mark.parametrize("host", ["127.0.0.1", "0.0.0.0"])
def test_the_command_serves_until_ctrl_c_and_says_whom_it_lets_in(host: str, tmp_path: Path) -> None:
    words = ["teleop", "planar2", "--port", "0", "--no-browser", "--record", "a.parquet", "--host", host]
    with subprocess.Popen(
        [sys.executable, "-m", "supple", *words],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),  # a shell's & ignores it
    ) as running:
        assert running.stdout is not None
        limit = threading.Timer(PATIENCE, running.kill)
        limit.start()
        try:
            said = [running.stdout.readline()]
            found = re.search(r"planar2: http://\S+:(\d+) \(Ctrl-C ends\)", said[0])
            assert found, said
            if host == "0.0.0.0":
                said += [running.stdout.readline() for _ in range(3)]
                assert re.fullmatch(rf"from other machines: http://(?!localhost|0\.)\S+:{found[1]}\n", said[1])
                warning = r"WARNING: whoever reaches 0\.0\.0\.0:\d+ and knows the token drives the arm\n"
                assert re.fullmatch(warning, said[2])
                assert re.fullmatch(r"token: [0-9a-f]{10}\n", said[3])
            with urllib.request.urlopen(f"http://127.0.0.1:{found[1]}", timeout=PATIENCE) as answer:
                assert b"<html" in answer.read().lower()
            running.send_signal(signal.SIGINT)
            rest = running.stdout.read()
        finally:
            limit.cancel()
            running.kill()
    assert running.returncode == 0, rest
    assert re.match(r"300 Hz for .*\n$", rest)  # how its loop did, and nothing else
    assert [path.name for path in tmp_path.iterdir()] == ["a.parquet"]
    assert Recording(tmp_path / "a.parquet").linkage.name == "planar2"


@pytest.mark.parametrize("on_exit", ["hold", "release"])
def test_the_command_leaves_the_arm_as_on_exit_says(
    on_exit: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "my_robot.py"
    file.write_text(
        "import pathlib, supple\n"
        "class Said(supple.teleop.SimulatedArm):\n"
        "    def close(self):\n"
        f"        pathlib.Path({str(tmp_path / 'said')!r}).write_text(self.state)\n"
        "def connect():\n"
        "    return Said(supple.models.so101())\n"
    )

    def driven_then_ended(page: Page) -> None:
        end = time.monotonic() + PATIENCE
        while page.session.robot is None or page.session.robot.cycles < 10:
            assert time.monotonic() < end
            time.sleep(0.01)

    monkeypatch.setattr(Page, "wait", driven_then_ended)
    words = ["teleop", "so101", "--arm", f"{file}:connect", "--on-exit", on_exit, "--port", "0", "--no-browser"]
    result = CliRunner().invoke(app, words)
    assert result.exit_code == 0, result.output
    assert (tmp_path / "said").read_text() == {"hold": "held", "release": "released"}[on_exit]


def test_the_terminal_says_why_an_arm_cannot_be_connected_and_when_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plugged = tmp_path / "plugged"
    file = tmp_path / "my_robot.py"
    file.write_text(
        "import pathlib, supple\n"
        "def connect():\n"
        f"    if not pathlib.Path({str(plugged)!r}).exists():\n"
        "        raise OSError('no port /dev/ttyACM0')\n"
        "    return supple.teleop.SimulatedArm(supple.models.so101())\n"
    )
    said: list[str] = []
    monkeypatch.setattr(output, "print_text", said.append)

    def watched(page: Page) -> None:
        for wanted in ("arm: OSError: no port /dev/ttyACM0 (still trying)", "arm: connected"):
            end = time.monotonic() + PATIENCE
            while wanted not in said:
                assert time.monotonic() < end, said
                time.sleep(0.01)
            plugged.touch()

    monkeypatch.setattr(Page, "wait", watched)
    words = ["teleop", "so101", "--arm", f"{file}:connect", "--port", "0", "--no-browser"]
    result = CliRunner().invoke(app, words)
    assert result.exit_code == 0, result.output


def test_ctrl_c_before_the_page_waits_ends_the_command_in_the_same_way(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(page: Page) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Page, "wait", interrupted)
    result = CliRunner().invoke(app, ["teleop", "planar2", "--port", "0", "--no-browser"])
    assert result.exit_code == 0
    assert re.search(r"\n300 Hz for .*\n$", result.output)


@pytest.mark.skipif(os.name == "nt", reason="there is no pseudo-terminal")
def test_in_a_terminal_the_command_prints_a_qr_code_of_the_address_for_other_machines(tmp_path: Path) -> None:
    import pty

    terminal, end = pty.openpty()
    words = ["teleop", "planar2", "--port", "0", "--no-browser", "--host", "0.0.0.0"]
    with subprocess.Popen([sys.executable, "-m", "supple", *words], cwd=tmp_path, stdout=end) as running:
        os.close(end)  # when the command ends, reading does too
        limit = threading.Timer(PATIENCE, running.kill)
        limit.start()
        try:
            said, code = b"", {"the address is not known yet"}
            while not code <= set(said.decode(errors="ignore").replace("\r", "").split("\n")):
                said += os.read(terminal, 4096)  # raises when the command ends
                link = re.search(r"from other machines: (\S+)\r?\n", said.decode(errors="ignore"))
                code = set(qr.for_terminal(link[1]).splitlines()) if link else code
        finally:
            limit.cancel()
            running.kill()
            os.close(terminal)
    assert link
    assert not re.match(r"http://(localhost|127\.|0\.)", link[1])
    assert len(code) > 5


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["panda", "--source", "telepathy"], "telepathy"),
        (["panda", "--source", "udp:x"], "udp:x"),
        (["panda", "--link", "nose"], "nose"),
        (["panda", "--method", "magic"], "magic"),
        (["panda", "--tour", "--source", "udp:0"], "--tour"),
        (["nobody"], "nobody"),
        (["panda", "--record", "drive.txt"], "drive.txt"),
        (["panda", "--record", "nowhere/drive.csv"], "nowhere"),
    ],
)
def test_the_command_says_what_it_cannot_do(words: list[str], said: str) -> None:
    result = CliRunner().invoke(app, ["teleop", *words, "--port", "0", "--no-browser"])
    assert result.exit_code in (1, 2)
    assert said in result.output
    assert "Traceback" not in result.output
