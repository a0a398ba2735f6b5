"""Damping schemes as the core reads them: names become indices, ranks are measured, functions become callbacks."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from supple import _check, _core
from supple._linkage import condition
from supple._solve import encoding
from supple._solve.scheme import Scheme, SchemeKind
from supple._solve.singularity import ConditionBound, Measure, Singularity
from supple.damping import Damping
from supple.errors import BadInput, unknown
from supple.frame import Array
from supple.joint import Joint, Kind
from supple.linkage import Linkage

_NEED_RANK = (SchemeKind.NAKAMURA_HANAFUSA, SchemeKind.KELMAR_KHOSLA, SchemeKind.MAYORGA, SchemeKind.SINGULARITIES)
_AT_REST = 0.3  # w_0 over the manipulability at rest
_SLIDE = 0.1  # region of a prismatic joint over its range


def numbers(schemes: Damping, linkage: Linkage, local_solver: _core.LocalSolver) -> list[tuple[Any, ...]]:
    """The schemes as the core reads them, for a solver without schemes; `BadInput` or `UnknownName` if they do not fit.

    A singularity measured by joints that move none of the goals is left out, since it has no effect.
    """
    order = ordered(schemes)
    called = [scheme for scheme in order if _function(scheme) is not None]
    needs_rank = any(scheme.kind in _NEED_RANK for scheme in order)
    rank = encoding.generic_rank(linkage, local_solver) if needs_rank else 1
    rows = []
    for scheme in order:
        bound = isinstance(scheme.alpha0, ConditionBound)
        alpha0 = 1 / (scheme.alpha0.kappa - 1) if isinstance(scheme.alpha0, ConditionBound) else scheme.alpha0
        region, weight, each = scheme.region, scheme.weight, np.zeros(linkage.dof)
        where: tuple[Any, ...] = (0, (-1, 1.0, 0.0, False), (), None, None)
        if scheme.kind is SchemeKind.LIMITS:
            each = _regions(linkage, scheme)
        elif scheme.singularity is not None:
            region, weight = scheme.singularity.region, scheme.singularity.weight
            for name in scheme.singularity.joints:
                each[_columns(linkage, _joint(linkage, name))] = 1.0
            found = _measure(linkage, scheme.singularity, local_solver.columns)
            if found is None:
                continue
            where = found
        elif scheme.kind is SchemeKind.NAKAMURA_HANAFUSA and region is None:
            rest = encoding.jacobian_at(local_solver, linkage.rest)[:, list(local_solver.columns)]
            region = _AT_REST * float(np.prod(np.linalg.svd(rest, compute_uv=False)[:rank]))
            if not region > 1e-12:
                raise BadInput(
                    "the linkage is singular at rest: give below=..., the manipulability where damping begins"
                )
        measure, *details = where
        which = called.index(scheme) if scheme in called else -1
        rows.append(
            (
                *(int(scheme.kind), int(measure), scheme.as_printed, bound, alpha0, region or 0.0, weight),
                *(scheme.rate, scheme.tiny, rank, which, each, *details),
            )
        )
    return rows


def ordered(schemes: Damping) -> list[Scheme]:
    """The schemes in an order that is the same for equal values."""
    return sorted(schemes.schemes, key=lambda scheme: (repr(Damping(frozenset((scheme,)))), hash(scheme)))


def callback(schemes: Damping) -> Callable[[int, Array, Array, Array, float], tuple[float, Array | None]] | None:
    """The function that the core calls for schemes and measures by function, by their index; None without any."""
    if not any(map(_function, schemes.schemes)):
        return None
    functions = _functions(schemes)

    def call(which: int, q: Array, e: Array, J: Array, dt: float) -> tuple[float, Array | None]:
        kind, function = functions[which]
        if kind is SchemeKind.NAMED_SINGULARITY:
            return _number(function(q), "a singularity by function must return a finite distance"), None
        return _damped(function(q, e, J, dt), len(q))

    return call


@lru_cache(maxsize=16)  # a tracker needs them at every tick
def _functions(schemes: Damping) -> list[tuple[int, Callable[..., Any]]]:
    return [(each.kind, found) for each in ordered(schemes) if (found := _function(each)) is not None]


def _function(scheme: Scheme) -> Callable[..., Any] | None:
    return scheme.function if scheme.singularity is None else scheme.singularity.measure


def _damped(returned: Any, dof: int) -> tuple[float, Array | None]:
    """What a damping by function returned, checked."""
    wanted = f"a damping by function must return alpha, or alpha and {dof} joint weights"
    pair = isinstance(returned, tuple | list) and len(returned) == 2
    alpha, weights = returned if pair else (returned, None)
    value = _number(alpha, wanted)
    if value < 0:
        raise BadInput(f"{wanted}; alpha must not be negative, got {_check.short(value)}")
    if weights is None:
        return value, None
    row = _check.numbers_or_none(weights)
    if row is None:
        raise BadInput(f"{wanted}, got {_check.short(weights)}")
    if row.shape not in ((), (dof,)) or not ((row >= 0) & (row <= 1)).all():
        raise BadInput(f"{wanted} between 0 and 1, got {_check.short(weights)}")
    return value, np.broadcast_to(row, (dof,)).copy()


def _number(returned: Any, wanted: str) -> float:
    array = _check.numbers_or_none(returned)
    value = float(array.ravel()[0]) if array is not None and array.size == 1 else np.nan
    if not np.isfinite(value):
        raise BadInput(f"{wanted}, got {_check.short(returned)}")
    return value


def _joint(linkage: Linkage, name: str) -> Joint:
    if name not in linkage._joint_named:
        raise unknown("joint", name, linkage._joint_named)
    joint = linkage._joint_named[name]
    if joint.kind is Kind.FIXED:
        raise BadInput(f"joint {name!r} is fixed: it cannot be part of a singularity")
    return joint


def _columns(linkage: Linkage, joint: Joint) -> list[int]:
    first = linkage._sources[joint.name].first
    return list(range(first, first + joint.kind.dof))


def _regions(linkage: Linkage, scheme: Scheme) -> Array:
    """The region of each joint's limits (dof,), in radians or metres; 0 without limits."""
    regions = np.zeros(linkage.dof)
    lower, upper = linkage.lower, linkage.upper
    for joint in linkage.joints:
        if not joint.dof or joint.kind is Kind.BALL:
            continue
        for i, column in enumerate(_columns(linkage, joint)):
            if i >= 3 and joint.kind is Kind.FLOATING:
                continue
            span = upper[column] - lower[column]
            if i < joint.kind.translations:
                natural = _SLIDE * span if np.isfinite(span) else 0.1
                regions[column] = natural if scheme.slide_region is None else scheme.slide_region
            else:
                regions[column] = scheme.region
    regions[~(np.isfinite(lower) | np.isfinite(upper))] = 0.0
    return regions


