"""The condition number of a link's Jacobian, and the values of q that move a link."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from supple import _check
from supple.errors import BadInput
from supple.frame import Array

if TYPE_CHECKING:
    from supple.linkage import Linkage


def condition(
    linkage: Linkage, q: ArrayLike, link: str, alpha: float, weight: float, position: bool, orientation: bool
) -> Array:
    """See `Linkage.condition`."""
    if not (_check.flag(position, "position") | _check.flag(orientation, "orientation")):
        raise BadInput("condition needs position, orientation or both")
    alpha, weight = (_check.positive(x, name, zero=True) for name, x in (("alpha", alpha), ("weight", weight)))
    if max(alpha, weight) > _check.LARGEST:
        raise BadInput(f"alpha and weight must be at most {_check.LARGEST:g}, got {alpha:g} and {weight:g}")
    if isinstance(q, str):
        raise linkage._refused("condition", q, link)
    jacobian = linkage.jacobian(_check.own(q), link)
    rows = [*(weight * jacobian[..., i, :] for i in range(3) if position)]
    rows += [*(jacobian[..., i, :] for i in range(3, 6) if orientation)]
    directions = min(len(rows), len(moving(linkage, link)))
    squares = np.zeros((*jacobian.shape[:-2], 1))
    if directions:  # a link that no joint moves is singular
        squares = np.linalg.svd(np.stack(rows, axis=-2), compute_uv=False)[..., :directions] ** 2
    with np.errstate(divide="ignore", invalid="ignore"):
        kappa: Array = np.asarray((squares[..., 0] + alpha) / (squares[..., -1] + alpha))
    return np.where(np.isnan(kappa), np.inf, kappa)


def moving(linkage: Linkage, link: str) -> set[int]:
    """The indices in q of the values that move a link."""
    above = {joint.child: joint for joint in linkage.joints}
    found: set[int] = set()
    while link in above:
        joint = above[link]
        if joint.kind.dof:
            first = linkage._sources[joint.name].first
            found.update(range(first, first + joint.kind.dof))
        link = joint.parent
    return found
