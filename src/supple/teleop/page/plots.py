"""Plots: the last seconds of the loop as lines: joint positions, speeds, weights, damping and error, with legends."""

from __future__ import annotations

import colorsys
from html import escape
from typing import Any

import numpy as np

from supple.teleop.command import Tick
from supple.teleop.page.arm import Arm
from supple.teleop.page.words import short_names

SECONDS = 8.0
SAMPLES = 120  # over those seconds
INK, TURN, SOFT = "#d1663a", "#54888f", "#8b857c"
DEGREES = "degrees"  # the scale of angles, on the right
# uPlot finds the numbers of the time axis only when it calculates its axes again after the scale has been set
_SCRIPT = """(() => {
  if (window.suppleAxes) return;
  window.suppleAxes = setInterval(() => {
    for (const one of Object.values((window.__viserTestpoints || {}).uplots || {}))
      if (!one.chart.axes[0]._splits) one.chart.redraw(false, true);
  }, 500);
})();"""


class Plots:
    """Four plots in a panel of their own, shared by all browsers."""

    def __init__(self, gui: Any) -> None:
        """Adds the panel; `begin` adds the plots."""
        self._gui = gui
        self.panel = gui.add_panel()
        self._tabs = self.panel.add_tab("joints"), self.panel.add_tab("damping and error")
        self._plots: list[Any] = []
        self._legends: list[Any] = []
        self.panel.float(x=15, y=-15, width=330)

    @staticmethod
    def draw_axes(client: Any) -> None:
        """Lets a client of viser draw the numbers of the time axis."""
        from viser import _messages

        client._websock_connection.queue_message(_messages.RunJavascriptMessage(_SCRIPT))

    def begin(self, arm: Arm) -> None:
        """Replaces the plots by empty ones for an arm."""
        for part in (*self._plots, *self._legends):
            part.remove()
        self._plots, self._legends = [], []
        self._columns = arm.columns
        linkage, n, goals = arm.linkage, len(arm.columns), len(arm.links)
        lower, upper, speed = (v[arm.columns] for v in (linkage.lower, linkage.upper, linkage.speed))
        bounded = np.isfinite(lower) & np.isfinite(upper) & (lower < upper)
        lower, upper = np.where(bounded, lower, -np.pi), np.where(bounded, upper, np.pi)
        self._middle, self._half = (lower + upper) / 2, (upper - lower) / 2
        self._speed = np.where(np.isfinite(speed), speed, np.pi)
        self._turns = any(arm.turns)
        self._t = np.linspace(-SECONDS, 0.0, SAMPLES)
        self._rows = self._sent = np.full((SAMPLES, 3 * n + 1 + 2 * goals), np.nan)
        self._cuts = np.cumsum([n, n, n, 1, goals])
        names, colours = [linkage.names[i] for i in arm.columns], [_colour(k, n) for k in range(n)]
        names = short_names(names) if n > 1 else names
        ends = [""] if goals == 1 else [f" of {link}" for link in arm.links]
        with self._tabs[0]:
            within = "joint positions, ±1: limits", "joint speeds, ±1: limits"
            for title in within:
                self._plot(title, names, colours, (-1.12, 1.12))
            self._legend(names, colours)
        with self._tabs[1]:
            what, shades = [*names, "damping × 100"], [*colours, INK]
            self._plot("joint weights and damping", what, shades, (-0.05, 1.1))
            self._legend(what, shades)
            what = [f"mm{end}" for end in ends] + [f"{DEGREES}{end}" for end in ends if self._turns]
            shades = [_shade(INK, k) for k in range(goals)] + [_shade(TURN, k) for k in range(goals) if self._turns]
            self._plot("error in mm, and in degrees on the right", what, shades, None)
            self._legend(what, shades)

    def sample(self, tick: Tick) -> None:
        """Adds a tick; called `SAMPLES` / `SECONDS` times a second."""
        step, c = tick.step, self._columns
        row = [
            (step.q[c] - self._middle) / self._half,
            step.velocity[c] / self._speed,
            step.joint_weights[c],
            100 * np.atleast_1d(step.damping),
            1e3 * step.distance,
            np.degrees(step.angle),
        ]
        self._rows = np.roll(self._rows, -1, axis=0)
        self._rows[-1] = np.clip(np.concatenate(row), -1e6, 1e6)

    def draw(self) -> None:
        """Sends the lines to the browsers, if they have changed."""
        if np.allclose(self._rows, self._sent, 0.0, 1e-4, equal_nan=True):
            return
        self._sent = self._rows
        position, velocity, weights, damping, distance, angle = np.split(self._rows, self._cuts, axis=1)
        error = (distance, angle) if self._turns else (distance,)
        for plot, lines in zip(self._plots, ((position,), (velocity,), (weights, damping), error), strict=True):
            plot.data = (self._t, *(np.ascontiguousarray(line) for block in lines for line in block.T))

    def _plot(self, title: str, names: list[str], colours: list[str], y: tuple[float, float] | None) -> None:
        """Adds a plot of lines; without a range y its lines are in mm on the left, and in degrees on the right."""
        series: list[dict[str, Any]] = [
            {"label": name, "stroke": colour, "width": 2.5 if colour == INK else 1.4, "points": {"show": False}}
            for name, colour in zip(names, colours, strict=True)
        ]
        thin = {"stroke": "#ebe7e0", "width": 1}
        axis = {"stroke": SOFT, "grid": thin, "ticks": {"show": False}, "font": "11px sans-serif", "size": 34}
        time_axis = {**axis, "size": 22, "splits": list(range(-int(SECONDS), 1, 2)), "label": "seconds, 0 is now"}
        time_axis |= {"labelSize": 14, "labelFont": "11px sans-serif"}
        axes = [time_axis, axis]
        scales: dict[str, Any] = {"x": {"time": False, "range": (-SECONDS, 0.0)}, "y": {"range": y}}
        if y is None:
            scales["y"] = {"range": {"min": {"soft": 0.0, "mode": 1}, "max": {"soft": 5.0, "mode": 1}}}
            if self._turns:
                scales[DEGREES] = scales["y"]
                axes.append({**axis, "scale": DEGREES, "side": 1, "grid": {"show": False}, "stroke": TURN})
                for one in series:
                    one["scale"] = DEGREES if one["label"].startswith(DEGREES) else "y"
        plot = self._gui.add_uplot(
            (self._t, *(np.full(SAMPLES, np.nan) for _ in names)),
            ({"label": "s"}, *series),
            title=title,
            scales=scales,
            axes=tuple(axes),
            legend={"show": False},
            cursor={"drag": {"x": False, "y": False}, "points": {"show": False}},
            padding=(6, 10, 0, 0),
            height=148,
        )
        self._plots.append(plot)

    def _legend(self, names: list[str], colours: list[str]) -> None:
        """Adds the name of each line beside its colour; below the plots, so that it takes no space of theirs.

        Six rows of 1.5 em and the padding of 0.4 em are seen, as many as the arms and legs of a humanoid need.
        """
        swatch = "display:inline-block;width:0.9em;height:0.28em;border-radius:2px;margin-right:0.35em"
        items = (
            f'<span style="white-space:nowrap;margin-right:0.9em">'
            f'<span style="{swatch};vertical-align:middle;background:{colour}"></span>{escape(name)}</span> '
            for name, colour in zip(names, colours, strict=True)
        )
        legend = self._gui.add_html(
            '<div data-legend style="padding:0 0.9em 0.4em;font-size:0.6875em;line-height:1.5;color:#5b5751;'
            f'max-height:9.5em;overflow-y:auto">{"".join(items)}</div>'
        )
        self._legends.append(legend)


def _colour(k: int, n: int) -> str:
    """The k-th of n muted colours, from teal through plum to ochre, so that neighbouring joints have similar ones."""
    red, green, blue = colorsys.hls_to_rgb((0.5 + 0.62 * k / max(n - 1, 1)) % 1.0, 0.47, 0.36)
    return f"#{round(255 * red):02x}{round(255 * green):02x}{round(255 * blue):02x}"


def _shade(colour: str, k: int) -> str:
    return colour if k == 0 else colour + "99"
