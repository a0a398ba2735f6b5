"""Laws of Goal: what is wanted of a link, checked when it is made."""

import copy
import pickle

import numpy as np
import pytest

from supple import Frame, Goal
from supple.errors import BadInput
from supple.goal import take_rows

TURN = Frame.rotvec([0.3, -0.5, 0.7])
ONE = {
    "frame": Goal("hand", Frame.at([1, 2, 3], TURN)),
    "position": Goal("hand", position=[1, 2, 3]),
    "orientation": Goal("hand", orientation=TURN),
    "axis": Goal("hand", axis=[0, 0, 2], direction=[3, 0, 4]),
    "position and orientation": Goal("hand", position=[1, 2, 3], orientation=TURN.rotation),
    "position and axis": Goal("hand", position=[1, 2, 3], axis=[0, 1, 0], direction=[0, 0, -5]),
    "weights and a point": Goal("hand", position=[1, 2, 3], point=[0.1, 0, 0], weight=(1, 0, 2)),
    "many": Goal("hand", position=np.arange(12.0).reshape(4, 3), orientation=TURN, turn_weight=0.5),
    "slack": Goal("hand", Frame.at([1, 2, 3], TURN), slack=(0.1, 0, 0.2), turn_slack=0.3, priority=2),
    "cone": Goal("hand", axis=[0, 0, 2], direction=[3, 0, 4], turn_slack=0.4),
    "relative": Goal("hand", Frame.at([1, 2, 3], TURN), relative_to="foot"),
    "look": Goal("hand", axis=[0, 0, 2], look_at=[3, 0, 4], turn_slack=0.4),
    "many looks": Goal("hand", axis=[0, 0, 2], look_at=np.arange(12.0).reshape(4, 3)),
    "sphere": Goal("hand", position=[1, 2, 3], distance=0.3, slack=0.1),
    "cylinder": Goal("hand", position=[1, 2, 3], distance=0.3, line=[0, 0, 2], axis=[1, 0, 0], direction=[0, 0, 1]),
    "line": Goal("hand", position=[1, 2, 3], line=[0, 0, 2], relative_to="foot"),
}


def test_a_frame_is_a_position_and_an_orientation():
    whole, parts = ONE["frame"], ONE["position and orientation"]
    assert whole == parts
    assert Goal("hand", np.array(Frame.at([1, 2, 3], TURN))) == whole
    assert whole.position.tolist() == [1, 2, 3]
    assert np.array_equal(whole.orientation, TURN.rotation)


def test_directions_are_made_unit():
    goal = ONE["axis"]
    assert goal.axis.tolist() == [0, 0, 1]
    assert goal.direction == pytest.approx([0.6, 0, 0.8], abs=1e-15)
    many = Goal("hand", axis=[1, 0, 0], direction=np.random.default_rng(0).normal(size=(5, 2, 3)))
    assert np.linalg.norm(many.direction, axis=-1) == pytest.approx(np.ones((5, 2)), abs=1e-15)
    assert many.shape == (5, 2)
    assert Goal("hand", axis=[1e-200, 0, 0], direction=[0, 3e300, 4e300]).direction.tolist() == [0, 0.6, 0.8]


def test_a_direction_is_the_same_bits_alone_as_among_many():
    along = np.random.default_rng(1).normal(size=(100, 3))
    many = Goal("hand", axis=[1, 0, 0], direction=along).direction
    alone = [Goal("hand", axis=[1, 0, 0], direction=each).direction for each in along]
    assert np.array_equal(many, alone)


def test_leading_axes_broadcast():
    assert Goal("hand", position=np.zeros((4, 1, 3)), orientation=np.tile(np.eye(3), (5, 1, 1))).shape == (4, 5)
    assert Goal("hand", np.tile(np.eye(4), (2, 3, 1, 1))).shape == (2, 3)
    assert ONE["many"].shape == (4,)
    assert ONE["frame"].shape == ()
    assert Goal("hand", position=np.zeros((0, 3))).shape == (0,)


