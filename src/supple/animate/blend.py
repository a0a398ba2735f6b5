"""Blends of poses: between two sets of joint values, all joints alike or each limb by its own weight."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from supple import _check
from supple._linkage.argument import checked_linkage
from supple.errors import BadInput, unknown
from supple.frame import Array
from supple.linkage import Linkage


def blend(linkage: Linkage, first: ArrayLike, second: ArrayLike, weight: ArrayLike | Mapping[str, ArrayLike]) -> Array:
    """Joint values between two poses, such as one that was keyed and one that inverse kinematics found.

    Args:
        linkage: the linkage.
        first: joint values (..., dof), in radians or metres.
        second: joint values (..., dof).
        weight: 0 for the first pose, 1 for the second: one number or an array (...) for all joints; or weights by the
            names of links, each for the joints of the limb that hangs on that link. Joints of no such limb stay as in
            the first pose; of two limbs that share a joint, the one that begins farther out counts.

    Ball joints and rotations of floating joints turn the shortest way. Leading axes broadcast.

    >>> from supple import models
    >>> from supple.animate import blend
    >>> blend(models.planar2(), [0, 0], [1, 1], 0.25)
    array([0.25, 0.25])
    """
    checked_linkage(linkage)
    poses = [_check.numbers(first, "first"), _check.numbers(second, "second")]
    for name, pose in zip(("first", "second"), poses, strict=True):
        if pose.shape[-1:] != (linkage.dof,) or not np.isfinite(pose).all():
            raise BadInput(f"{name} must be finite joint values (..., {linkage.dof}), its shape is {pose.shape}")
    try:
        start, end = np.broadcast_arrays(*poses)
    except ValueError as error:
        raise BadInput(f"the leading axes of first and second must broadcast: {error}") from None
    way = linkage.difference(start, end)
    share = np.zeros((*way.shape[:-1], linkage.dof))
    if isinstance(weight, Mapping):
        for link in sorted(weight, key=lambda name: link_depth(linkage, name)):
            share[..., limb_columns(linkage, link)] = _weight(weight[link], way)[..., None]
    else:
        share[...] = _weight(weight, way)[..., None]
    blended: Array = linkage.integrate(start, share * way)
    return blended


def limb_columns(linkage: Linkage, link: str) -> Any:
    """The places in q of the joints that move what hangs on a link, and not the link itself."""
    if link not in linkage._link_named:
        raise unknown("link", link, linkage._link_named)
    below, found = {link}, list[int]()
    for joint in linkage.joints:  # parents before children
        if joint.parent in below:
            below.add(joint.child)
            if joint.dof and joint.mimic is None:
                first = linkage._sources[joint.name].first
                found += range(first, first + joint.dof)
    return np.array(found, dtype=int)


def link_depth(linkage: Linkage, link: str) -> int:
    """How many joints there are between the root and a link."""
    if link not in linkage._link_named:
        raise unknown("link", link, linkage._link_named)
    return len(linkage.part(linkage.root, link).joints)


def _weight(value: ArrayLike, way: Array) -> Array:
    weight = _check.numbers(value, "weight")
    if not ((weight >= 0) & (weight <= 1)).all():
        raise BadInput(f"weight must be from 0 to 1, got {_check.short(value)}")
    try:
        return np.broadcast_to(weight, way.shape[:-1])
    except ValueError:
        raise BadInput(f"weight must broadcast to {way.shape[:-1]}, its shape is {weight.shape}") from None
