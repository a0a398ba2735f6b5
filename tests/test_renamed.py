"""Old names and misspelt options are answered with the name to write."""

import pytest

import supple
from supple import BadInput, Goal, Joint, Solver, damping, method, models, solve, teleop
from supple._renamed import DAMPING, METHODS, OPTIONS
from supple.errors import UnknownName, UnknownOption

ARM = models.planar3()
GOAL = Goal("tip", position=[10, 10, 0])


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("follow", "solve_path"),
        ("Followed", "PathSolution"),
        ("Path", "GoalPath"),
        ("Plan", "CompiledSolver"),
        ("State", "TrackingStatus"),
        ("Between", "Interpolation"),
        ("TwoLink", "analysis.TwoLink"),
    ],
)
def test_an_old_name_of_the_package_is_answered_with_the_new_one(old, new):
    value = supple
    for part in new.split("."):
        value = getattr(value, part)
    assert not hasattr(supple, old)
    with pytest.raises(AttributeError, match=f"^`supple.{old}` is now `supple.{new}`$"):
        getattr(supple, old)
    with pytest.raises(ImportError, match=f"^`supple.{old}` is now `supple.{new}`$"):
        exec(f"from supple import {old}")


@pytest.mark.parametrize(
    ("module", "names"),
    [(method, METHODS), (damping, DAMPING), (teleop, {"follow": "drive", "Recorded": "Playback"})],
    ids=lambda x: str(x)[:24],
)
def test_an_old_name_of_a_module_is_answered_with_the_new_one(module, names):
    for old, new in names.items():
        assert callable(getattr(module, new))
        with pytest.raises(AttributeError, match=f"^`{module.__name__}.{old}` is now `{module.__name__}.{new}`$"):
            getattr(module, old)


def test_an_old_name_of_a_value_is_answered_with_the_new_one():
    step = Solver().track(ARM, "tip").step(ARM.frame(ARM.rest, "tip"), 0.01)
    for value, old, new in (
        (ARM, "look", "frame_and_jacobian"),
        (ARM, "carry", "transform_points"),
        (ARM, "placed", "world_geometry"),
        (Solver(), "plan", "compile"),
        (Solver(), "longest", "max_step"),
        (step, "outcome", "status"),
        (step, "weights", "joint_weights"),
        (teleop.Command(), "grip", "engaged"),
        (teleop.Mapping(), "grip", "engage"),
        (teleop.Mapping(), "gripped", "engaged"),
    ):
        assert getattr(value, new) is not None
        with pytest.raises(AttributeError, match=f"{old}` is now `{type(value).__name__}.{new}`$"):
            getattr(value, old)
    with pytest.raises(AttributeError, match=r"^`Joint.three` is now `Joint.ball_from_revolutes`$"):
        _ = Joint.three


def test_what_never_was_is_an_attribute_error_as_ever():
    for value in (supple, teleop, method, damping):
        with pytest.raises(AttributeError, match=f"module '{value.__name__}' has no attribute 'nothing_such'"):
            _ = value.nothing_such
    for value in (ARM, Solver()):
        with pytest.raises(AttributeError, match=f"'{type(value).__name__}' object has no attribute 'nothing_such'"):
            _ = value.nothing_such
    with pytest.raises(ImportError, match="cannot import name 'nothing_such' from 'supple'"):
        exec("from supple import nothing_such")


@pytest.mark.parametrize("old", OPTIONS)
def test_an_old_option_is_answered_with_the_new_one(old):
    said = f"^option `{old}` of Solver is now `{OPTIONS[old]}`" + (", in seconds$" if old == "microseconds" else "$")
    for make in (lambda: Solver(**{old: 1}), lambda: solve(ARM, GOAL, **{old: 1})):
        with pytest.raises(UnknownOption, match=said):
            make()


def test_an_old_option_of_a_command_is_answered_with_the_new_one():
    with pytest.raises(UnknownOption, match=r"^option `grip` of Command is now `engaged`$"):
        teleop.Command(grip=True)
    with pytest.raises(UnknownOption, match=r"Command has no option 'stmap'; did you mean stamp"):
        teleop.Command(stmap=1.0)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"iteratons": 50}, "Solver has no option 'iteratons'; did you mean max_iterations?"),
        ({"max_iteration": 50}, "Solver has no option 'max_iteration'; did you mean max_iterations?"),
        ({"keeplimits": True}, "Solver has no option 'keeplimits'; did you mean keep_limits?"),
        ({"xyz": 1}, "Solver has no option 'xyz'; it has method, damping, prefer, joint_weights, max_iterations, "),
    ],
)
def test_a_misspelt_option_is_answered_with_the_nearest(wrong, said):
    own = said.replace("Solver", "solve").replace("it has ", "it has start, solutions, out, progress, ")
    for make, answer in ((lambda: Solver(**wrong), said), (lambda: solve(ARM, GOAL, **wrong), own)):
        with pytest.raises(UnknownOption) as refused:
            make()
        assert str(refused.value).startswith(answer)
        assert isinstance(refused.value, BadInput)
        assert isinstance(refused.value, TypeError)


def test_options_of_a_goal_are_answered_too():
    with pytest.raises(UnknownOption, match=r"^option `along` of Goal is now `direction`$"):
        Goal("tip", axis=[0, 0, 1], along=[0, 0, 1])
    with pytest.raises(UnknownOption, match=r"^Goal has no option 'positon'; did you mean position or point\?$"):
        Goal("tip", positon=[0, 0, 1])


def test_an_old_method_by_name_is_answered_with_the_new_one():
    with pytest.raises(UnknownName, match=r"^method 'pulled' is now 'alternative_jacobian'$"):
        method.get("pulled")