@pytest.mark.parametrize("name", ONE)
def test_a_goal_is_a_value(name):
    goal = ONE[name]
    for other in (pickle.loads(pickle.dumps(goal)), copy.copy(goal), copy.deepcopy(goal)):
        assert other == goal
        assert hash(other) == hash(goal)
        assert repr(other) == repr(goal)
        for field in ("position", "orientation", "axis", "direction", "look_at", "line", "point"):
            array = getattr(other, field)
            assert array is None or not array.flags.writeable
    with pytest.raises(AttributeError, match="does not change"):
        goal.link = "foot"
    with pytest.raises(AttributeError, match="does not change"):
        del goal.link
    assert goal != "hand"
    assert len({*ONE.values()}) == len(ONE) - 1  # a frame is equal to its parts


def test_goals_do_not_keep_the_callers_arrays():
    position = np.array([1.0, 2, 3])
    goal = Goal("hand", position=position)
    position[0] = 9
    assert goal.position.tolist() == [1, 2, 3]
    frames = np.tile(np.eye(4), (2, 1, 1))
    for given in (frames, frames[0], Frame._trusted(frames)):  # a Frame may hold memory that somebody writes to
        goal = Goal("hand", given)
        before = goal._encoded((2,)).copy()
        frames[0, 0, 3] += 1
        frames[0, :3, :3] = TURN.rotation
        assert np.array_equal(goal._encoded((2,)), before)


def test_what_differs_is_not_equal():
    base = {"position": [1, 2, 3], "point": [0, 0, 1], "weight": 1.0}
    same = Goal("hand", **base)
    assert Goal("hand", **base) == same
    for change in (
        {"position": [1, 2, 4]},
        {"point": [0, 0, 2]},
        {"weight": 2},
        {"turn_weight": 2},
        {"weight": None},
        {"slack": 0.1},
        {"priority": 1},
        {"relative_to": "foot"},
        {"distance": 1.0},
        {"distance": 2.0},
        {"line": [0, 0, 1]},
        {"line": [0, 1, 0]},
    ):
        assert Goal("hand", **{**base, **change}) != same
    assert Goal("foot", **base) != same
    assert Goal("hand", position=[0.0, 0, 0]) == Goal("hand", position=[-0.0, 0, 0])
    assert hash(Goal("hand", position=[0.0, 0, 0])) == hash(Goal("hand", position=[-0.0, 0, 0]))


def test_it_says_what_it_wants():
    assert repr(ONE["position"]) == "Goal('hand', position=(1, 2, 3))"
    assert repr(ONE["axis"]) == "Goal('hand', axis=(0, 0, 1), direction=(0.6, 0, 0.8))"
    assert "turned 0.911043 rad" in repr(ONE["orientation"])
    assert repr(ONE["weights and a point"]).endswith("point=(0.1, 0, 0), weight=(1.0, 0.0, 2.0))")
    assert "position=<(4, 3)>" in repr(ONE["many"])
    assert "turn_weight=(0.5, 0.5, 0.5)" in repr(ONE["many"])
    assert repr(ONE["slack"]).endswith("slack=(0.1, 0.0, 0.2), turn_slack=(0.3, 0.3, 0.3), priority=2)")
    assert repr(ONE["cone"]) == "Goal('hand', axis=(0, 0, 1), direction=(0.6, 0, 0.8), turn_slack=0.4)"
    assert repr(ONE["look"]) == "Goal('hand', axis=(0, 0, 1), look_at=(3, 0, 4), turn_slack=0.4)"
    assert repr(ONE["sphere"]) == "Goal('hand', position=(1, 2, 3), distance=0.3, slack=(0.1, 0.1, 0.1))"
    assert repr(ONE["line"]) == "Goal('hand', position=(1, 2, 3), line=(0, 0, 1), distance=0, relative_to='foot')"
    rows = np.tile(np.eye(3), (2, 1, 1))
    rows[1] = np.nan
    assert repr(Goal("hand", orientation=rows)) == "Goal('hand', orientation of shape (2,))"


