"""A solver as plain data and back: equal, complete, refused when it is not that."""

import json
import math

import numpy as np
import pytest

from supple import BadInput, Solver, Tolerance, damping, method, prefer
from supple._solve import compilation, search
from supple.damping import Singularity

BEND = Singularity.bend("elbow_joint", (0.0, 3.0), joints=("wrist_1_joint",), weight=0.3)
NAMED = (BEND, Singularity.sine("elbow", 0.1 + 0.2), Singularity.off_axis("a", "b", [1, 2, 3], 0.1, region=0.2))
DAMPED = method.damped()
SOLVERS = [
    Solver(),
    Solver(timeout=50e-6, joint_weights=[1, 0.5, 0.1 + 0.2]),
    Solver(joint_weights={"elbow": 0.5, "wrist": 0}, max_iterations=40_000),
    Solver(prefer=prefer.rest([0.1, -0.2], [0.3, 0.4]) + prefer.away([1.0], width=0.3) + prefer.centre(0.2)),
    Solver(prefer=prefer.dexterity([0.1, 0.2])),
    Solver(method=DAMPED, damping=0.1 + 0.2, max_iterations=7, tolerance=Tolerance(1e-3, 0.1 / 3), keep_limits=False),
    Solver(method=DAMPED, damping=1e-4, max_iterations=200, max_step=math.inf),
    Solver(method=DAMPED, damping=damping.schinstock(NAMED, alpha0=damping.condition_bound(1e4), as_printed=True)),
    Solver(method=DAMPED, damping=damping.mayorga() | damping.chan_lawrence(0.3) | damping.kelmar_khosla()),
    Solver(method=DAMPED, damping=damping.limits(slide_region=0.1, tiny=0.0) | damping.constant(1e-3)),
    Solver(method=DAMPED, damping=damping.nakamura_hanafusa() | damping.singularities(region=0.1)),
    Solver(method=DAMPED, damping=damping.none),
    Solver(method=method.coordinate_descent(method.Rank.LEAST_RECENT), halvings=4, patience=3),
    Solver(method=method.transpose(0.1), step_scale=0.5, limit_escapes=0),
    *(Solver(method=method.get(name)) for name in method.names()),
]


@pytest.mark.parametrize("solver", SOLVERS, ids=repr)
def test_a_solver_is_equal_after_json(solver):
    text = json.dumps(solver.to_dict(), allow_nan=False)
    again = Solver.from_dict(json.loads(text))
    assert again == solver
    assert repr(again) == repr(solver)
    assert json.dumps(again.to_dict()) == text


def test_every_field_is_written():
    data = Solver(method=DAMPED).to_dict()
    assert set(data) == {"format", "version", *Solver.__dataclass_fields__}
    assert data["damping"] == {"default": 1e-4}
    assert data["max_iterations"] == {"default": 200}


def test_a_changed_default_does_not_change_the_meaning_of_old_data(monkeypatch):
    old, searching = Solver(method=DAMPED).to_dict(), Solver().to_dict()
    monkeypatch.setattr(compilation, "DAMPING", 1e-2)
    monkeypatch.setattr(compilation, "ITERATIONS", 100)
    monkeypatch.setattr(search, "ITERATIONS", 10)
    assert Solver.from_dict(old) == Solver(method=DAMPED, damping=1e-4, max_iterations=200)
    assert Solver.from_dict(searching) == Solver(max_iterations=40_000)


@pytest.mark.parametrize(
    ("solver", "name"),
    [
        (Solver(method=DAMPED, damping=lambda q, e, J, dt: 0.1), r"damping\.function\(<lambda>\)"),
        (Solver(prefer=prefer.function(np.zeros_like)), r"prefer\.function\(zeros_like\)"),
        (
            Solver(method=DAMPED, damping=damping.singularities(Singularity.function(min, region=1))),
            r"Singularity\.function\(min, region=1\.0\)",
        ),
    ],
)
def test_a_function_is_refused(solver, name):
    with pytest.raises(BadInput, match=f"{name} cannot be written as data: it is a Python function"):
        solver.to_dict()


CHANGES = {
    "expected a dict made by Solver.to_dict()": {"format": "supple.linkage"},
    "version 2 of the data is not known; this supple reads 1": {"version": 2},
    "version True of the data": {"version": True},
    "the data of a solver has unknown speed": {"speed": 1},
    "method: name must be one of search, inverse": {"method": {"name": "newton"}},
    "damped has unknown scale": {"method": {"name": "damped", "scale": 1}},
    "rank must be one of OUTERMOST": {"method": {"name": "coordinate_descent", "rank": "x"}},
    "method must be a dict, got 'damped'": {"method": "damped"},
    "a damping scheme: scheme must be one of": {"damping": {"schemes": [{"scheme": "function"}]}},
    "damping.mayorga lacks alpha0, above, as_printed": {"damping": {"schemes": [{"scheme": "mayorga"}]}},
    "schemes of damping must be a list": {"damping": {"schemes": 3}},
    "damping must be a number": {"damping": "much"},
    "damping has unknown more": {"damping": {"default": 1, "more": 2}},
    "tolerance lacks angle": {"tolerance": {"position": 1}},
    "prefer.centre has unknown width": {"prefer": {"terms": [{"term": "centre", "gain": [1], "width": 1}]}},
    "a term of prefer: term must be one of rest": {"prefer": {"terms": [{"term": "function"}]}},
    "patience must be a whole number of at least 1, got 0": {"patience": 0},
    "max_iterations must be a whole number": {"max_iterations": {"default": "x"}},
}


@pytest.mark.parametrize("reason", CHANGES)
def test_other_data_is_refused_with_the_reason(reason):
    data = Solver(method=DAMPED).to_dict() | CHANGES[reason]
    with pytest.raises(BadInput) as refused:
        Solver.from_dict(data)
    assert reason in str(refused.value)


def test_random_damage_raises_bad_input_or_gives_a_solver():
    rng = np.random.default_rng(0)
    junk = [None, 0, -1, 1e300, float("nan"), "x", [], {}, [[]], True, {"default": None}]
    for _ in range(2000):
        data = json.loads(json.dumps(SOLVERS[rng.integers(len(SOLVERS))].to_dict()))
        inner, key = data, "damping"
        while True:
            keys = list(inner) if isinstance(inner, dict) else list(range(len(inner)))
            if not keys:
                break
            key = keys[rng.integers(len(keys))]
            if not isinstance(inner[key], dict | list) or not inner[key] or rng.random() < 0.3:
                inner[key] = junk[rng.integers(len(junk))]
                break
            inner = inner[key]
        try:
            assert isinstance(Solver.from_dict(data), Solver)
        except BadInput:
            continue
