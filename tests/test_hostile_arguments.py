"""Bad arguments: every public call refuses them with an error of supple, whatever they are, and changes no input."""

import inspect
import itertools
import math
import pickle

import numpy as np
import pytest

import hostile
import supple
from public_api import exported, members
from supple import (
    BadInput,
    BadLinkage,
    Frame,
    Goal,
    GoalPath,
    Joint,
    Linkage,
    Mesh,
    Mimic,
    Solver,
    UnknownName,
    damping,
    method,
    models,
    prefer,
    solve,
)
from supple.errors import UnknownOption

ARM = models.planar3()
# values that the binding converts by itself: it takes lists of texts and masked arrays
CONVERTED_BY_THE_BINDING = {"out", "dt", "stamp"}


@pytest.fixture(autouse=True)
def _files_are_written_elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def failures(attempts, count):
    table, found = hostile.calls(), []
    for name, chosen in itertools.islice(attempts, count):
        if name.startswith("supple.Tracker"):
            table = {**table, name: hostile.calls()[name]}
        wrong = hostile.attempt(name, table[name], chosen)
        refused = [key for (key, _), label in chosen.items() if label[1:] in hostile.NOT_NUMBERS or "text" in label]
        bound = all(key in CONVERTED_BY_THE_BINDING for key in refused)
        if wrong and not (bound and wrong.startswith(("accepts", "a message too long"))):
            found.append((name, chosen, wrong))
    return found


def test_the_valid_calls_are_valid():
    for name, call in hostile.calls().items():
        assert hostile.attempt(name, call, {}) == "", name


def test_every_public_name_with_arguments_is_called():
    called = set(hostile.calls()) | set(hostile.LEFT_OUT)
    elsewhere = ("supple.view", "supple.gauntlet", "supple.errors")
    missing = []
    for name, value in exported().items():
        if name.startswith(elsewhere) or not callable(value):
            continue
        known = [(name, value), *(members(name, value) if isinstance(value, type) else ())]
        for each, one in known:
            plain = one.__func__ if isinstance(one, classmethod | staticmethod) else one
            if callable(plain) and _takes_arguments(plain):
                missing += [each] if each not in called else []
    assert missing == []


def _takes_arguments(function):
    if isinstance(function, type) and (issubclass(function, BaseException) or hasattr(function, "__members__")):
        return False
    try:
        return bool([p for p in inspect.signature(function).parameters if p not in ("self", "cls", "args", "kwargs")])
    except ValueError:
        return False


def test_hostile_values_are_refused_with_an_error_of_supple():
    assert failures(hostile.at_random(seed=13), 2500) == []


@pytest.mark.gate
def test_each_hostile_value_in_each_place_is_refused_with_an_error_of_supple():
    assert failures(hostile.every_one(), 10**9) == []


@pytest.mark.gate
@pytest.mark.parametrize("seed", range(4))
def test_two_hostile_values_at_once_are_refused_with_an_error_of_supple(seed):
    assert failures(hostile.at_random(seed), 20_000) == []


# -- a largest number -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [1.1e12, 1e150, 1e308])
@pytest.mark.parametrize(
    "build",
    [
        lambda x: Joint.fixed("j", "a", "b", at=Frame.at([0, -x, 0])),
        lambda x: Joint.revolute("j", "a", "b", rest=x),
        lambda x: Joint.prismatic("j", "a", "b", lower=x),
        lambda x: Joint.prismatic("j", "a", "b", upper=-x),
        lambda x: Mimic("j", gain=x),
        lambda x: Mimic("j", offset=-x),
        lambda x: Linkage("l", [Joint.revolute("j", "a", "b")], base=Frame.at([x, 0, 0])),
        lambda x: supple.Box((1, x, 1)),
        lambda x: supple.Sphere(x),
        lambda x: Mesh("a.stl", (1, 1, -x)),
        lambda x: supple.Geometry(supple.Sphere(1), Frame.at([x, 0, 0])),
        lambda x: supple.Link("a", mass=x),
        lambda x: supple.dh([supple.DH(a=x)]),
        lambda x: supple.read.urdf_text(
            '<robot name="r"><link name="a"/><link name="b"/><joint name="j" type="continuous"><parent link="a"/>'
            f'<child link="b"/><origin xyz="0 0 {x}"/></joint></robot>'
        ),
    ],
)
def test_a_linkage_has_no_number_beyond_a_stated_bound(build, size):
    with pytest.raises(BadLinkage, match=r"1e\+12|no value lies between"):
        build(size)
    if size == 1.1e12:
        build(1e11)


