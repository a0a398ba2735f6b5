"""Damping: how hard to push and which joints to spare, as schemes that merge with ``|`` [D19-D29]."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from numpy.typing import ArrayLike

from supple import _renamed
from supple._solve.singularity import ConditionBound, Singularity, alpha, callable_, flag, fraction, positive
from supple.errors import BadInput
from supple.frame import Array

__all__ = [
    "ConditionBound",
    "Damping",
    "Singularity",
    "chan_lawrence",
    "condition_bound",
    "constant",
    "function",
    "kelmar_khosla",
    "limits",
    "mayorga",
    "nakamura_hanafusa",
    "none",
    "schinstock",
    "singularities",
]

CONSTANT, MANIPULABILITY, FALLING, FACTORS, ERROR, SINGULARITY, WEAKEST, LIMITS, ASKING = range(9)
Asked: TypeAlias = Callable[[Array, Array, Array, float], "float | tuple[float, ArrayLike]"]


@dataclass(frozen=True)
class Scheme:
    """One scheme as plain numbers; made by the functions of `supple.damping`."""

    kind: int
    alpha0: float | ConditionBound = 1e-2
    region: float | None = None
    slide_region: float | None = None
    weight: float = 1.0
    rate: float = 0.0
    tiny: float = 0.0
    singularity: Singularity | None = None
    function: Asked | None = None
    as_printed: bool = False


@dataclass(frozen=True)
class Damping:
    """Schemes that work together: the largest damping wins [D28], and for each joint the smallest weight [D29].

    A frozen value. ``a | b`` merges two; neither order nor repetition counts, and `none` adds nothing. Joint weights
    merge first; the schemes that look at the Jacobian then look at the weighted one, J_w.
    """

    schemes: frozenset[Scheme] = field(default_factory=frozenset)

    @property
    def as_printed(self) -> bool:
        """Whether any scheme is the letter of the paper; then so is its null-space vector [D18]."""
        return any(scheme.as_printed for scheme in self.schemes)

    def __or__(self, other: Damping) -> Damping:
        if not isinstance(other, Damping):
            return NotImplemented
        return Damping(self.schemes | other.schemes)

    def __repr__(self) -> str:
        named: dict[tuple[object, bool], list[str]] = {}
        said = []
        for scheme in self.schemes:
            if scheme.singularity is None:
                said.append(_said(scheme))
            else:
                named.setdefault((scheme.alpha0, scheme.as_printed), []).append(f"damping.{scheme.singularity!r}")
        for (alpha0, as_printed), names in named.items():
            options = _options({"alpha0": (alpha0, 1e-2), "as_printed": (as_printed, False)})
            said.append(f"damping.singularities({', '.join([*sorted(names), *options])})")
        return " | ".join(sorted(said)) or "damping.none"


none = Damping()
"""No damping, and every joint at its full weight."""


def condition_bound(kappa: float) -> ConditionBound:
    """An alpha_0 that keeps the condition number of P = J_w J_w' + alpha I at ``kappa`` in a singularity [D10].

    alpha_0 = sigma_1^2 / (kappa - 1), with sigma_1 the largest singular value of J_w at that q.
    """
    return ConditionBound(kappa)


def constant(alpha0: float | ConditionBound) -> Damping:
    """The same damping everywhere: plain damped least squares [D8]."""
    return _one(Scheme(CONSTANT, alpha(alpha0))) if alpha0 else none


def nakamura_hanafusa(
    alpha0: float | ConditionBound = 1e-2, below: float | None = None, *, as_printed: bool = False
) -> Damping:
    """Nakamura and Hanafusa [D19]: alpha_0 (1 - w / w_0)^2 where the manipulability w is below w_0.

    w is the product of the singular values of J_w, as many as goals and linkage can have together. ``below`` is w_0; by
    default 0.3 times its value at rest. ``as_printed`` looks at J with the goal's weights but without the joints', and
    takes the root of det(J J'), so that five joints in six directions are always singular.
    """
    region = None if below is None else positive(below, "below")
    return _one(Scheme(MANIPULABILITY, alpha(alpha0), region, as_printed=flag(as_printed)))


def kelmar_khosla(alpha0: float | ConditionBound = 1e-2, below: float = 0.98, *, as_printed: bool = False) -> Damping:
    """Kelmar and Khosla: alpha_0 (1 - r) where r, manipulability over that of the last iteration, is below a ratio.

    The paper names it without a formula; this is how we read it. It damps on the way into a singularity and not on the
    way out; one that stands in it is not damped. An iteration is 1/300 s, whatever dt; ``as_printed`` it is a tick, and
    the manipulability is that of `manipulability` as printed.
    """
    ratio = fraction(below, "below")
    return _one(Scheme(FALLING, alpha(alpha0), ratio, as_printed=flag(as_printed)))


def mayorga(alpha0: float | ConditionBound = 1e-2, above: float = 1e5, *, as_printed: bool = False) -> Damping:
    """Mayorga and others [D20]: alpha_0 (1 - l_0 / l)^2 where l, a bound on the condition number, is above l_0.

    l = m zeta^4 d_g / d_s by the factors L D L' of J_w J_w'; where linkage and goals cannot have full rank together,
    the condition number over the rank they can have. ``above`` is l_0. ``as_printed`` it is alpha_0 (1 - l / l_0)^2,
    without bound, by the damped factors of the last iteration: it alternates between huge and none.
    """
    return _one(Scheme(FACTORS, alpha(alpha0), positive(above, "above"), as_printed=flag(as_printed)))


def chan_lawrence(alpha0: float = 0.02) -> Damping:
    """Chan and Lawrence [D21]: alpha_0 times the weighted squared error, whatever keeps the goal away."""
    if isinstance(alpha0, ConditionBound):
        raise BadInput("damping by error takes a number: its damping is no constant at a singularity")
    return _one(Scheme(ERROR, alpha(alpha0)))


def singularities(
    *named: Singularity, alpha0: float | ConditionBound = 1e-2, region: float = 0.05, as_printed: bool = False
) -> Damping:
    """Damping near singularities, alpha_0 at them and exactly 0 away from them [D22, D23].

    Args:
        named: where they are, each a `Singularity` with its region and the joints to spare. Without names they are
            found: alpha_0 (1 - (s / region)^2)^2, where s is the smallest singular value of J_w over the largest, of as
            many as goals and linkage can have together.
        alpha0: the damping at a singularity, in the units of the weighted error, or a `condition_bound`.
        region: s where damping begins, without names.
        as_printed: alpha_0 (1 - (d / d_0)^2) and weights that fall in a straight line, both with a kink at the edge of
            the region, instead of (1 - (d / d_0)^2)^2 and a smooth step. Only for named ones.
    """
    most = alpha(alpha0)
    if not named:
        if as_printed:
            raise BadInput("the paper names its singularities; without names there is no printed form")
        return _one(Scheme(WEAKEST, most, fraction(region, "region")))
    for each in named:
        if not isinstance(each, Singularity):
            raise BadInput(f"singularities takes damping.Singularity values, got {each!r}")
    kept = flag(as_printed)
    return Damping(frozenset(Scheme(SINGULARITY, most, singularity=each, as_printed=kept) for each in named))


def limits(
    alpha0: float | ConditionBound = 1e-2,
    region: float = 0.2,
    weight: float = 0.01,
    rate: float = 6.0,
    *,
    slide_region: float | None = None,
    tiny: float | None = None,
    as_printed: bool = False,
) -> Damping:
    """Ramps in time for joints near the limit they move towards [D24-D27]; ball joints have none.

    Args:
        alpha0: the damping with a joint at its limit.
        region: where a ramp begins, in radians from the limit.
        weight: the joint weight at the limit; above 0, or the joint would never leave it.
        rate: how fast a ramp moves, in whole ramps a second: 6 is the paper's 0.02 an iteration at 300 Hz.
        slide_region: the region of slides, in metres; by default a tenth of their range.
        tiny: a joint at its limit that would go further out at less than this speed, in radians or metres a second,
            stays; by default 0.01, and 0 as printed.
        as_printed: the letter of the equations: a joint at rest counts as moving up, a ramp may jump up, and beyond a
            limit weights turn negative.
    """
    kept = flag(as_printed)
    least = fraction(weight, "weight", zero=kept)  # a joint of no weight would never leave its limit
    discarded = (0.0 if kept else 0.01) if tiny is None else tiny
    return _one(
        Scheme(
            LIMITS,
            alpha(alpha0),
            positive(region, "region"),
            None if slide_region is None else positive(slide_region, "slide_region"),
            least,
            positive(rate, "rate"),
            positive(discarded, "tiny", zero=True),
            as_printed=kept,
        )
    )


def function(scheme: Asked) -> Damping:
    """Any Python function f(q, e, J, dt) that returns alpha, or alpha and joint weights (dof,) between 0 and 1.

    q (dof,), e (rows,) and J (rows, dof) with the goals' weights in them, dt in seconds. It is asked from within the
    native loop, at every tick: slower, never different.
    """
    return _one(Scheme(ASKING, 1.0, function=callable_(scheme, "a damping by function")))


def schinstock(
    singularities: Sequence[Singularity] = (),
    alpha0: float | ConditionBound = 1e-2,
    *,
    region: float = 0.2,
    weight: float = 0.01,
    rate: float = 6.0,
    slide_region: float | None = None,
    as_printed: bool = False,
) -> Damping:
    """The paper's whole scheme, section 6.3 [D22-D29]: named singularities and joint limits with ramps in time.

    ``region``, ``weight``, ``rate`` and ``slide_region`` are those of `limits`. Without names, singularities are found
    (as printed: by manipulability [D19], as the paper suggests for such arms).
    """
    ramps = limits(alpha0, region, weight, rate, slide_region=slide_region, as_printed=as_printed)
    if not singularities and as_printed:
        return nakamura_hanafusa(alpha0, as_printed=True) | ramps
    return _singularities(*singularities, alpha0=alpha0, as_printed=as_printed) | ramps


_singularities = singularities  # `schinstock` has an argument of that name


def _one(scheme: Scheme) -> Damping:
    return Damping(frozenset((scheme,)))


def _options(values: dict[str, tuple[object, object]]) -> list[str]:
    """Arguments that are not what they are by default, as they are written."""
    return [f"{name}={_word(value)}" for name, (value, default) in values.items() if value != default]


def _word(value: object) -> str:
    return f"damping.{value!r}" if isinstance(value, ConditionBound) else repr(value)


def _said(scheme: Scheme) -> str:
    """The call that makes a scheme, with what is not as by default."""
    kind, printed = scheme.kind, {"as_printed": (scheme.as_printed, False)}
    strong: dict[str, tuple[object, object]] = {"alpha0": (scheme.alpha0, 1e-2)}
    if kind == ASKING:
        return f"damping.function({getattr(scheme.function, '__name__', '...')})"
    if kind == CONSTANT:
        return f"damping.constant({_word(scheme.alpha0)})"
    if kind == ERROR:
        return f"damping.chan_lawrence({', '.join(_options({'alpha0': (scheme.alpha0, 0.02)}))})"
    if kind == LIMITS:
        values = strong | {
            "region": (scheme.region, 0.2),
            "weight": (scheme.weight, 0.01),
            "rate": (scheme.rate, 6.0),
            "slide_region": (scheme.slide_region, None),
            "tiny": (scheme.tiny, 0.0 if scheme.as_printed else 0.01),
        }
        return f"damping.limits({', '.join(_options(values | printed))})"
    name, argument, default = {
        MANIPULABILITY: ("nakamura_hanafusa", "below", None),
        FALLING: ("kelmar_khosla", "below", 0.98),
        FACTORS: ("mayorga", "above", 1e5),
        WEAKEST: ("singularities", "region", 0.05),
    }[kind]
    return f"damping.{name}({', '.join(_options(strong | {argument: (scheme.region, default)} | printed))})"


def given(value: object) -> Damping | float:
    """What `Solver.damping` may be: a number as it is, a `Damping`, or a function that becomes one."""
    if isinstance(value, Damping):
        return value
    if isinstance(value, int | float) and not isinstance(value, bool):
        if not 0 <= value < math.inf:
            raise BadInput(f"damping must be a number, not negative, got {value!r}")
        return value
    if callable(value):
        return function(value)
    raise BadInput(
        f"damping must be a number, not negative, got {value!r}; "
        "a value of supple.damping or a function f(q, e, J, dt) will do too"
    )


if not TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        raise _renamed.no_attribute("supple.damping", name)