# -- rows and weights -------------------------------------------------------------------------------------------


def test_the_position_weighs_half_a_turn_for_the_whole_reach():
    rows, weights = ONE["position"]._rows(2.0)
    assert (rows, weights) == ([0, 1, 2], [np.pi / 2] * 3)
    # a point away from the origin reaches as much farther
    assert Goal("hand", position=[0, 0, 0], point=[0, 3, 4])._rows(2.0)[1] == [np.pi / 7] * 3
    for reach in (0.0, 1e-12, np.inf):  # where there is no reach to speak of, metres count as radians
        assert ONE["position"]._rows(reach)[1] == [1.0] * 3
    assert Goal("hand", position=[0, 0, 0], weight=3)._rows(2.0)[1] == [3.0] * 3


def test_what_has_no_weight_has_no_row():
    assert ONE["weights and a point"]._rows(1) == ([0, 2], [1.0, 2.0])
    assert Goal("hand", Frame(), weight=0, turn_weight=(0, 1, 2))._rows(1) == ([4, 5], [1.0, 2.0])
    assert Goal("hand", Frame(), weight=1, turn_weight=0)._rows(1) == ([0, 1, 2], [1.0] * 3)
    assert ONE["axis"]._rows(1) == ([6, 7], [1.0, 1.0])
    assert ONE["orientation"]._rows(1) == ([3, 4, 5], [1.0] * 3)
    assert ONE["position and axis"]._rows(np.pi)[0] == [0, 1, 2, 6, 7]
    assert ONE["look"]._rows(1) == ([6, 7], [1.0, 1.0])
    assert ONE["sphere"]._rows(np.pi) == ([8], [1.0])
    assert ONE["cylinder"]._rows(np.pi) == ([8, 6, 7], [1.0, 1.0, 1.0])
    assert ONE["line"]._rows(np.pi) == ([8, 9], [1.0, 1.0])
    assert Goal("hand", position=[1, 2, 3], line=[0, 0, 1], slack=0.1)._rows(np.pi)[0] == [8]


def test_every_row_has_its_slack():
    assert ONE["slack"]._slacks() == [0.1, 0, 0.2, 0.3, 0.3, 0.3]
    assert ONE["cone"]._slacks() == [0.4, 0.4]
    assert ONE["weights and a point"]._slacks() == [0, 0]
    box = Goal("hand", Frame(), weight=(1, 0, 2), turn_weight=(0, 1, 1), slack=(1, 2, 3), turn_slack=(0.1, 0.2, 0.3))
    assert box._slacks() == [1, 3, 0.2, 0.3]
    for goal in ONE.values():
        assert len(goal._slacks()) == len(goal._rows(1)[0])
    assert Goal("hand", Frame(), slack=np.array([0, 1, 2])).slack == (0.0, 1.0, 2.0)
    assert Goal("hand", orientation=TURN, turn_slack=np.pi).turn_slack == (np.pi,) * 3


def test_a_priority_is_a_whole_number():
    assert ONE["frame"].priority == 0
    assert Goal("hand", Frame(), priority=np.int64(3)).priority == 3
    assert type(Goal("hand", Frame(), priority=np.int64(3)).priority) is int
    assert Goal("hand", Frame(), priority=-1).priority == -1


def test_twelve_numbers_hold_all():
    rotation, place = ONE["frame"]._encoded(())[:9], ONE["frame"]._encoded(())[9:]
    assert np.array_equal(rotation.reshape(3, 3), TURN.rotation)
    assert place.tolist() == [1, 2, 3]
    assert ONE["position and axis"]._encoded(())[:3].tolist() == [0, 0, -1]
    assert ONE["many"]._encoded((2, 4)).shape == (2, 4, 12)