def test_a_limit_beyond_the_bound_is_no_limit():
    joint = Joint.prismatic("j", "a", "b", lower=-1.7e308, upper=3.4e38, speed=1e16)
    assert (joint.lower, joint.upper, joint.speed) == ((-math.inf,), (math.inf,), (math.inf,))


@pytest.mark.parametrize("size", [1e12, 1e11])
def test_an_arm_at_the_bound_is_solved_and_tracked_without_overflow(size):
    arm = Linkage(
        "far",
        [
            Joint.revolute("a", "w", "x"),
            Joint.revolute("b", "x", "y", at=Frame.at([size, 0, 0])),
            Joint.fixed("c", "y", "tip", at=Frame.at([size / 2, 0, 0])),
        ],
    )
    with np.errstate(all="raise"):
        found = solve(arm, Goal("tip", position=[size, 0, 0]), tolerance=supple.Tolerance(1e-6 * size, 1e-6))
        step = Solver().track(arm, "tip").step(arm.frame([0.1, 0.1], "tip"), 0.01)
    assert found
    assert np.isfinite(step.q).all()


# -- single holes -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda: ARM.joint([]), UnknownName),
        (lambda: ARM.link({}), UnknownName),
        (lambda: ARM.locked(None), BadInput),
        (lambda: ARM.random(True), BadInput),
        (lambda: ARM.random(10**12), BadInput),
        (lambda: supple.load(None), BadInput),
        (lambda: supple.load("a\0b.urdf"), BadInput),
        (lambda: supple.load("a\ud800.urdf"), BadInput),
        (lambda: GoalPath.line([0, 0, 0], [1, 0, 0]).goal("tip", 2**63), BadInput),
        (lambda: Joint.revolute("j", "a", "b", mimic="x"), BadLinkage),
        (lambda: Solver(timeout=np.ones(3)), BadInput),
        (lambda: Solver(max_step=10**400, max_iterations=-1), BadInput),
        (lambda: Goal("tip", position=[10**400, 0, 0]), BadInput),
        (lambda: Goal("tip", position=[0, 0, 0], weight=1e150), BadInput),
        (lambda: Solver.from_dict({**Solver().to_dict(), "damping": np.ones(3)}), BadInput),
        (lambda: Linkage.from_dict({"format": np.ones(3)}), BadLinkage),
        (lambda: method.search(nearst=True), UnknownOption),
        (lambda: damping.limits(regoin=0.1), UnknownOption),
        (lambda: prefer.centre(gian=0.1), UnknownOption),
        (lambda: Solver().track(ARM, "tip").limits(sped=0.1), UnknownOption),
    ],
)
def test_a_wrong_argument_is_refused(call, error):
    with pytest.raises(error) as refused:
        call()
    if error is UnknownOption:
        assert "did you mean" in str(refused.value)


def test_few_samples_fill_the_starts_of_every_orientation():
    space = supple.dexterous(ARM, "tip", 2, samples=1, voxel=5, starts=8, progress=False)
    assert space.counts.sum() == 1


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_values_pickle_with_every_protocol(protocol):
    find = Solver().compile(ARM, "tip")
    goal = ARM.frame([0.1, 0.2, 0.3], "tip")
    again = pickle.loads(pickle.dumps(find, protocol))
    assert np.array_equal(again(goal), find(goal))
    frames = ARM.frames(ARM.rest)
    assert pickle.loads(pickle.dumps(frames, protocol))["tip"] == frames["tip"]
    for value in (ARM, goal, Goal("tip", goal), Solver(), GoalPath.line([0, 0, 0], [1, 0, 0]), damping.schinstock()):
        assert pickle.loads(pickle.dumps(value, protocol)) == value


@pytest.mark.parametrize("kind", [TypeError, ValueError, RuntimeError, KeyError])
def test_an_error_in_a_function_of_the_caller_passes_through(kind):
    def wrong(*values):
        raise kind("mine")

    goal = Goal("tip", position=[12, 6, 0])
    damped = Solver(method=method.damped(), damping=wrong)
    preferring = Solver(prefer=prefer.function(wrong))
    calls = [
        lambda: damped.solve(ARM, goal),
        lambda: damped.step(ARM, goal, ARM.rest),
        lambda: damped.track(ARM, goal).step(goal, 0.01),
        lambda: preferring.solve(ARM, goal),
        lambda: preferring.track(ARM, goal).step(goal, 0.01),
    ]
    for call in calls:
        with pytest.raises(kind, match="mine"):
            call()


