"""Pictures of motions: contact sheets, animated pictures, and motions in a notebook."""

from __future__ import annotations

import json
import re
from html import unescape
from pathlib import Path

import numpy as np
import pytest

from supple import BadInput, Motion, models
from supple.view.motion import Capsules, animated_picture, contact_sheet, notebook_page

FIGURE = models.human()
WAVE = Motion(FIGURE, [0, 0.5, 1.0], [FIGURE.rest, FIGURE.q(left_elbow=1.5), FIGURE.rest])


@pytest.mark.parametrize("name", ["human", "puppet", "panda", "ur5", "g1"])
def test_every_linkage_has_capsules_that_move_with_it(name: str) -> None:
    linkage = models.get(name)
    q = np.stack([linkage.rest, linkage.random(seed=1)])
    capsules = Capsules.of(linkage, q)
    lengths = np.linalg.norm(capsules.ends[:, :, 1] - capsules.ends[:, :, 0], axis=-1)
    assert np.allclose(lengths[0], lengths[1])
    assert (capsules.radii > 0).all()
    assert not np.allclose(capsules.ends[0], capsules.ends[1])


def test_a_contact_sheet_has_a_picture_for_each_time() -> None:
    pytest.importorskip("matplotlib")
    assert len(contact_sheet(WAVE).axes) == 8
    assert len(contact_sheet(WAVE, [0.1, 0.2, 0.3], columns=2).axes) == 3
    with pytest.raises(BadInput, match="times"):
        contact_sheet(WAVE, [])
    with pytest.raises(BadInput, match="columns"):
        contact_sheet(WAVE, columns=0)


def test_an_animated_picture_moves_for_as_long_as_the_motion(tmp_path: Path) -> None:
    image = pytest.importorskip("PIL.Image")
    pytest.importorskip("matplotlib")
    animated_picture(WAVE, tmp_path / "wave.gif", rate=10, height=120, progress=False)
    with image.open(tmp_path / "wave.gif") as picture:
        assert picture.height == 120
        assert 6 <= picture.n_frames <= 11  # equal neighbours may become one
        first = np.asarray(picture.convert("RGB"), dtype=int)
        seconds = 0.0
        for frame in range(picture.n_frames):
            picture.seek(frame)
            seconds += picture.info["duration"] / 1000
            if frame == picture.n_frames // 2:
                assert np.abs(np.asarray(picture.convert("RGB"), dtype=int) - first).max() > 40
    assert seconds == pytest.approx(1.1, abs=0.02)
    with pytest.raises(BadInput, match="gif"):
        animated_picture(WAVE, tmp_path / "wave.mp4")
    with pytest.raises(BadInput, match="too many"):
        animated_picture(WAVE.retimed(1e5), tmp_path / "wave.gif")


def test_a_notebook_gets_a_page_with_the_capsules_of_the_motion() -> None:
    shown = WAVE._repr_html_()
    assert shown == notebook_page(WAVE)
    page = unescape(re.search(r'srcdoc="(.*?)" sandbox="allow-scripts"', shown, re.DOTALL)[1])  # type: ignore[index]
    data = json.loads(re.search(r"const data = (.*);\n", page)[1])  # type: ignore[index]
    assert len(data["ends"]) == 31
    wanted = Capsules.of(FIGURE, WAVE.at([0.5])).ends[0].ravel()
    assert np.allclose(data["ends"][15], wanted, atol=1e-3)
    assert "<script" not in shown.split("</iframe>")[1]


def test_a_long_motion_stays_small_in_a_notebook() -> None:
    long = Motion(FIGURE, np.arange(20_000) / 60, np.tile(FIGURE.rest, (20_000, 1)))
    assert len(notebook_page(long)) < 5_000_000
