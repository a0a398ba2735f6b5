"""The order of the package: a module imports only what is below it, also inside functions.

Imports under ``if TYPE_CHECKING`` do not count, since they do not run, and neither does ``__version__``.
"""

import ast
from pathlib import Path

import supple

SOURCE = Path(supple.__file__).parent
LAYERS = (
    ("errors", "_core", "_progress", "_table", "_threads"),
    ("_check", "_renamed"),
    ("frame",),
    ("joint", "link"),
    ("linkage",),
    ("goal", "method", "damping", "prefer"),
    ("solution",),
    ("solver",),
    ("step",),
    ("tracker",),
    ("motion", "path"),
    ("path_solution", "workspace", "analysis", "torch", "jax"),
    ("read", "write"),
    ("models",),
    ("_find",),
    ("animate",),
    ("gauntlet", "jobs"),
    ("view",),
    ("textbook", "teleop"),
    ("integrations",),
    ("supple",),
    ("cli",),
    ("__main__",),
)
"""Public modules and packages, lowest first. Those of one layer do not import each other."""
PRIVATE = ("_cuda", "_arrays", "_linkage", "_figure", "_motion", "_solve", "_track", "_path", "_gradients")
"""Private packages, lowest first. A private module imports layers up to the values, and packages up to its own."""
VALUES = LAYERS[:7]
"""The layers that a private module may import: foundations and value types, up to `solution`."""
FACADES = {
    ("_linkage.argument", "models"): "the message that names a bundled model",
    ("motion", "read.motion_file"): "Motion.load",
    ("motion", "view.motion"): "a motion in a notebook",
    ("motion", "write.motion_file"): "Motion.save",
    ("solver", "tracker"): "Solver.track",
    ("workspace", "view.cloud"): "Workspace.draw",
}
"""Imports that point upward, from a method that a user would look for on the lower module."""


def name_of(file: Path) -> str:
    """Dotted name of a module without ``supple.``; that of the package itself is ``supple``."""
    parts = file.relative_to(SOURCE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts) or "supple"


MODULES = {name_of(file): file for file in sorted(SOURCE.rglob("*.py"))}


def resolved(name: str, package: str) -> str:
    """The module that holds a name: itself if it is one, else its package; nothing for the version of supple."""
    if name in MODULES or name == "_core":
        return name
    return "" if name == "__version__" else package or "supple"


def imported(tree: ast.AST) -> set[str]:
    """The modules of supple that a syntax tree imports, at any depth but for type checkers."""
    found: set[str] = set()
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            continue
        if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "supple":
            package = node.module.removeprefix("supple").lstrip(".")
            found |= {resolved(f"{package}.{alias.name}".lstrip("."), package) for alias in node.names}
        elif isinstance(node, ast.Import):
            found |= {alias.name[7:] for alias in node.names if alias.name.startswith("supple.")}
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "supple":
            found.add(resolved(node.attr, ""))  # after a plain "import supple"
        found |= imported(node)
    return found


IMPORTS = {name: imported(ast.parse(file.read_text(encoding="utf-8"))) - {name, ""} for name, file in MODULES.items()}


def top(module: str) -> str:
    return module.split(".")[0]


def layer(module: str) -> int:
    return next(i for i, names in enumerate(LAYERS) if top(module) in names)


def allowed(module: str, target: str) -> bool:
    if top(module) == top(target):
        return True
    if top(module) in PRIVATE:
        if top(target) in PRIVATE:
            return PRIVATE.index(top(target)) < PRIVATE.index(top(module))
        return any(top(target) in names for names in VALUES)
    return top(target) in PRIVATE or layer(target) < layer(module)


def edges() -> set[tuple[str, str]]:
    return {(module, target) for module, targets in IMPORTS.items() for target in targets if module != "supple"}


def test_every_module_has_its_place():
    known = {name for names in LAYERS for name in names} | set(PRIVATE)
    assert {top(module) for module in MODULES} - known == set()


def test_a_module_imports_only_what_is_below_it():
    upward = {edge for edge in edges() if not allowed(*edge)}
    assert upward - set(FACADES) == set()


def test_no_facade_is_listed_that_is_not_there():
    assert set(FACADES) - edges() == set()


def test_there_is_no_circle_of_imports():
    below = {module: {t for t in targets if (module, t) not in FACADES} for module, targets in IMPORTS.items()}
    left = set(MODULES) - {"supple"}
    while left:
        free = {module for module in left if not below[module] & left}
        assert free, f"these import each other in a circle: {sorted(left)}"
        left -= free
