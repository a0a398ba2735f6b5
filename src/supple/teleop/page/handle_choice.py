"""HandleChoice: which end effectors have a handle: a box to tick for each hand, foot and head of the arm."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from supple.teleop.page.arm import Arm


class HandleChoice:
    """A folder of boxes in a client's panel, one for each end effector that can be driven."""

    def __init__(self, gui: Any, choose: Callable[[tuple[str, ...]], object], by_user: Callable[..., Any]) -> None:
        """Adds the folder; ``choose`` is called with the chosen links, ``by_user`` as for `JointSliders`."""
        self._gui, self._choose, self._by_user = gui, choose, by_user
        self._folder = gui.add_folder("handles", expand_by_default=False)
        self._boxes: dict[str, Any] = {}

    @property
    def visible(self) -> bool:
        """Whether there is something to choose and it is shown."""
        return bool(self._folder.visible)

    @visible.setter
    def visible(self, shown: bool) -> None:
        shown = shown and len(self._boxes) > 1
        if self._folder.visible != shown:
            self._folder.visible = shown

    def begin(self, arm: Arm) -> None:
        """Shows the boxes of an arm; those of the same arm with other handles stay, so that one can go on ticking."""
        if set(self._boxes) == set(arm.candidates):
            for link, box in self._boxes.items():
                if box.value != (link in arm.links):
                    box.value = link in arm.links
            return
        for box in self._boxes.values():
            box.remove()
        with self._folder:
            self._boxes = {link: self._gui.add_checkbox(link, link in arm.links) for link in arm.candidates}
        for box in self._boxes.values():
            box.on_update(self._by_user(lambda _: self._changed(), locked=False))

    def _changed(self) -> None:
        chosen = tuple(link for link, box in self._boxes.items() if box.value)
        if chosen:
            self._choose(chosen)
