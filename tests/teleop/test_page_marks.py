"""Marks of the page: the colours of joints at and beyond their limits can be told apart on every bundled model."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

pytest.importorskip("viser", reason="the teleop extra is not installed")

from supple import models
from supple.teleop.page.arm_view import BEYOND, GHOST, LIMIT, MARK_OPACITY
from supple.view.bodies import bodies

SEEN = 10.0  # difference of two colours in CIELAB; 2.3 is just noticed side by side
# what eyes without one kind of cone see, in linear RGB: Machado, Oliveira and Fernandes 2009, severity 1
EYES = {
    "normal": np.eye(3),
    "protanopia": np.array(
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]
    ),
    "deuteranopia": np.array(
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]
    ),
    "tritanopia": np.array(
        [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]]
    ),
}
TO_XYZ = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])


def linear(colours: Any) -> np.ndarray:
    """Linear RGB, 0 to 1, of sRGB, 0 to 255."""
    c = np.asarray(colours, dtype=float) / 255
    return np.where(c <= 0.04045, c / 12.92, ((c + 0.055) / 1.055) ** 2.4)


def encoded(colours: np.ndarray) -> np.ndarray:
    """sRGB, 0 to 255, of linear RGB, 0 to 1."""
    return 255 * np.where(colours <= 0.0031308, 12.92 * colours, 1.055 * colours ** (1 / 2.4) - 0.055)


def lab(colours: Any, eye: str) -> np.ndarray:
    """CIELAB (..., 3) of sRGB colours as an eye sees them."""
    seen = np.clip(linear(colours) @ EYES[eye].T, 0, 1) @ TO_XYZ.T / [0.9505, 1.0, 1.089]
    f = np.where(seen > 0.008856, np.cbrt(seen), 7.787 * seen + 16 / 116)
    x, y, z = np.moveaxis(f, -1, 0)
    return np.stack([116 * y - 16, 500 * (x - y), 200 * (y - z)], axis=-1)


def own_colours(name: str) -> np.ndarray:
    """The sRGB colours (n, 3) of a model; glTF materials are linear."""
    found = [
        part.visual.material.main_color if hasattr(part.visual, "material") else part.visual.main_color
        for body in bodies(models.get(name))
        for part in body
    ]
    return np.unique(encoded(np.array(found, dtype=float)[:, :3] / 255), axis=0)


@pytest.mark.parametrize("name", models.names())
@pytest.mark.parametrize("eye", EYES)
def test_a_mark_is_unlike_every_colour_of_the_model(name: str, eye: str) -> None:
    own = own_colours(name)
    for mark, below in product((LIMIT, BEYOND), own):  # the mark is translucent
        over = MARK_OPACITY * np.array(mark) + (1 - MARK_OPACITY) * below
        assert np.linalg.norm(lab(over, eye) - lab(own, eye), axis=-1).min() > SEEN


@pytest.mark.parametrize("eye", EYES)
def test_the_marks_are_unlike_each_other_and_the_measured_arm(eye: str) -> None:
    one, other, ghost = lab([LIMIT, BEYOND, GHOST], eye)
    assert min(np.linalg.norm(one - other), np.linalg.norm(one - ghost), np.linalg.norm(other - ghost)) > SEEN