def _measure(linkage: Linkage, named: Singularity, used: tuple[int, ...]) -> tuple[Any, ...] | None:
    """How a singularity is measured, as the core reads it; None if its joints move none of the goals."""
    nothing = (-1, 1.0, 0.0, False)
    if named.kind is Measure.FUNCTION:
        return named.kind, nothing, (), None, None
    joint = _joint(linkage, named.joint)
    if named.kind is Measure.OFF_AXIS:
        if named.link not in linkage._link_named:
            raise unknown("link", named.link, linkage._link_named)
        if joint.kind not in (Kind.REVOLUTE, Kind.CONTINUOUS, Kind.PRISMATIC):
            raise BadInput(f"joint {joint.name!r} is a {joint.kind.value} joint: it has no single axis")
        if any(column not in used for link in (named.link, joint.child) for column in condition.moving(linkage, link)):
            return None
        axis = joint.child, joint.axis, named.radius
        return named.kind, nothing, (), (named.link, named.point), axis
    if joint.kind.dof != 1:
        raise BadInput(f"joint {joint.name!r} is a {joint.kind.value} joint: its bend is no single value")
    turns = joint.kind is not Kind.PRISMATIC
    if named.kind is Measure.SINE and not turns:
        raise BadInput(f"joint {joint.name!r} slides: it has no sine")
    source = linkage._sources[joint.name]
    if source.first not in used:
        return None
    return named.kind, (source.first, source.gain, source.offset, turns), named.values, None, None
