"""In a notebook: results print as tables, and a viewer shows its page in a frame that only this machine may use."""

from __future__ import annotations

import http.server
import sys
import threading
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from lxml import html

import supple
from browser import PATIENCE, patient, plain, until
from driven_page import browsed
from supple import Goal, Motion, models
from supple.view import notebook


def cells(shown: Any) -> list[list[str]]:
    """The rows of the table that a notebook shows."""
    return [[cell.text_content() for cell in row] for row in html.fromstring(shown._repr_html_()).iter("tr")]


def test_a_solution_is_a_table_of_its_joint_values() -> None:
    arm = models.ur5()
    found = supple.solve(arm, Goal("tool0", arm.frame(arm.rest + 0.1, "tool0")))
    head, *rows = cells(found)
    assert head == ["joint", "unit", "value"]
    assert [row[0] for row in rows] == list(arm.names)
    assert np.allclose([float(row[2]) for row in rows], found.q, atol=1e-3)
    assert str(found) in html.fromstring(found._repr_html_()).findtext("div"), "the text is as wide as the page"


def test_many_solutions_are_counted() -> None:
    arm = models.ur5()
    frames = arm.frame(arm.rest + np.linspace(0, 0.2, 7)[:, None], "tool0")
    assert cells(supple.solve(arm, Goal("tool0", frames))) == [["outcome", "solves"], ["arrived", "7"]]


def test_a_path_is_a_table_of_the_joint_values_at_its_ends_and_many_paths_are_counted() -> None:
    arm = models.planar3()
    done = supple.solve_path(arm, supple.GoalPath.line([12, 6, 0], [10, 8, 0]).goal("tip", 11), duration=2.0)
    head, *rows = cells(done)
    assert head == ["joint", "unit", "first", "last"]
    assert [row[0] for row in rows] == list(arm.names)
    assert np.allclose([[float(cell) for cell in row[2:]] for row in rows], done.q[[0, -1]].T, atol=1e-3)
    assert html.fromstring(done._repr_html_()).findtext("div") == str(done)
    ways = np.linspace([[12, 6, 0], [25, 5, 0]], [[10, 8, 0], [45, 5, 0]], 11)  # the second leaves the reach
    many = supple.solve_path(arm, Goal("tip", position=ways))
    assert cells(many)[1:] == [["arrived everywhere", "1"], ["continuous", "2"], ["ended as wanted", "2"]]


def test_names_of_a_file_cannot_add_elements() -> None:
    arm = models.planar2()
    hostile = supple.Linkage("<b>x</b>", arm.joints, arm.links, arm.base)
    motion = Motion(hostile, [0.0, 1.0], [hostile.rest, hostile.rest])
    assert "<b>" not in motion._repr_html_() + hostile._repr_html_()


def test_a_linkage_solution_and_motion_show_their_names_escaped_and_their_numbers() -> None:
    odd = "<i>&joint</i>"
    joints = [
        supple.Joint.revolute(odd, "base", "<u>&link</u>", lower=-1.25, upper=2),
        supple.Joint.fixed("end", "<u>&link</u>", "tip", at=supple.Frame.at([1, 0, 0])),
    ]
    arm = supple.Linkage("<b>&arm</b>", joints)
    found = supple.solve(arm, Goal("tip", position=arm.frame([0.5], "tip").position))
    shown = [arm, found, Motion(arm, [0.0, 1.5], [[0.0], [0.75]])]
    for one, said in zip(
        shown, (["<b>&arm</b>", odd, "<u>&link</u>", "-1.25"], [odd, "0.5"], ["<b>&arm</b>", "1.5 s"]), strict=True
    ):
        page = html.fromstring(f"<div>{one._repr_html_()}</div>")
        assert all(words in page.text_content() for words in said), said
        assert not list(page.iter("b", "i", "u"))


@pytest.fixture
def in_notebook(monkeypatch: pytest.MonkeyPatch) -> None:
    shell = SimpleNamespace(kernel=object())
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: shell))


def test_only_a_kernel_counts_as_a_notebook(monkeypatch: pytest.MonkeyPatch) -> None:
    for shell, expected in ((None, False), (SimpleNamespace(), False), (SimpleNamespace(kernel=object()), True)):
        monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda shell=shell: shell))
        assert notebook.is_running() is expected


def test_in_a_notebook_show_returns_at_once_and_its_result_is_the_page(
    in_notebook: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []
    monkeypatch.setattr(supple.view.address, "open_page", opened.append)
    with supple.view.show(models.planar2(), port=0) as viewer:
        assert f'src="{viewer.url}"' in viewer._repr_html_()
        assert opened == []
    assert "closed" in viewer._repr_html_()
    assert "iframe" not in viewer._repr_html_()


@browsed
@pytest.mark.parametrize("allowed", [True, False])
def test_a_local_page_shows_the_viewer_in_a_frame_only_if_it_was_made_in_a_notebook(
    allowed: bool, chromium: Any, request: pytest.FixtureRequest
) -> None:
    if allowed:
        request.getfixturevalue("in_notebook")
    with patient(), supple.view.serve(models.planar2(), port=0) as viewer:
        outer = f"<html><body>{notebook.frame(viewer.url)}</body></html>".encode()

        class Notebook(http.server.BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self.send_response(200)
                self.send_header("Content-Type", "text/html")
                self.end_headers()
                self.wfile.write(outer)

            def log_message(self, *_: Any) -> None:
                pass

        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Notebook)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        plain(viewer._server)
        tab, answers = chromium.new_page(), list[int]()
        tab.on("response", lambda said: answers.append(said.status) if said.url == f"{viewer.url}/" else None)
        try:
            tab.goto(f"http://localhost:{server.server_port}/", timeout=1000 * PATIENCE)
            shown = tab.frame_locator("iframe").get_by_text("joint1").first
            if allowed:
                shown.wait_for(timeout=1000 * PATIENCE)
                assert until(tab, lambda: len(viewer._server.get_clients()) == 1)
                assert answers == [200]
            else:
                assert until(tab, lambda: answers)
                assert answers == [403]
                assert not shown.is_visible()
                assert viewer._server.get_clients() == {}
        finally:
            tab.close()
            server.shutdown()
            server.server_close()
