"""Checks of the results of commands, for tests of the command line."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from supple.cli import app

Run = Callable[..., Result]


def invoke(*words: object) -> Result:
    """The result of `supple` with these words."""
    return CliRunner().invoke(app, [str(word) for word in words], prog_name="supple")


def data(result: Result, code: int = 0) -> Any:
    """The JSON on stdout of a command that ended with the code."""
    assert result.exit_code == code, result.output
    return json.loads(result.stdout, parse_constant=lambda sign: pytest.fail(f"{sign} is not JSON"))


def refused(result: Result, code: int, *pieces: str) -> None:
    """The command ended with the code, with one clean paragraph on stderr and nothing on stdout."""
    assert result.exit_code == code, result.output
    assert result.stdout == ""
    assert "Traceback" not in result.stderr
    assert "\n\n" not in result.stderr.replace("for help.\n\n", "")
    for piece in pieces:
        assert piece in result.stderr
