"""Tab completion: `dir` lists public names; old names and imports are not among them."""

import pytest

from supple import Joint, Linkage, Solver, Step, analysis, damping, errors, method, models, prefer, view, workspace
from supple._renamed import _NAMES
from supple.teleop import Command, Mapping

ARM = models.planar3()
STEP = Solver().track(ARM, "tip").step(ARM.frame(ARM.rest, "tip"), 0.01)


@pytest.mark.parametrize(
    "value", [Solver(), ARM, ARM.joints[0], STEP, Command(), Mapping()], ids=lambda x: type(x).__name__
)
def test_old_names_are_hidden_and_still_answered(value):
    cls = type(value)
    old = _NAMES[cls.__name__]
    for shown in (dir(value), dir(cls)):
        assert not set(old) & set(shown)
        assert set(old.values()) <= set(shown)
    for name, new in old.items():
        with pytest.raises(AttributeError, match=f"is now `{cls.__name__}.{new}`"):
            getattr(cls, name)


def test_members_stay_listed():
    for cls, name in ((Solver, "solve"), (Linkage, "frame"), (Joint, "revolute"), (Step, "status")):
        assert name in dir(cls)


@pytest.mark.parametrize(
    "module", [models, method, damping, prefer, view, workspace, errors, analysis], ids=lambda x: x.__name__
)
def test_a_module_lists_its_public_names(module):
    assert dir(module) == sorted(module.__all__)
    for name in module.__all__:
        assert getattr(module, name) is not None


@pytest.mark.parametrize(
    ("module", "name", "near"), [(prefer, "center", "centre"), (models, "pand", "panda"), (view, "sho", "show")]
)
def test_a_misspelt_name_of_a_module_is_answered_with_the_nearest(module, name, near):
    with pytest.raises(AttributeError, match=f"has no attribute '{name}'; did you mean {near}"):
        getattr(module, name)
