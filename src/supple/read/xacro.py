"""Reader of xacro: expanded to URDF by the xacrodoc package, whose global state is restored."""

from __future__ import annotations

import contextlib
import io
import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from supple.errors import BadLinkage, missing_extra
from supple.linkage import Linkage
from supple.read import safe_xml, urdf
from supple.read.meshes import Finder

if TYPE_CHECKING:
    from lxml.etree import _Element


def read(file: str, finder: Finder, name: str | None, arguments: Mapping[str, str] | None) -> Linkage:
    """The linkage in a .xacro file."""
    data = safe_xml.read_bytes(file)
    safe_xml.parse(data, file)  # refuses what is not safe before it is expanded
    return urdf.build(expand(data, file, finder, arguments), file, finder, name, lines=False)


def expand(data: bytes, file: str, finder: Finder, arguments: Mapping[str, str] | None) -> _Element:
    """The <robot> element that a .xacro file expands to.

    Xacro evaluates expressions and includes files: expand only files that you trust.
    """
    try:
        from xacrodoc import XacroDoc, packages
        from xacrodoc.xacrodoc import xacro
    except ImportError:
        raise missing_extra("xacro", "reading xacro") from None
    given = {str(key): str(value) for key, value in (arguments or {}).items()}
    text = safe_xml.utf8(data, file).decode()
    with _packages(packages, finder, file), contextlib.redirect_stderr(io.StringIO()):
        try:
            xacro.init_stacks(os.path.abspath(file))  # includes are relative to the file, not to the working directory
            made = XacroDoc.from_string(text, subargs=given, resolve_packages=False).dom.toxml()
        except Exception as error:  # expressions in the file may raise any exception
            reason = " ".join(str(error).split()) or type(error).__name__
            raise BadLinkage(f"xacro cannot expand it: {reason}", file=file) from None
        finally:
            xacro.init_stacks(None)
    return safe_xml.parse(made, file)


@contextlib.contextmanager
def _packages(packages: Any, finder: Finder, file: str) -> Any:
    """A context in which $(find NAME) also searches the folders for meshes."""

    def find(name: str) -> str:
        folder = finder.package(name)
        if folder is None:
            raise LookupError(name)
        return folder

    before = packages._finder
    own = packages.PackageFinder()
    own.walk_up_from(file)
    own.finder_funcs.insert(0, (find, LookupError))
    packages._finder = own
    try:
        yield
    finally:
        packages._finder = before
