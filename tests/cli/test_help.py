"""Laws of the help texts: every command has an example, and what a number is if it is not given."""

import inspect
import typing

import pytest

import supple
from supple.cli import app
from supple.solver import Solver

COMMANDS = {command.name or command.callback.__name__: command for command in app.registered_commands}
NUMBERS = (float | None, int | None)


def options(command):
    """The type, the help text and the default of each option, by its name in Python."""
    call = COMMANDS[command].callback
    hints = typing.get_type_hints(call, include_extras=True)
    made = {}
    for name, parameter in inspect.signature(call).parameters.items():
        kind, described = typing.get_args(hints[name])[:2]
        made[name] = (kind, described.help, parameter.default)
    return made


@pytest.mark.parametrize("command", COMMANDS)
def test_every_option_is_described_and_every_command_has_an_example_of_itself(command):
    assert f"supple {command}" in COMMANDS[command].epilog
    assert all(text for _, text, _ in options(command).values())


@pytest.mark.parametrize("command", COMMANDS)
def test_a_number_that_may_be_left_out_says_what_holds_then(command):
    for name, (kind, text, default) in options(command).items():
        if default is None and kind in NUMBERS:
            assert any(words in text.lower() for words in ("default", "in place of", "needs it")), name


def test_the_help_of_solve_has_the_defaults_of_the_solver():
    text = {name: text for name, (_, text, _) in options("solve").items()}
    search, local = Solver().to_dict(), Solver(method=supple.method.damped()).to_dict()
    assert f"{search['tolerance']['position']:g}" in text["tolerance"]
    assert f"{search['max_iterations']['default']} over all seeds" in text["max_iterations"]
    assert f"{local['max_iterations']['default']} for the other" in text["max_iterations"]
    assert f"{local['damping']['default']:g}" in text["damping"]
