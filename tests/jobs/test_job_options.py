"""Options of jobs: unknown ones, those of other jobs, and the hash that tells jobs apart."""

import numpy as np
import pytest

from job_tables import ARM, LINK
from supple import BadInput, Goal, Solver, Tolerance, jobs
from supple.errors import UnknownOption
from supple.jobs.receipts import options_hash

SOLVE = {"pose": "p", "link": LINK}
WRONG = [
    (jobs.solve, {**SOLVE, "rate": 3}, r"jobs.solve has no option 'rate'; it is an option of jobs.path and jobs.track"),
    (jobs.solve, {**SOLVE, "episode": "x"}, "jobs.solve has no option 'episode'; .* jobs.path and jobs.track"),
    (
        jobs.forward,
        {"joints": "q", "link": LINK, "solver": Solver()},
        "jobs.forward has no option 'solver'; .* jobs.solve",
    ),
    (jobs.track, {**SOLVE, "rate": 30, "time": "t"}, "jobs.track has no option 'time'; it is an option of jobs.path"),
    (jobs.solve, {**SOLVE, "prefx": "x"}, r"jobs.solve has no option 'prefx'; did you mean prefix\?"),
    (jobs.path, {**SOLVE, "episodes": "x"}, r"jobs.path has no option 'episodes'; did you mean episode\?"),
]


@pytest.mark.parametrize(("make", "options", "message"), WRONG)
def test_an_option_that_a_job_does_not_have_is_refused(make, options, message):
    with pytest.raises(UnknownOption, match=message):
        make(ARM, "in", "out", **options)


def test_path_takes_one_source_of_time():
    with pytest.raises(BadInput, match="give time or rate, not time and rate"):
        jobs.path(ARM, "in", "out", **SOLVE, time="t", rate=30)


@pytest.mark.parametrize("step", [1e-9, 1e-12])
def test_the_hash_of_a_job_has_all_digits_of_its_numbers(step):
    def hashed(change):
        goal = Goal(LINK, np.eye(4), point=(0.1 + change, 0, 0), slack=(0.01, 0, 0))
        return options_hash(jobs.solve(ARM, "in", "out", pose="p", link=goal).options())

    assert hashed(0) == hashed(0.0)
    assert hashed(0) != hashed(step)

    def tolerant(change):
        solver = Solver(tolerance=Tolerance(position=1e-3 + change))
        return options_hash(jobs.solve(ARM, "in", "out", **SOLVE, solver=solver).options())

    assert tolerant(0) == tolerant(0.0)
    assert tolerant(0) != tolerant(step)
