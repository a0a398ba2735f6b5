"""Fuzz: whatever the bytes, reading URDF gives a linkage or a `BadLinkage`, and nothing else."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from supple import Linkage
from supple.errors import BadLinkage
from supple.read import urdf_text

SEED = """<?xml version="1.0"?>
<robot name="arm" xmlns:x="y">
  <material name="red"><color rgba="1 0 0 1"/></material>
  <link name="base"><visual><origin xyz="0 0 1" rpy="0 0 0"/><geometry><box size="1 2 3"/></geometry>
    <material name="red"/></visual></link>
  <link name="upper"><collision><geometry><cylinder radius="0.1" length="0.4"/></geometry></collision></link>
  <link name="fore"><visual><geometry><mesh filename="package://arm/a.stl" scale="1 1 1"/></geometry></visual></link>
  <link name="hand"/><link name="thumb"/>
  <joint name="shoulder" type="revolute"><parent link="base"/><child link="upper"/>
    <origin xyz="0 0 0.5" rpy="0.1 0.2 0.3"/><axis xyz="0 0 1"/>
    <limit lower="-1" upper="1" effort="10" velocity="2"/></joint>
  <joint name="elbow" type="continuous"><parent link="upper"/><child link="fore"/><axis xyz="0 1 0"/></joint>
  <joint name="wrist" type="ball"><parent link="fore"/><child link="hand"/><!-- free --></joint>
  <joint name="grip" type="prismatic"><parent link="hand"/><child link="thumb"/>
    <mimic joint="elbow" multiplier="-2" offset="1e-3"/></joint>
</robot>
"""
WORDS = re.findall(r"[\w.:/-]+|[<>=\"'/]|\s+", SEED)
VALUES = [match.span(1) for match in re.finditer(r'="([^"]*)"', SEED)]
TAGS = [match.span() for match in re.finditer(r"<[^>]*>", SEED)]
ODD = st.one_of(
    st.text(max_size=12),
    st.floats().map(repr),
    st.integers().map(str),
    st.lists(st.floats(), max_size=5).map(lambda row: " ".join(map(repr, row))),
    st.sampled_from(["", " ", "0,5", "nan", "-inf", "1e999", "1e-999", "0 0 0", "1_0", "٣", "base", "elbow", "fixed"]),
    st.sampled_from(
        ["floating", "planar", "&#0;", "&lt;", "${x}", "]]>", "<!--", "<!DOCTYPE a>", "\x00", "\ufeff", "x:y"]
    ),
)
quick = settings(max_examples=250, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def reads_or_refuses(data: str | bytes) -> None:
    """The law itself."""
    try:
        arm = urdf_text(data)
    except BadLinkage as refused:
        error = refused
    else:
        moves(arm)
        return
    assert error.file == "<string>"
    assert len(str(error)) < 5000


def moves(arm: Linkage) -> None:
    """A linkage that was read prints, and has frames unless its numbers are absurd."""
    assert str(arm)
    if all(abs(joint.location.matrix).max() < 1e6 for joint in arm.joints) and not np.isinf(arm.rest).any():
        assert arm.frames(arm.rest).matrix.shape == (len(arm.links), 4, 4)


def splice(text: str, span: tuple[int, int], new: str) -> str:
    return text[: span[0]] + new + text[span[1] :]


def test_the_seed_itself_is_read() -> None:
    arm = urdf_text(SEED)
    assert (arm.dof, len(arm.links)) == (5, 5)


@quick
@given(st.binary(max_size=400))
def test_random_bytes_are_read_or_refused(data: bytes) -> None:
    reads_or_refuses(data)


@pytest.mark.slow
@quick
@given(st.text(max_size=400))
def test_random_text_is_read_or_refused(text: str) -> None:
    reads_or_refuses(text)
    reads_or_refuses(f"<robot>{text}</robot>")


@pytest.mark.slow
@quick
@given(st.lists(st.tuples(st.sampled_from(VALUES), ODD), min_size=1, max_size=3))
def test_random_values_in_attributes(changes: list[tuple[tuple[int, int], str]]) -> None:
    text = SEED
    for span, new in sorted(changes, reverse=True):
        text = splice(text, span, new)
    reads_or_refuses(text)


@pytest.mark.slow
@quick
@given(
    st.lists(
        st.tuples(st.sampled_from(TAGS), st.sampled_from(["", *(SEED[a:b] for a, b in TAGS)])), min_size=1, max_size=4
    )
)
def test_tags_removed_or_exchanged(changes: list[tuple[tuple[int, int], str]]) -> None:
    text = SEED
    for span, new in sorted(dict(changes).items(), reverse=True):
        text = splice(text, span, new)
    reads_or_refuses(text)


@quick
@given(st.lists(st.sampled_from(WORDS), max_size=60))
def test_words_of_a_robot_in_any_order(words: list[str]) -> None:
    reads_or_refuses("".join(words))
    reads_or_refuses(f"<robot>{' '.join(words)}</robot>")


@quick
@given(
    st.lists(
        st.tuples(st.integers(0, len(SEED) - 1), st.binary(max_size=3), st.integers(0, 3)), min_size=1, max_size=5
    ),
    st.sampled_from(["utf-8", "utf-16", "utf-16-be", "utf-32", "latin-1"]),
)
def test_bytes_overwritten_inserted_and_deleted(changes: list[tuple[int, bytes, int]], encoding: str) -> None:
    data = SEED.encode(encoding)
    for at, new, gone in changes:
        data = data[:at] + new + data[at + gone :]
    reads_or_refuses(data)


names = st.sampled_from(["a", "b", "c", "d", "e"])


@quick
@given(
    st.lists(names, max_size=6),
    st.lists(
        st.tuples(names, st.sampled_from(["fixed", "revolute", "ball", "floating"]), names, names, names), max_size=6
    ),
)
def test_any_graph_of_links_and_joints(links: list[str], joints: list[tuple[str, str, str, str, str]]) -> None:
    text = "".join(f'<link name="{name}"/>' for name in links)
    for name, kind, parent, child, source in joints:
        mimic = f'<mimic joint="{source}"/>' if source in "abc" else ""
        text += f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>{mimic}</joint>'
    reads_or_refuses(f'<robot name="r">{text}</robot>')
