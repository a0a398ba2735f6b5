"""Damping schemes for damped least squares: alpha and joint weights at each q. They merge with ``|`` [D19-D29]."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from supple import _check, _renamed
from supple._solve import fields
from supple._solve.scheme import DampingFunction, Scheme, SchemeKind, arguments, scheme_to_dict, schemes_text
from supple._solve.singularity import ConditionBound, Singularity
from supple.errors import BadInput

__all__ = [
    "ConditionBound",
    "Damping",
    "DampingFunction",
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


@dataclass(frozen=True)
class Damping:
    """Schemes that act together: the largest damping wins [D28], and for each joint the smallest weight [D29].

    A frozen value. ``a | b`` merges two; order and repetition make no difference, and `none` adds nothing. Joint
    weights are merged first; schemes that depend on the Jacobian then use the weighted one, J_w.

    >>> from supple import damping
    >>> damping.singularities() | damping.limits()
    damping.limits() | damping.singularities()
    """

    schemes: frozenset[Scheme] = field(default_factory=frozenset)

    def __post_init__(self) -> None:
        if not (isinstance(self.schemes, frozenset) and all(isinstance(scheme, Scheme) for scheme in self.schemes)):
            raise BadInput(f"a damping is made by the functions of supple.damping, got {_check.short(self.schemes)}")

    @property
    def as_printed(self) -> bool:
        """Whether any scheme follows the paper to the letter; then its null-space vector does too [D18]."""
        return any(scheme.as_printed for scheme in self.schemes)

    def to_dict(self) -> dict[str, Any]:
        """The schemes as plain data with every field; functions are refused.

        >>> from supple import damping
        >>> damping.constant(1e-3).to_dict()
        {'schemes': [{'scheme': 'constant', 'alpha0': 0.001}]}
        """
        return {"schemes": sorted(map(scheme_to_dict, self.schemes), key=repr)}

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Damping:
        """The schemes that `to_dict` wrote.

        >>> from supple import damping
        >>> damping.Damping.from_dict({"schemes": [{"scheme": "constant", "alpha0": 0.001}]})
        damping.constant(0.001)
        """
        schemes = fields.listed(fields.checked(data, "damping", ("schemes",))["schemes"], "schemes of damping")
        merged = none
        for each in schemes:
            merged |= _scheme_from_dict(each)
        return merged

    def __or__(self, other: Damping) -> Damping:
        if not isinstance(other, Damping):
            return NotImplemented
        return Damping(self.schemes | other.schemes)

    def __repr__(self) -> str:
        return schemes_text(self.schemes)


none = Damping()
"""No damping, and every joint at its full weight."""


@_check.known_options()
def condition_bound(kappa: float) -> ConditionBound:
    """An alpha_0 that keeps the condition number of P = J_w J_w' + alpha I at ``kappa`` in a singularity [D10].

    alpha_0 = sigma_1^2 / (kappa - 1), with sigma_1 the largest singular value of J_w at that q.

    >>> from supple import damping
    >>> damping.singularities(alpha0=damping.condition_bound(300))
    damping.singularities(alpha0=damping.condition_bound(300.0))
    """
    return ConditionBound(kappa)


@_check.known_options()
def constant(alpha0: float | ConditionBound) -> Damping:
    """The same damping everywhere: plain damped least squares [D8].

    >>> from supple import damping
    >>> damping.constant(1e-3)
    damping.constant(0.001)
    """
    damped = _alpha0(alpha0)
    return _one(Scheme(SchemeKind.CONSTANT, damped)) if damped else none


@_check.known_options()
def nakamura_hanafusa(
    alpha0: float | ConditionBound = 1e-2, below: float | None = None, *, as_printed: bool = False
) -> Damping:
    """Nakamura and Hanafusa [D19]: alpha_0 (1 - w / w_0)^2 where the manipulability w is below w_0.

    w is the product of the singular values of J_w, as many as its generic rank. ``below`` is w_0; by default 0.3 times
    the manipulability at rest. With ``as_printed``, w = sqrt(det(J J')), where J has the goals' weights but no joint
    weights; it is then 0 everywhere for five joints and six directions.

    >>> from supple import damping
    >>> damping.nakamura_hanafusa(below=0.2)
    damping.nakamura_hanafusa(below=0.2)
    """
    region = None if below is None else _check.positive(below, "below")
    printed = _check.flag(as_printed, "as_printed")
    return _one(Scheme(SchemeKind.NAKAMURA_HANAFUSA, _alpha0(alpha0), region, as_printed=printed))


@_check.known_options()
def kelmar_khosla(alpha0: float | ConditionBound = 1e-2, below: float = 0.98, *, as_printed: bool = False) -> Damping:
    """Kelmar and Khosla: alpha_0 (1 - r) where r, manipulability over that of the last iteration, is below a ratio.

    The paper names the scheme without a formula; this is our reading. It damps on the way into a singularity, not on
    the way out, and not at rest in it. r is the ratio over 1/300 s: for a tick of dt seconds, the ratio of the two
    manipulabilities to the power 1 / (300 dt). With ``as_printed`` r is the ratio over one tick, and the
    manipulability is that of `nakamura_hanafusa` as printed.

    >>> from supple import damping
    >>> damping.kelmar_khosla()
    damping.kelmar_khosla()
    """
    ratio = _check.fraction(below, "below")
    printed = _check.flag(as_printed, "as_printed")
    return _one(Scheme(SchemeKind.KELMAR_KHOSLA, _alpha0(alpha0), ratio, as_printed=printed))


@_check.known_options()
def mayorga(alpha0: float | ConditionBound = 1e-2, above: float = 1e5, *, as_printed: bool = False) -> Damping:
    """Mayorga and others [D20]: alpha_0 (1 - l_0 / l)^2 where l, a bound on the condition number, is above l_0.

    l = m zeta^4 d_g / d_s, from the factors L D L' of J_w J_w'. Where J_w cannot have full rank, l = r s_1^2 / s_r^2,
    with its generic rank r and its singular values s. ``above`` is l_0. With ``as_printed`` the damping is
    alpha_0 (1 - l / l_0)^2, without a bound, from the damped factors of the last iteration; it then alternates between
    a very large value and 0.

    >>> from supple import damping
    >>> damping.mayorga(above=1e4)
    damping.mayorga(above=10000.0)
    """
    bound = _check.positive(above, "above")
    printed = _check.flag(as_printed, "as_printed")
    return _one(Scheme(SchemeKind.MAYORGA, _alpha0(alpha0), bound, as_printed=printed))


@_check.known_options()
def chan_lawrence(alpha0: float = 0.02) -> Damping:
    """Chan and Lawrence [D21]: alpha_0 times the squared weighted error, at every q.

    >>> from supple import damping
    >>> damping.chan_lawrence()
    damping.chan_lawrence()
    """
    if isinstance(alpha0, ConditionBound):
        raise BadInput(
            "chan_lawrence takes a number, not condition_bound(...): its damping depends on the error, not on J"
        )
    return _one(Scheme(SchemeKind.CHAN_LAWRENCE, _alpha0(alpha0)))


@_check.known_options()
def singularities(
    *named: Singularity, alpha0: float | ConditionBound = 1e-2, region: float = 0.05, as_printed: bool = False
) -> Damping:
    """Damping near singularities: alpha_0 at them and exactly 0 away from them [D22, D23].

    Args:
        named: the singularities, each with its region and the joints whose weight falls. Without any they are found:
            alpha_0 (1 - (s / region)^2)^2, where s is the smallest singular value of J_w over the largest, among as
            many as its generic rank.
        alpha0: the damping at a singularity, in the units of the weighted error squared, or a `condition_bound`.
        region: s where damping begins, without named singularities.
        as_printed: alpha_0 (1 - (d / d_0)^2) and weights that are linear in d, both with a kink at the edge of the
            region, instead of (1 - (d / d_0)^2)^2 and a smooth step. Only for named singularities.

    >>> from supple import damping
    >>> damping.singularities(damping.Singularity.bend("elbow", joints=["elbow"]))
    damping.singularities(damping.Singularity.bend('elbow', joints=('elbow',)))
    """
    largest, printed, edge = _alpha0(alpha0), _check.flag(as_printed, "as_printed"), _check.fraction(region, "region")
    if not named:
        if printed:
            raise BadInput("the paper names its singularities; without names there is no printed form")
        return _one(Scheme(SchemeKind.SINGULARITIES, largest, edge))
    for each in named:
        if not isinstance(each, Singularity):
            raise BadInput(f"singularities takes damping.Singularity values, got {_check.short(each)}")
    kind = SchemeKind.NAMED_SINGULARITY
    return Damping(frozenset(Scheme(kind, largest, singularity=each, as_printed=printed) for each in named))


@_check.known_options()
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
        weight: the joint weight at the limit; above 0, since a joint of weight 0 never leaves its limit.
        rate: how fast a ramp moves, in whole ramps per second: 6 is the paper's 0.02 per iteration at 300 Hz.
        slide_region: the region of prismatic joints, in metres; by default a tenth of their range.
        tiny: a joint at its limit that would go further out at less than this speed, in radians or metres per second,
            stays; by default 0.01, and 0 as printed.
        as_printed: the equations to the letter: a joint at rest counts as moving up, a ramp may jump up, and beyond a
            limit weights become negative.

    >>> from supple import damping
    >>> damping.limits(region=0.1)
    damping.limits(region=0.1)
    """
    printed = _check.flag(as_printed, "as_printed")
    at_limit = _check.fraction(weight, "weight", zero=printed)
    least_speed = (0.0 if printed else 0.01) if tiny is None else tiny
    return _one(
        Scheme(
            SchemeKind.LIMITS,
            _alpha0(alpha0),
            _check.positive(region, "region"),
            None if slide_region is None else _check.positive(slide_region, "slide_region"),
            at_limit,
            _check.positive(rate, "rate"),
            _check.positive(least_speed, "tiny", zero=True),
            as_printed=printed,
        )
    )


@_check.known_options()
def function(scheme: DampingFunction) -> Damping:
    """A Python function f(q, e, J, dt) that returns alpha, or alpha and joint weights (dof,) between 0 and 1.

    q is (dof,), e is (rows,) and J is (rows, dof), both with the goals' weights, and dt is in seconds. The core calls
    it at every iteration. The result is that of a built-in scheme with the same formula; it takes more time.

    >>> from supple import damping
    >>> def gentle(q, e, J, dt):
    ...     return 1e-3
    >>> damping.function(gentle)
    damping.function(gentle)
    """
    if not callable(scheme):
        raise BadInput(f"a damping by function needs a function, got {_check.short(scheme)}")
    return _one(Scheme(SchemeKind.FUNCTION, 1.0, function=scheme))


@_check.known_options()
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

    ``region``, ``weight``, ``rate`` and ``slide_region`` are those of `limits`. Without named singularities they are
    found (as printed: by manipulability [D19], as the paper suggests for such arms).

    >>> from supple import damping
    >>> damping.schinstock()
    damping.limits() | damping.singularities()
    """
    try:
        named = tuple(singularities)
    except TypeError:
        raise BadInput(f"singularities must be several, got {_check.short(singularities)}") from None
    ramps = limits(alpha0, region, weight, rate, slide_region=slide_region, as_printed=as_printed)
    if not named and as_printed:
        return nakamura_hanafusa(alpha0, as_printed=True) | ramps
    return _singularities(*named, alpha0=alpha0, as_printed=as_printed) | ramps


_singularities = singularities  # `schinstock` has an argument of that name


def _one(scheme: Scheme) -> Damping:
    return Damping(frozenset((scheme,)))


def _alpha0(value: float | ConditionBound) -> float | ConditionBound:
    """A damping: a number, not negative, or a `ConditionBound`."""
    if isinstance(value, ConditionBound):
        return value
    number = _check.real(value)
    if not 0 <= number < math.inf:
        raise BadInput(
            f"alpha0 must be a number, not negative, or damping.condition_bound(...); got {_check.short(value)}"
        )
    return number


def _scheme_from_dict(data: object) -> Damping:
    makers: dict[str, Callable[..., Damping]] = {
        "constant": constant,
        "nakamura_hanafusa": nakamura_hanafusa,
        "kelmar_khosla": kelmar_khosla,
        "mayorga": mayorga,
        "chan_lawrence": chan_lawrence,
        "singularities": singularities,
        "limits": limits,
        "named_singularity": singularities,
    }
    name = fields.one_of(data, "a damping scheme", "scheme", makers)
    if name == "named_singularity":
        values = fields.checked(data, name, ("scheme", "singularity", "alpha0", "as_printed"))
        named = Singularity.from_dict(values["singularity"])
        return singularities(named, alpha0=_alpha0_from(values["alpha0"]), as_printed=values["as_printed"])
    names = arguments(SchemeKind[name.upper()])
    values = fields.checked(data, f"damping.{name}", ("scheme", *names))
    values["alpha0"] = _alpha0_from(values["alpha0"])
    return makers[name](**{argument: values[argument] for argument in names})


def _alpha0_from(data: Any) -> Any:
    if isinstance(data, dict):
        return condition_bound(fields.checked(data, "alpha0", ("condition_bound",))["condition_bound"])
    return data


def from_option(value: object) -> Damping | float:
    """The value of `Solver.damping`: a number or a `Damping` as it is, a function as a `Damping`."""
    if isinstance(value, Damping):
        return value
    if _check.is_number(value):
        number = _check.real(value)
        if not 0 <= number < math.inf:
            raise BadInput(f"damping must be a number, not negative, got {_check.short(value)}")
        return value if type(value) in (int, float) else number  # type: ignore[return-value]
    if callable(value):
        name = getattr(value, "__name__", "")
        if name in __all__ and getattr(value, "__module__", "") == __name__:
            raise BadInput(f"damping must be a value, not a function that makes one; write damping.{name}()")
        return function(value)
    raise BadInput(
        f"damping must be a number, not negative, got {_check.short(value)}; "
        "a value of supple.damping and a function f(q, e, J, dt) are accepted too"
    )


def __dir__() -> list[str]:
    return sorted(__all__)


if not TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        raise _renamed.no_attribute("supple.damping", name)