def test_some_of_many_are_take_rows_by_number():
    many, shape = ONE["many"], (2, 4)
    assert take_rows(many, shape, 6).position.tolist() == [6, 7, 8]
    assert take_rows(many, shape, np.array([[0, 5], [7, 7]])).position[..., 0].tolist() == [[0, 3], [9, 9]]
    assert take_rows(many, shape, 6).turn_weight == (0.5, 0.5, 0.5)
    assert take_rows(ONE["slack"], shape, 6) == ONE["slack"]


# -- refusals ---------------------------------------------------------------------------------------------------

REFUSED = {
    "a goal is for a link, by name; got ''": lambda: Goal("", position=[0, 0, 0]),
    "a goal is for a link, by name; got 3": lambda: Goal(3, position=[0, 0, 0]),
    "a goal needs a frame, a position, an orientation, an axis or a pole": lambda: Goal("hand"),
    "a frame, or position, orientation and axis; not both": lambda: Goal("hand", Frame(), position=[0, 0, 0]),
    "an orientation or an axis, not both": lambda: Goal("hand", orientation=TURN, axis=[0, 0, 1], direction=[0, 0, 1]),
    "axis (of the link) and direction or look_at (in the world) go together": lambda: Goal("hand", axis=[0, 0, 1]),
    "go together": lambda: Goal("hand", position=[0, 0, 0], direction=[0, 0, 1]),
    "axis must not be zero": lambda: Goal("hand", axis=[0, 0, 0], direction=[0, 0, 1]),
    "direction must not be zero": lambda: Goal("hand", axis=[0, 0, 1], direction=[[0, 0, 1], [0, 0, 0]]),
    "position must have shape (..., 3), not (2,)": lambda: Goal("hand", position=[1, 2]),
    "position must have shape (..., 3), not ()": lambda: Goal("hand", position=1),
    "position must be numbers": lambda: Goal("hand", position=["x", 0, 0]),
    "position must be finite, got [0.0, nan, 0.0]": lambda: Goal("hand", position=[0, np.nan, 0]),
    "direction must be finite, got [0.0, 0.0, inf]": lambda: Goal("hand", axis=[0, 0, 1], direction=[0, 0, np.inf]),
    "axis must have shape (3,), not (2, 3)": lambda: Goal("hand", axis=np.ones((2, 3)), direction=[0, 0, 1]),
    "point must have shape (3,), not (2, 3)": lambda: Goal("hand", position=[0, 0, 0], point=np.ones((2, 3))),
    "orientation must be a Frame or have shape (..., 3, 3), not (3,)": lambda: Goal("hand", orientation=[0, 0, 1]),
    "orientation must be a Frame or numbers": lambda: Goal("hand", orientation="up"),
    "a frame must have shape (..., 4, 4), not (3, 3)": lambda: Goal("hand", np.eye(3)),
    "a frame must be numbers": lambda: Goal("hand", "here"),
    "must be orthonormal": lambda: Goal("hand", orientation=2 * np.eye(3)),
    "must not mirror": lambda: Goal("hand", orientation=-np.eye(3)),
    "a frame must be finite": lambda: Goal("hand", np.full((4, 4), np.nan)),
    "the leading axes of a goal must broadcast": lambda: Goal(
        "hand", position=np.zeros((5, 3)), orientation=np.tile(np.eye(3), (4, 1, 1))
    ),
    "weight must be finite and not negative, got -1": lambda: Goal("hand", position=[0, 0, 0], weight=-1),
    "weight must be finite and not negative, got nan": lambda: Goal("hand", position=[0, 0, 0], weight=float("nan")),
    "weight must be one number or three, got [1, 2]": lambda: Goal("hand", position=[0, 0, 0], weight=[1, 2]),
    "weight must be one number or three, got 'much'": lambda: Goal("hand", position=[0, 0, 0], weight="much"),
    "turn_weight must be finite and not negative": lambda: Goal("hand", orientation=TURN, turn_weight=(1, 1, -1)),
    "a goal needs a weight that is not zero": lambda: Goal("hand", position=[0, 0, 0], weight=0),
    "needs a weight that is not zero": lambda: Goal("hand", orientation=TURN, turn_weight=0),
    "weight that is not zero": lambda: Goal("hand", axis=[0, 0, 1], direction=[0, 0, 1], turn_weight=(0, 1, 1)),
    "slack must be finite and not negative, got -0.1": lambda: Goal("hand", position=[0, 0, 0], slack=-0.1),
    "slack must be finite and not negative, got inf": lambda: Goal("hand", position=[0, 0, 0], slack=float("inf")),
    "slack must be one number or three, got [1, 2]": lambda: Goal("hand", position=[0, 0, 0], slack=[1, 2]),
    "slack belongs to a position, and this goal has none; got 0.1": lambda: Goal("hand", orientation=TURN, slack=0.1),
    "slack belongs to a position": lambda: Goal("hand", Frame(), weight=0, slack=0.1),
    "turn_slack is for an orientation, an axis or a pole, and this goal has none; got 1": lambda: Goal(
        "hand", position=[0, 0, 0], turn_slack=1
    ),
    "has none": lambda: Goal("hand", Frame(), turn_weight=0, turn_slack=(0, 0, 1)),
    "turn_slack must be at most pi, got 4": lambda: Goal("hand", orientation=TURN, turn_slack=4),
    "turn_slack must be finite and not negative, got (1, 1, -1)": lambda: Goal(
        "hand", orientation=TURN, turn_slack=(1, 1, -1)
    ),
    "turn_slack of an axis or a pole is one number, the angle to either side; got (1, 1, 1)": lambda: Goal(
        "hand", axis=[0, 0, 1], direction=[0, 0, 1], turn_slack=(1, 1, 1)
    ),
    "relative_to must be another link than the goal's own, 'hand'": lambda: Goal("hand", Frame(), relative_to="hand"),
    "relative_to must be the name of a link, got 3": lambda: Goal("hand", Frame(), relative_to=3),
    "a goal has look_at or a direction, not both": lambda: Goal(
        "hand", axis=[0, 0, 1], direction=[0, 0, 1], look_at=[0, 0, 1]
    ),
    "a goal has look_at or a position, not both; give two goals": lambda: Goal(
        "hand", axis=[0, 0, 1], position=[0, 0, 1], look_at=[0, 0, 1]
    ),
    "axis (of the link) and direction or look_at": lambda: Goal("hand", look_at=[0, 0, 1]),
    "look_at must be finite, got [0.0, 0.0, nan]": lambda: Goal("hand", axis=[0, 0, 1], look_at=[0, 0, np.nan]),
    "look_at must have shape (..., 3), not (2,)": lambda: Goal("hand", axis=[0, 0, 1], look_at=[0, 0]),
    "distance needs a position that it is measured from": lambda: Goal("hand", Frame(), distance=0.1),
    "line needs a position that it is measured from": lambda: Goal("hand", orientation=TURN, line=[0, 0, 1]),
    "distance must be a finite number of metres, not negative; got -1": lambda: Goal(
        "hand", position=[0, 0, 0], distance=-1
    ),
    "distance must be a finite number of metres, not negative; got nan": lambda: Goal(
        "hand", position=[0, 0, 0], distance=float("nan")
    ),
    "got 'far'": lambda: Goal("hand", position=[0, 0, 0], distance="far"),
    "distance=0 without slack is the position itself": lambda: Goal("hand", position=[0, 0, 0], distance=0),
    "line must not be zero": lambda: Goal("hand", position=[0, 0, 0], line=[0, 0, 0]),
    "line must have shape (3,)": lambda: Goal("hand", position=[0, 0, 0], line=np.eye(3)),
    "slack of a distance is one number": lambda: Goal("hand", position=[0, 0, 0], distance=1, slack=(0.1, 0, 0)),
    "weight of a distance is one number": lambda: Goal("hand", position=[0, 0, 0], distance=1, weight=(1, 0, 1)),
    "weight of a line is one number": lambda: Goal("hand", position=[0, 0, 0], line=[0, 0, 1], weight=(1, 0, 1)),
    "priority must be a whole number, got 1.5": lambda: Goal("hand", Frame(), priority=1.5),
    "priority must be a whole number, got True": lambda: Goal("hand", Frame(), priority=True),
    "priority must be a whole number, got '1'": lambda: Goal("hand", Frame(), priority="1"),
}


