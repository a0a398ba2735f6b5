"""Figures 5.14 and 5.15: workspace and closed-form solution of a two-link arm."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from supple import models
from supple.analysis import TwoLink
from supple.frame import Array
from supple.textbook import chapter
from supple.view import _style

POINT = np.array([7.0, 17.0])
FORMULAS = (
    r"$\theta_T = \mathrm{atan2}(Y, X)$",
    r"$\theta_2 = \pm\,\mathrm{acos}\,\dfrac{X^2 + Y^2 - L_1^2 - L_2^2}{2\,L_1 L_2}$",
    r"$\theta_1 = \theta_T \mp \mathrm{acos}\,\dfrac{X^2 + Y^2 + L_1^2 - L_2^2}{2\,L_1 \sqrt{X^2 + Y^2}}$",
)


def elbows() -> Array:
    """Both solutions (2, 2) of planar2 for `POINT`, in radians: first with a positive elbow angle."""
    return TwoLink(models.planar2(), chapter.LINK).solve([*POINT, 0]).q


def figure_14() -> _style.Figure:
    """The annulus that a two-link arm reaches."""
    arm = models.planar2()
    ring = TwoLink(arm, chapter.LINK).annulus
    note = (
        f"Dots: the end effector at 4,000 random joint values. All lie in the annulus; its area is {ring.area:,.0f} m²."
    )
    figure, [[axes]] = _style.sheet(
        "5.14   The workspace of two links", [""], 1, (-29.0, 29.0, -27.0, 27.0), width=6.6, note=note
    )
    around = np.linspace(0, 2 * np.pi, 361)
    circle = np.stack([np.cos(around), np.sin(around)])
    axes.fill(*(ring.outer * circle), color=_style.JOINT, alpha=0.13, linewidth=0, zorder=1)
    axes.fill(*(ring.inner * circle), color=_style.PAPER, linewidth=0, zorder=1)
    for radius in (ring.inner, ring.outer):
        axes.plot(*(radius * circle), color=_style.JOINT, linewidth=1.3, zorder=2)
    positions = arm.frame(arm.random(4000, seed=1), chapter.LINK).position
    # as pixels also in a vector file, which would be large with thousands of dots
    axes.plot(*positions[:, :2].T, ".", color=_style.JOINT, markersize=1.6, alpha=0.35, zorder=1, rasterized=True)
    for q in ([2.2, 1.1], [1.5, 0.9], arm.rest):
        _style.arm(axes, chapter.places(arm, q), faint=1.0 if q is arm.rest else 0.5)
    for angle, radius, words, at in (
        (-0.62, ring.outer, f"$L_1 + L_2$ = {ring.outer:g} m", (6.5, -9.5)),
        (-2.2, ring.inner, f"$|L_1 - L_2|$ = {ring.inner:g} m", (-8.0, -7.5)),
    ):
        _style.arrow(axes, [0, 0], radius * np.array([np.cos(angle), np.sin(angle)]), _style.GOAL, width=1.4)
        _style.label(axes, at, words, _style.GOAL)
    _style.heading(axes, "links of 15 and 10 m, no joint limits")
    return figure


def figure_15() -> _style.Figure:
    """Both solutions for one goal, with their angles."""
    figure, row = _style.sheet(
        "5.15   The two-link arm in closed form: both solutions",
        [""],
        2,
        (-9.0, 21.0, -4.0, 24.0),
        width=9.5,
        foot=0.85,
    )
    for x, formula in zip((0.053, 0.28, 0.60), FORMULAS, strict=True):
        figure.text(x, 0.38 / figure.get_figheight(), formula, size=10, va="center")
    solutions = elbows()
    for axes, q, other, side in zip(row[0], solutions, solutions[::-1], ("positive", "negative"), strict=True):
        _angles(axes, q, other)
        first, second = np.degrees(q)
        _style.heading(
            axes,
            f"{side} elbow angle",
            rf"$\theta_1$ = {first:.1f}°, $\theta_2$ = {second:.1f}°".replace("-", "−"),
        )
    return figure


def _angles(axes: _style.Axes, q: Array, other: Array) -> None:
    arm = models.planar2()
    points = chapter.places(arm, q)
    elbow, towards = points[1], float(np.arctan2(POINT[1], POINT[0]))
    out = elbow + 7 * elbow / np.linalg.norm(elbow)
    _style.arm(axes, chapter.places(arm, other), faint=0.3)
    _style.line(axes, [[0, 0], [12, 0]])
    _style.line(axes, np.array([[0, 0], POINT]), _style.GOAL)
    _style.line(axes, [elbow, out])
    _style.arm(axes, points)
    _style.goal(axes, POINT)
    first, second = float(q[0]), float(q[1])
    far = 9.5 if first < towards else 6.0
    for radius, angle, name, colour in (
        (15.5 - far, first, r"$\theta_1$", _style.JOINT),
        (far, towards, r"$\theta_T$", _style.GOAL),
    ):
        _style.arc(axes, [0, 0], radius, 0.0, angle, colour, True)
        _style.label(axes, (radius + 1.3) * np.array([np.cos(angle / 2.6), np.sin(angle / 2.6)]), name, colour, size=11)
    _style.arc(axes, elbow, 4.5, first, first + second, _style.ARROWS[1], True)
    middle = first + second / 2
    _style.label(
        axes, elbow + 6.0 * np.array([np.cos(middle), np.sin(middle)]), r"$\theta_2$", _style.ARROWS[1], size=11
    )
    _style.label(axes, POINT + np.array([0, 2.0]), "(X, Y)", _style.GOAL)
    for i, name in enumerate(("$L_1$", "$L_2$")):
        across = np.array([points[i + 1, 1] - points[i, 1], points[i, 0] - points[i + 1, 0]])
        inward = -np.sign(second) * across / np.linalg.norm(across)
        _style.label(axes, (points[i] + points[i + 1]) / 2 + 1.7 * inward, name)


DRAWN: dict[str, Callable[[], _style.Figure]] = {"5.14": figure_14, "5.15": figure_15}
