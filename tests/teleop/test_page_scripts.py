"""Scripts of the page: they are played whenever the arm comes to their start."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from supple import models
from supple.teleop.page import serve
from supple.teleop.page.handles import Script

pytest.importorskip("viser")


def test_a_script_is_played_also_where_the_arm_is_at_its_start_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serve(models.planar2(), port=0, folder=tmp_path) as page:
        session = page.session

        def arrive(q: Any, done: Callable[[], None], **options: Any) -> None:
            done()  # a loop that is quicker than the thread which starts the script

        monkeypatch.setattr(session.loop, "move", arrive)
        script = Script(np.full((2, 1, 4, 4), np.nan), np.array([0.0, 10.0]))
        session.start_script(script, session.arm.linkage.rest, lambda: None)
        assert session.source.scripted
        assert session.source._script is not None
        session.end_script()
        assert not session.source.scripted
