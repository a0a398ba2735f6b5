"""Laws of Denavit-Hartenberg tables: a link's frame is the product of the rows up to it."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from supple import Kind
from supple.errors import BadInput, BadLinkage
from supple.read import DH, dh

PUMA = [  # theta, d, a, alpha
    (0.0, 0.0, 0.0, math.pi / 2),
    (0.0, 0.0, 0.4318, 0.0),
    (0.0, 0.15005, 0.0203, -math.pi / 2),
    (0.0, 0.4318, 0.0, math.pi / 2),
    (0.0, 0.0, 0.0, -math.pi / 2),
    (0.0, 0.0, 0.0, 0.0),
]


def turn_z(angle: float) -> np.ndarray:
    c, s = math.cos(angle), math.sin(angle)
    return np.array([[c, -s, 0, 0], [s, c, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1.0]])


def turn_x(angle: float) -> np.ndarray:
    c, s = math.cos(angle), math.sin(angle)
    return np.array([[1, 0, 0, 0], [0, c, -s, 0], [0, s, c, 0], [0, 0, 0, 1.0]])


def move(x: float, y: float, z: float) -> np.ndarray:
    shift = np.eye(4)
    shift[:3, 3] = x, y, z
    return shift


def product(rows: list[DH], q: np.ndarray, modified: bool) -> list[np.ndarray]:
    """The frames of a table, multiplied out as every textbook has it."""
    values = iter(q)
    frames = [np.eye(4)]
    for row in rows:
        theta, d = row.theta, row.d
        if row.kind is Kind.PRISMATIC:
            d += next(values)
        elif row.kind is not Kind.FIXED:
            theta += next(values)
        if modified:
            step = turn_x(row.alpha) @ move(row.a, 0, 0) @ turn_z(theta) @ move(0, 0, d)
        else:
            step = turn_z(theta) @ move(0, 0, d) @ move(row.a, 0, 0) @ turn_x(row.alpha)
        frames.append(frames[-1] @ step)
    return frames[1:]


def random_rows(seed: int) -> list[DH]:
    random = np.random.default_rng(seed)
    kinds = [Kind.REVOLUTE, Kind.CONTINUOUS, Kind.PRISMATIC, Kind.FIXED]
    rows = []
    for _ in range(random.integers(1, 9)):
        theta, d, a, alpha = random.uniform(-2, 2, 4) * (random.random(4) < 0.7)
        rows.append(DH(theta=theta, d=d, a=a, alpha=alpha, kind=kinds[random.integers(4)]))
    return rows


@pytest.mark.parametrize("modified", [False, True])
def test_every_link_is_at_the_product_of_the_rows_up_to_it(modified: bool) -> None:
    worst = 0.0
    for seed in range(200):
        rows = random_rows(seed)
        arm = dh(rows, modified=modified)
        q = np.random.default_rng(seed).uniform(-3, 3, arm.dof)
        for i, frame in enumerate(product(rows, q, modified), 1):
            worst = max(worst, float(np.abs(arm.frame(q, f"link{i}").matrix - frame).max()))
    assert worst < 1e-13


@pytest.mark.parametrize("modified", [False, True])
def test_the_three_ways_of_writing_a_row_are_one(modified: bool) -> None:
    names = ("theta", "d", "a", "alpha")
    arms = [
        dh(PUMA, modified=modified),
        dh(np.array(PUMA), modified=modified),  # type: ignore[arg-type]
        dh([dict(zip(names, row, strict=True)) for row in PUMA], modified=modified),
        dh([DH(theta=t, d=d, a=a, alpha=alpha) for t, d, a, alpha in PUMA], modified=modified),
    ]
    assert all(arm == arms[0] for arm in arms)


def test_names_and_numbers_are_kept() -> None:
    row = DH(name="lift", kind=Kind.PRISMATIC, lower=-1, upper=2, speed=0.5, rest=1.5)
    arm = dh([row, DH(a=1.0), DH(kind=Kind.FIXED, d=0.1)], name="crane")
    assert (arm.name, arm.root, arm.tips) == ("crane", "base", ("link3",))
    assert [joint.name for joint in arm.joints] == ["lift", "joint2", "joint2_offset", "joint3"]
    assert [link.name for link in arm.links] == ["base", "link1", "link2_axis", "link2", "link3"]
    lift = arm.joint("lift")
    assert (lift.lower, lift.upper, lift.speed, lift.rest) == ((-1.0,), (2.0,), (0.5,), (1.5,))


def test_no_link_is_added_where_none_is_needed() -> None:
    assert len(dh(PUMA, modified=True).links) == 7
    assert [link.name for link in dh(PUMA).links if link.name.endswith("_axis")] == ["link2_axis", "link3_axis"]


GOOD = (0.0, 0.0, 0.0, 0.0)


@pytest.mark.parametrize(
    ("rows", "element", "said"),
    [
        ([], "", "a Denavit-Hartenberg table needs at least one row"),
        ([GOOD, (1, 2, 3)], "row 2", "expected the four numbers theta, d, a, alpha"),
        ([GOOD, GOOD, (1, 2, 3, 4, 5)], "row 3", "expected the four numbers"),
        (["1234"], "row 1", "expected the four numbers"),
        ([None], "row 1", "expected the four numbers"),
        ([(0, 0, "x", 0)], "row 1", "expected the four numbers"),
        ([GOOD, (0, math.nan, 0, 0)], "row 2", "d must be a finite number, got nan"),
        ([DH(alpha=math.inf)], "row 1", "alpha must be a finite number, got inf"),
        ([DH(a="0.5")], "row 1", "a must be a finite number, got '0.5'"),
        ([DH(lower=math.nan)], "row 1", "lower must be a number, got nan"),
        ([{"thta": 1}], "row 1", "no field named 'thta'; did you mean 'theta'?"),
        ([GOOD, {"lower": 1, "upper": -1}], "row 2", "lower limit 1 is above upper limit -1"),
        ([DH(kind=Kind.BALL)], "row 1", "kind must be one of REVOLUTE, CONTINUOUS, PRISMATIC, FIXED"),
        ([DH(kind="revolute")], "row 1", "kind must be one of"),
        ([DH(kind=Kind.CONTINUOUS, upper=1)], "row 1", "a continuous joint has no position limits"),
        ([DH(speed=-1)], "row 1", "speed limit must not be negative"),
        ([DH(rest=math.inf)], "row 1", "rest must be finite"),
        ([DH(name="")], "row 1", "name must be a string that is not empty"),
        ([DH(name="x"), GOOD, DH(name="x")], "row 3", "its joint is called 'x' like that of row 1"),
        ([DH(name="joint2"), GOOD], "row 2", "its joint is called 'joint2' like that of row 1"),
    ],
)
def test_a_bad_table_names_its_row(rows: Any, element: str, said: str) -> None:
    with pytest.raises(BadLinkage) as caught:
        dh(rows)
    assert caught.value.element == element
    assert said in caught.value.reason


@pytest.mark.parametrize("rows", [None, 3, "rows"])
def test_rows_must_be_rows(rows: Any) -> None:
    with pytest.raises(BadInput, match="rows must be a list of rows"):
        dh(rows)
