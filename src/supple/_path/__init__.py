"""Private parts of `supple.path_solution`: the planner of whole paths."""

from supple._path.planner import Rows, solve_many

__all__ = ["Rows", "solve_many"]
