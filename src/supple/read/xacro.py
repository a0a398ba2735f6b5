"""Reader of xacro: expanded to URDF by the xacrodoc package, whose global state is restored."""

from __future__ import annotations

import ast
import contextlib
import importlib.util
import io
import os
from collections.abc import Callable, Mapping
from importlib import import_module
from types import SimpleNamespace
from typing import Any

from supple.errors import BadLinkage, missing_extra
from supple.linkage import Linkage
from supple.read import isolated, safe_xml, urdf
from supple.read.boundary import Boundary
from supple.read.meshes import Finder

Guard = Callable[[Callable[[str], None]], None]
_REFUSED = (
    *("open", "exec", "eval", "compile", "getattr", "setattr", "globals", "locals", "input", "breakpoint", "help"),
    *("format", "format_map", "gi_frame", "gi_code", "cr_frame", "f_globals", "f_builtins", "f_locals", "f_back"),
)
"""Names by which an expression could read attributes that are not its own."""


def read(file: str, finder: Finder, name: str | None, arguments: Mapping[str, str] | None) -> Linkage:
    """The linkage in a .xacro file."""
    if importlib.util.find_spec("xacrodoc") is None:
        raise missing_extra("xacro", "reading xacro")
    safe_xml.parse(safe_xml.read_bytes(file), file)  # refuses what is not safe before it is expanded
    given = {str(key): str(value) for key, value in (arguments or {}).items()}
    text = isolated.xacro(file, given, finder.search)
    return urdf.build(safe_xml.parse(text, file), file, finder, name, lines=False)


def expand(file: str, arguments: Mapping[str, str], search: list[str], guard: Guard) -> str:
    """The URDF text that a .xacro file expands to; runs in a separate process.

    Xacro evaluates Python expressions. They see ``arguments`` in place of the environment, and ``guard`` allows files
    of the folder or package of the file, of packages that it finds, and of the ``search`` folders.
    """
    try:
        from xacrodoc import XacroDoc, packages
        from xacrodoc.xacrodoc import xacro
    except ImportError:
        raise missing_extra("xacro", "reading xacro") from None
    substitution_args: Any = import_module("xacro.substitution_args")
    finder = Finder(os.path.dirname(file) or ".", search)
    text = safe_xml.utf8(safe_xml.read_bytes(file), file).decode()
    boundary = Boundary(file, search)
    with _packages(packages, finder, boundary, file), contextlib.redirect_stderr(io.StringIO()):
        before = xacro.safe_eval, substitution_args.os, substitution_args._eval
        try:
            guard(boundary.check)
            xacro.safe_eval = lambda expression, *rest: before[0](_checked(expression), *rest)
            substitution_args.os = SimpleNamespace(environ=dict(arguments), path=os.path)
            substitution_args._eval = lambda expression, context: before[2](_checked(expression), context)
            xacro.init_stacks(os.path.abspath(file))  # includes are relative to the file, not to the working directory
            made: str = XacroDoc.from_string(text, subargs=dict(arguments), resolve_packages=False).dom.toxml()
        except Exception as error:  # expressions in the file may raise any exception
            reason = _reason(error)
            raise BadLinkage(f"xacro cannot expand it: {reason}", file=file) from None
        finally:
            xacro.init_stacks(None)
            xacro.safe_eval, substitution_args.os, substitution_args._eval = before
    if len(made) > safe_xml.MAX_BYTES:
        raise BadLinkage(f"it expands to more than {safe_xml.MAX_BYTES // 2**20} MiB", file=file)
    return made


def _reason(error: BaseException) -> str:
    if isinstance(error, RecursionError):
        return "its macros or properties are nested too deeply"
    if isinstance(error, MemoryError):
        return "it needs too much memory"
    shown = " ".join(str(error).split()) or type(error).__name__
    if "environment variable" in shown:
        shown += "; a xacro file sees no environment: give the variable in arguments="
    return shown[:1000]


def _checked(expression: str) -> str:
    """The same expression, if it uses no names by which Python code leaves what it was given."""
    for node in ast.walk(ast.parse(expression.strip(), mode="eval")):
        name = node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
        if name.startswith("__") or (isinstance(node, ast.Attribute) and name.startswith("_")) or name in _REFUSED:
            raise BadLinkage(f"the name {name!r} is not allowed in an expression")
    return expression


@contextlib.contextmanager
def _packages(packages: Any, finder: Finder, boundary: Boundary, file: str) -> Any:
    """A context in which $(find NAME) also searches the folders for meshes."""

    def find(name: str) -> str:
        folder = finder.package(name)
        if folder is None:
            raise LookupError(name)
        boundary.add_package(folder)
        return folder

    before = packages._finder
    own = packages.PackageFinder()
    own.walk_up_from(file)
    own.finder_funcs = [(_also(boundary, function), error) for function, error in own.finder_funcs]
    own.finder_funcs.insert(0, (find, LookupError))
    packages._finder = own
    try:
        yield
    finally:
        packages._finder = before


def _also(boundary: Boundary, function: Callable[[str], str]) -> Callable[[str], str]:
    def found(name: str) -> str:
        folder = function(name)
        boundary.add_package(folder)
        return folder

    return found
