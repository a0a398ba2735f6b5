"""A linkage as text or HTML: its tree, one line for each link, and the names of its values."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING

from supple._table import html_table
from supple.joint import Joint, Kind

if TYPE_CHECKING:
    from supple.frame import Array
    from supple.linkage import Linkage

_HEADS = ("link", "joint", "kind", "axis", "limits", "speed")
_DEEP = 24  # levels that are indented; deeper ones show their depth as a number
_WIDE = 64  # cells longer than this do not widen their column
_SUFFIXES = {
    Kind.PLANAR: (".x", ".y", ".angle"),
    Kind.BALL: (".rx", ".ry", ".rz"),
    Kind.FLOATING: (".x", ".y", ".z", ".rx", ".ry", ".rz"),
}


def value_names(joint: Joint) -> tuple[str, ...]:
    """Name of each value of a joint: the joint's, with ``.x``, ``.rx`` and so on where there are several."""
    return tuple(joint.name + suffix for suffix in _SUFFIXES.get(joint.kind, ("",) * joint.kind.dof))


def tree(linkage: Linkage) -> str:
    """The tree as lines of text: each link, and its joint with kind, axis, limits and speed."""
    rows = _rows(linkage)
    widths = [max(min(len(row[i]), _WIDE) for row in rows) for i in range(len(_HEADS))]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    return "\n".join([_title(linkage), *(lines if linkage.joints else lines[1:])])


def html(linkage: Linkage) -> str:
    """The tree as a table for a notebook."""
    return html_table(_title(linkage), _rows(linkage))


def value_rows(linkage: Linkage, columns: Mapping[str, Array]) -> list[tuple[str, ...]]:
    """A heading, and a row for each joint value: its name, its unit, and its number in each column (dof,)."""
    values = zip(*columns.values(), strict=True)
    named = zip(linkage.names, linkage.units, values, strict=True)
    return [("joint", "unit", *columns), *((name, unit, *(f"{x:.4g}" for x in row)) for name, unit, row in named)]


def _rows(linkage: Linkage) -> list[tuple[str, ...]]:
    """A heading, the root, and a row of cells for each joint, depth first."""
    rows = [_HEADS, (linkage.root, *("",) * (len(_HEADS) - 1))]
    children: dict[str, list[Joint]] = {}
    for joint in linkage.joints:
        children.setdefault(joint.parent, []).append(joint)
    # the lines drawn before the names of a link's children, and its depth
    stem = {linkage.root: ("", 0)}
    for joint in linkage.joints:
        before, depth = stem[joint.parent]
        last = joint is children[joint.parent][-1]
        if depth < _DEEP:
            drawn = before + ("└ " if last else "├ ")
            stem[joint.child] = before + ("  " if last else "│ "), depth + 1
        else:
            drawn = f"{before}⋯{depth + 1} "
            stem[joint.child] = before, depth + 1
        rows.append((drawn + joint.child, joint.name, joint.kind.value, _axis(joint), _limits(joint), _speed(joint)))
    return rows


def _title(linkage: Linkage) -> str:
    tips = linkage.tips
    shown = ", ".join(tips[:6]) + (f" and {len(tips) - 6} more" if len(tips) > 6 else "")
    counts = ((linkage.dof, "degree"), (len(linkage.links), "link"), (len(tips), "tip"))
    degrees, links, ends = (word if n == 1 else word + "s" for n, word in counts)
    return f"{linkage.name}: {linkage.dof} {degrees} of freedom, {len(linkage.links)} {links}, {ends} {shown}"


def _axis(joint: Joint) -> str:
    if joint.kind in (Kind.FIXED, Kind.FLOATING):
        return ""
    sizes = [abs(value) for value in joint.axis]
    if max(sizes) == 1:
        i = sizes.index(1)
        return ("-" if joint.axis[i] < 0 else "") + "xyz"[i]
    return " ".join(f"{round(value, 3) + 0.0:g}" for value in joint.axis)


def _limits(joint: Joint) -> str:
    if joint.mimic is not None:
        gain, offset = joint.mimic.gain, joint.mimic.offset
        factor = {1.0: "", -1.0: "-"}.get(gain, f"{gain:g} × ")
        shift = f" {'-' if offset < 0 else '+'} {abs(offset):g}" if offset else ""
        return f"= {factor}{joint.mimic.joint}{shift}"
    if joint.kind is Kind.FIXED:
        return ""
    if joint.kind is Kind.BALL:
        swing = "swing free" if joint.swing == math.pi else f"swing to {_number(joint.swing)} rad"
        low, high = joint.twist
        free = (low, high) == (-math.pi, math.pi)
        return f"{swing}, twist {'free' if free else _range(low, high, 'rad')}"
    ranges = [_range(*limits) for limits in zip(joint.lower, joint.upper, joint.units, strict=True)]
    if len(set(ranges)) == 1:
        return ranges[0]
    labels = (suffix[1:] for suffix in _SUFFIXES[joint.kind])
    return ", ".join(f"{label} {shown}" for label, shown in zip(labels, ranges, strict=True))


def _number(value: float) -> str:
    return f"{value:.0f}" if 1e3 <= abs(value) < 1e7 else f"{value:.4g}"


def _range(low: float, high: float, unit: str) -> str:
    if math.isinf(low) and math.isinf(high):
        return "free"
    if math.isinf(low):
        return f"up to {_number(high)} {unit}"
    return f"from {_number(low)} {unit}" if math.isinf(high) else f"{_number(low)} to {_number(high)} {unit}"


def _speed(joint: Joint) -> str:
    if joint.mimic is not None or all(map(math.isinf, joint.speed)):
        return ""
    shown = [
        ("free" if math.isinf(v) else f"{_number(v)} {unit}/s")
        for v, unit in zip(joint.speed, joint.units, strict=True)
    ]
    return shown[0] if len(set(shown)) == 1 else ", ".join(shown)
