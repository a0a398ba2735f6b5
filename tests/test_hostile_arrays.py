"""Arrays of other libraries that are broken: refused with an error of supple, whatever in them is wrong."""

import gc
import weakref
from types import SimpleNamespace

import numpy as np
import pytest

import supple
from supple import BadInput, Goal, Solver, models
from supple._arrays.library import library_of

ARM, LINK = models.ur5(), "tool0"
FRAME = ARM.frame(ARM.rest, LINK).matrix


def foreign(numbers, **wrong):
    """An array of a library that nobody knows, by the array API; ``wrong`` replaces what it says of itself."""
    numbers = np.asarray(numbers)

    class Array:
        dtype, shape, ndim = wrong.get("dtype", numbers.dtype), wrong.get("shape", numbers.shape), numbers.ndim

        def __dlpack__(self, **options):
            return wrong["capsule"] if "capsule" in wrong else numbers.__dlpack__(**options)

        def __dlpack_device__(self):
            return wrong.get("device", (1, 0))

        def __array__(self, *_, **__):
            return wrong.get("array", numbers)

        def __array_namespace__(self, **_):
            return wrong.get("namespace", np)

    return Array()


CALLS = {
    "frame": (ARM.rest, lambda q: ARM.frame(q, LINK)),
    "frames": (ARM.rest, lambda q: ARM.frames(q).matrix),
    "jacobian": (ARM.rest, lambda q: ARM.jacobian(q, LINK)),
    "point": (np.ones(3), lambda point: ARM.jacobian(ARM.rest, LINK, point=point)),
    "goal": (FRAME, lambda frame: supple.solve(ARM, Goal(LINK, frame)).q),
    "position": (FRAME[:3, 3], lambda point: supple.solve(ARM, Goal(LINK, position=point)).q),
    "start": (ARM.rest, lambda q: supple.solve(ARM, Goal(LINK, FRAME), q).q),
    "compiled": (FRAME, lambda frame: Solver().compile(ARM, LINK)(frame)),
    "tick": (FRAME, lambda frame: Solver().track(ARM, LINK).step(frame, 0.01).q),
}
WRONG = [
    {"device": None},
    {"device": "cpu"},
    {"device": (1, 0, 0)},
    {"device": (1.5, 0)},
    {"device": (float("nan"), 0)},
    {"device": ("a", "b")},
    {"device": (8, 0)},  # Metal
    {"device": (2, 0)},  # CUDA, of an object that has neither an index nor memory there
    {"device": (2, 7)},
    {"device": (10**30, 0)},
    {"capsule": None, "array": 3},
    {"capsule": "text", "array": np.array(["a"])},
    {"dtype": "complex128"},
    {"dtype": None},
    {"dtype": "x" * 10_000},
    {"namespace": None},
    {"namespace": supple},
    {"namespace": SimpleNamespace(from_dlpack=lambda numbers: None)},
    {"namespace": SimpleNamespace(from_dlpack=lambda numbers: "text" * 1000)},
    {"namespace": SimpleNamespace(from_dlpack=lambda: 0)},
    {"namespace": SimpleNamespace(from_dlpack=3)},
]


@pytest.mark.parametrize("call", CALLS)
def test_a_broken_array_is_refused(call):
    numbers, function = CALLS[call]
    assert np.isfinite(function(foreign(numbers))).all()
    for wrong in WRONG:
        with pytest.raises(BadInput) as refused:
            function(foreign(numbers, **wrong))
        assert len(str(refused.value)) < 1000


@pytest.mark.parametrize("shape", [None, 6, "abcdef", (1.5,), (-1,), (2**62, 5)])
@pytest.mark.parametrize("call", ["frame", "frames", "jacobian", "point"])
def test_a_shape_that_is_none_is_refused(call, shape):
    numbers, function = CALLS[call]
    with pytest.raises(BadInput, match="shape"):
        function(foreign(numbers, shape=shape))


def test_a_ragged_list_beside_a_foreign_array_is_refused():
    with pytest.raises(BadInput, match="shape"):
        ARM.jacobian(foreign(ARM.rest), LINK, point=[1, [2, 3]])


def test_classes_of_arrays_are_not_kept():
    made = [weakref.ref(_known_class()) for _ in range(20)]
    gc.collect()
    assert [each() for each in made] == [None] * 20


def _known_class():
    one = foreign(np.ones(3))
    assert library_of(one) is not None
    return type(one)
