"""Forward kinematics of foreign arrays: on the CPU by the core, on a GPU by its kernels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from supple import _check
from supple._arrays.given import Given, given
from supple._arrays.library import shape_of
from supple.errors import BadInput, unknown

if TYPE_CHECKING:
    from supple.linkage import Linkage


def frame(linkage: Linkage, q: Any, link: str, out: object = None) -> Any:
    """`Linkage.frame` as an array (..., 4, 4)."""
    arrays = _checked(linkage, {"q": q}, link, out)
    if arrays.is_on_gpu:
        return _kernels().frame(linkage, arrays, q, link)
    return arrays.back(linkage.frame(arrays.host(q), link).matrix)


def frames(linkage: Linkage, q: Any) -> Any:
    """The matrix of `Linkage.frames`, an array (..., links, 4, 4)."""
    arrays = _checked(linkage, {"q": q}, linkage.root)
    if arrays.is_on_gpu:
        return _kernels().frames(linkage, arrays, q)
    return arrays.back(linkage.frames(arrays.host(q)).matrix)


def jacobian(linkage: Linkage, q: Any, link: str, point: Any, axes: Any, in_link_axes: bool, out: object) -> Any:
    """`Linkage.jacobian` as an array (..., 6, dof)."""
    arrays = _checked(linkage, {"q": q, "point": point}, link, out)
    if arrays.is_on_gpu:
        return _kernels().jacobian(linkage, arrays, q, link, point, in_link_axes)
    at = None if point is None else arrays.host(point)
    return arrays.back(linkage.jacobian(arrays.host(q), link, point=at, axes=axes))


def frame_and_jacobian(linkage: Linkage, q: Any, link: str, out: object = None) -> tuple[Any, Any]:
    """`Linkage.frame_and_jacobian` as arrays (..., 4, 4) and (..., 6, dof)."""
    arrays = _checked(linkage, {"q": q}, link, out)
    if arrays.is_on_gpu:
        pair: tuple[Any, Any] = _kernels().frame_and_jacobian(linkage, arrays, q, link)
        return pair
    found, columns = linkage.frame_and_jacobian(arrays.host(q), link)
    return arrays.back(found.matrix), arrays.back(columns)


def _checked(linkage: Linkage, values: dict[str, Any], link: str, out: object = None) -> Given:
    if out is not None:
        raise BadInput("out is for NumPy arrays; leave it out, and the result is an array of q's library")
    if not isinstance(link, str) or link not in linkage._link_named:
        raise unknown("link", link, linkage._link_named)
    arrays = given(values)
    if arrays is None:
        raise BadInput(f"q must be numbers of shape (..., {linkage.dof}), got {_check.short(values['q'])}")
    for name, size in (("q", linkage.dof), ("point", 3)):
        shape = shape_of(values[name]) if name in values and values[name] is not None else (size,)
        if shape[-1:] != (size,):
            raise BadInput(f"{name} must have shape (..., {size}), not {shape}")
    return arrays


def _kernels() -> Any:
    """The calls of the kernels; loaded when the first array of a GPU comes."""
    from supple._arrays import gpu

    return gpu
