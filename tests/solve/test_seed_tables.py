"""Laws of the table of seeds: searches of one linkage and kind of goal share it, whatever their options."""

import itertools
import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from supple import Goal, Solver, Tolerance, _core, method, models
from supple._solve import search
from supple.errors import BadInput

ARMS = {"panda": "panda_hand_tcp", "ur5": "tool0", "kraft": "tool"}
OPTIONS = (
    {},
    {"tolerance": Tolerance(1e-3, 1e-2)},
    {"tolerance": Tolerance(1e-9, 1e-9)},
    {"max_step": 0.3},
    {"max_iterations": 500},
    {"joint_weights": 0.5},
    {"method": method.search(nearest=False)},
)


def fresh_arm(name):
    """An arm that has not been solved for, and its end effector."""
    arm = pickle.loads(pickle.dumps(getattr(models, name)()))
    assert not tables(arm)
    return arm, ARMS[name]


def tables(arm):
    return arm.__dict__.get("_seed_tables", {})


@pytest.mark.parametrize("name", ARMS)
def test_options_share_a_table_and_limits_do_not(name):
    arm, link = fresh_arm(name)
    goal = Goal(link, arm.frame(arm.rest, link))
    for options in OPTIONS:
        Solver(**options).solve(arm, goal)
    assert len(tables(arm)) == 1
    Solver(margin=0.01).solve(arm, goal)
    assert len(tables(arm)) == 2
    Solver().solve(arm, Goal(link, position=goal.position))
    assert len(tables(arm)) == 3


@pytest.mark.parametrize("name", ARMS)
def test_solutions_do_not_depend_on_the_options_of_earlier_solves(name):
    arm, link = fresh_arm(name)
    frames = arm.frame(arm.random(60, seed=4), link)
    for first, second in itertools.permutations(OPTIONS, 2):
        (arm, _), (fresh, _) = fresh_arm(name), fresh_arm(name)
        Solver(**first).solve(arm, Goal(link, frames[0]))
        after = Solver(**second).solve(arm, Goal(link, frames))
        alone = Solver(**second).solve(fresh, Goal(link, frames))
        assert np.array_equal(after.q, alone.q)
        assert np.array_equal(after.iterations, alone.iterations)


def test_threads_that_solve_at_once_with_other_options_get_the_solutions_of_one():
    arm, link = fresh_arm("panda")
    frames = arm.frame(arm.random(20, seed=5), link)
    alone = [Solver(**options).solve(fresh_arm("panda")[0], Goal(link, frames)).q for options in OPTIONS]
    with ThreadPoolExecutor(len(OPTIONS)) as pool:
        found = list(pool.map(lambda options: Solver(**options).solve(arm, Goal(link, frames)).q, OPTIONS))
    for one, other in zip(found, alone, strict=True):
        assert np.array_equal(one, other)
    assert len(tables(arm)) == 1


def test_a_linkage_keeps_a_bounded_number_of_tables_and_searches_outlive_them():
    arm, link = fresh_arm("ur5")
    frame = arm.frame(arm.random(1, seed=6)[0], link)
    finds = [Solver(margin=0.001 * k).compile(arm, link) for k in range(2 * search.TABLES)]
    assert 0 < len(tables(arm)) <= search.TABLES
    assert all(find(frame) is not None for find in finds)


def test_a_table_of_another_kind_of_goal_is_refused():
    (arm, link), other = fresh_arm("panda"), models.ur5()
    Solver().solve(arm, Goal(link, arm.frame(arm.rest, link)))
    Solver().solve(arm, Goal(link, position=[0.4, 0, 0.5]))
    frame, position = tables(arm).values()
    with pytest.raises(TypeError):
        _core.SharedTable()
    for kind, given in (("frame", position), ("frame", 3), ("several", frame)):
        arguments = _arguments(other if kind == "several" else arm, link, kind)
        with pytest.raises((BadInput, TypeError)):
            _core.SearchSolver(*arguments, given)


def _arguments(arm, link, kind):
    ones = np.ones(arm.dof)
    link = "tool0" if kind == "several" else link
    rows = (tuple(range(6)), (1.0,) * 6, (0.0,) * 3, (0.0,) * 3, (0.0,) * 6, None, (False, 0.0, 0.0, 0.0, 0.0))
    target = (link, *rows, None, None)
    sizes, how = (ones, ones, arm.rest), (8, 100, 1.0, 0.5, 0.0, 1)
    targets = [target, target] if kind == "several" else [target]
    return arm._native, targets, -3 * ones, 3 * ones, [], sizes, how, (1e-6, 1e-6), (1e301, 0.0, 0.0, 0.0)