@pytest.mark.parametrize("reason", REFUSED)
def test_what_cannot_be_wanted_is_refused_with_the_reason(reason):
    with pytest.raises(BadInput) as refused:
        REFUSED[reason]()
    assert reason in str(refused.value)


def test_rows_of_many_that_are_not_finite_are_left_to_the_solver():
    frames = np.tile(np.eye(4), (3, 1, 1))
    frames[1, 0, 3] = np.inf
    goal = Goal("hand", frames)
    assert np.isnan(goal.position[1]).all()
    assert np.isfinite(goal.position[[0, 2]]).all()
    turns = np.tile(np.eye(3), (3, 1, 1))
    turns[2] = np.nan
    assert np.isfinite(Goal("hand", orientation=turns)._encoded((3,))).all(axis=-1).tolist() == [True, True, False]
    along = [[0, 0, 1], [np.nan, 0, 0]]
    aimed = Goal("hand", axis=[1, 0, 0], direction=along)._encoded((2,))
    assert np.isfinite(aimed).all(axis=-1).tolist() == [True, False]
    with pytest.raises(BadInput, match="must be orthonormal"):  # but what is finite must be a frame
        Goal("hand", 2 * np.tile(np.eye(4), (3, 1, 1)))


def test_one_frame_gives_the_same_goal_in_any_layout_and_keeps_no_memory_of_the_caller():
    rng = np.random.default_rng(5)
    for turn, place in zip(rng.normal(size=(200, 3)), rng.normal(size=(200, 3)), strict=True):
        frame = Frame.at(place, Frame.rotvec(turn))
        wide = np.zeros((8, 12))
        wide[::2, ::3] = frame.matrix
        several = Frame(np.stack([np.eye(4), frame.matrix]))
        given = {
            "rows": frame.matrix.copy(),
            "columns": np.asfortranarray(frame.matrix),
            "strided": wide[::2, ::3],
            "reversed": frame.matrix[::-1].copy()[::-1],
            "unaligned": np.frombuffer(b"." + frame.matrix.tobytes(), np.uint8)[1:].copy().view(float).reshape(4, 4),
            "other byte order": frame.matrix.astype(">f8"),
            "list": frame.matrix.tolist(),
            "frame": frame,
            "view of frames": several[1],
            "frame of a view": Frame._trusted(several.matrix[1]),
        }
        goals = {name: Goal("hand", value) for name, value in given.items()}
        for name, value in given.items():
            if isinstance(value, np.ndarray):
                value[...] = np.nan
            assert goals[name] == Goal("hand", position=place, orientation=frame.rotation), name
            assert not goals[name].position.flags.writeable, name


@pytest.mark.parametrize(
    ("row", "column", "value"), [(0, 0, 1.5), (1, 3, np.nan), (3, 3, 2.0), (3, 0, 0.1), (2, 2, -1.0), (0, 3, np.inf)]
)
def test_one_bad_frame_is_refused_with_the_same_words_as_an_array_and_as_a_list(row, column, value):
    bad = np.eye(4)
    bad[row, column] = value
    said = []
    for given in (bad, bad.tolist(), np.asfortranarray(bad), bad.astype(np.float32)):
        with pytest.raises(BadInput) as refused:
            Goal("hand", given)
        said.append(str(refused.value))
    assert len(set(said)) == 1