def test_a_function_that_returns_nonsense_is_no_stuck_path():
    goals = GoalPath.line([12, 6, 0], [10, 8, 0]).goal("tip", 3)
    with pytest.raises(BadInput, match="a damping by function must return alpha"):
        supple.solve_path(ARM, goals, solver=Solver(method=method.damped(), damping=lambda *_: "much"), steps=1)


def test_the_search_takes_single_steps_along_a_path():
    goals = GoalPath.line([12, 6, 0], [10, 8, 0]).goal("tip", 3)
    assert supple.solve_path(ARM, goals, solver=Solver(), steps=3).motion.q.shape == (3, 3)


def test_paths_of_meshes_are_relative_to_the_folder_of_the_file(tmp_path):
    (tmp_path / "meshes").mkdir()
    mesh = str(tmp_path / "meshes" / "hand.stl")
    hand = supple.Link("a", (supple.Geometry(Mesh(mesh)),))
    lost = supple.Link("b", (supple.Geometry(Mesh("package://x/y.stl", found=False)),))
    arm = Linkage("m", [Joint.fixed("j", "a", "b")], [hand, lost])
    data = arm.to_dict(folder=tmp_path)
    paths = [link["geometry"][0]["shape"]["path"] for link in data["links"]]
    assert paths == ["meshes/hand.stl", "package://x/y.stl"]
    assert Linkage.from_dict(data, folder=tmp_path) == arm
    assert arm.to_dict()["links"][0]["geometry"][0]["shape"]["path"] == mesh
    with pytest.raises(BadInput, match="folder"):
        arm.to_dict(folder=3)


def test_the_degrees_of_freedom_of_bundled_models_are_known_without_reading_them():
    assert {name: models.dof_of(name) for name in models.names()} == {n: models.get(n).dof for n in models.names()}


def _in_itself():
    """Lists that numpy would convert with time and memory without bound."""
    twice: list = []
    twice += [twice, twice]
    pair: list = []
    pair += [(pair, pair), (pair, pair)]
    shared = [0.0]
    for _ in range(20):
        shared = [shared] * 10  # 1e20 numbers in a kilobyte
    deep = [1.0]
    for _ in range(30):
        deep = [deep]
    ragged: list = [[1.0, 2.0, 3.0]]
    ragged += [ragged, ragged]
    return {"twice": twice, "pair": pair, "shared": shared, "deep": deep, "ragged": ragged}


IN_ITSELF = _in_itself()


@pytest.mark.parametrize("name", IN_ITSELF)
def test_a_list_that_contains_itself_is_refused_before_it_is_converted(name):
    wrong = IN_ITSELF[name]
    tracker = Solver().track(ARM, "tip")
    many = solve(ARM, Goal("tip", position=[[12, 6, 0], [10, 8, 0]]))
    for call in (
        lambda: ARM.frame(wrong, "tip"),
        lambda: ARM.jacobian(wrong, "tip"),
        lambda: ARM.jacobian(wrong, "tip", point=[0, 0, 1]),
        lambda: Frame(wrong),
        lambda: Frame.at(wrong),
        lambda: Goal("tip", wrong),
        lambda: Goal("tip", position=wrong),
        lambda: Goal("tip", position=[12, 6, 0], weight=wrong),
        lambda: solve(ARM, wrong),
        lambda: solve(ARM, Goal("tip", position=[12, 6, 0]), wrong),
        lambda: Solver(margin=wrong),
        lambda: Solver(joint_weights=wrong),
        lambda: tracker.step(wrong, 0.01),
        lambda: tracker.step(Frame.at([12, 6, 0]), 0.01, measured=wrong),
        lambda: tracker.push(wrong, 0.01),
        lambda: supple.Motion(ARM, wrong, wrong),
        lambda: GoalPath.line(wrong, [1, 2, 3]),
    ):
        with pytest.raises(BadInput):
            call()
    for index in wrong, (wrong,):
        with pytest.raises(IndexError, match="is none of them"):
            many[index]
        with pytest.raises(IndexError, match="is none of them"):
            Frame.at(np.zeros((2, 3)))[index]
    with pytest.raises(TypeError):
        Frame.at([0, 0, 0]) @ wrong
