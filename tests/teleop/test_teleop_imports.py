"""The order of the modules of `supple.teleop`: a module imports only its own layer and layers before it."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import supple.teleop

FOLDER = Path(supple.teleop.__file__).parent
LAYERS = (
    ("command", "filter", "clock", "latency", "process", "statistics"),
    ("mapping", "watchdog", "adapters", "gripper", "goals", "joint_move", "reachable", "readings", "soft_start"),
    ("arm_input", "beyond"),
    ("arm_end", "plug", "robot", "simulated", "steering"),
    ("ticker",),
    ("loop", "methods"),
    ("network", "recording", "devices", "servo"),
    ("page",),
)
INSIDE = {
    "network": (("strict",), ("wire", "address"), ("access",), ("source",), ("udp", "websocket")),
    "recording": (
        ("columns", "format1", "parquet_pages"),
        ("metadata", "writer"),
        ("reader", "recorder"),
        ("recording",),
        ("playback", "replay"),
    ),
    "servo": (("bus", "motors"), ("arm", "guide")),
    "page": (
        ("archive", "arrow", "drivers", "framing", "gamepad"),
        ("heartbeat", "invitation", "keys", "phone_camera", "queue"),
        ("arm", "several_files"),
        ("uploads", "handles", "arm_view", "words", "plots", "waiting", "stop", "handle_choice", "joints"),
        ("panel",),
        ("tour", "session"),
        ("scripts",),
        ("handle_input", "actions", "controls"),
    ),
}
SEPARATE = ("network", "recording", "devices", "servo")  # of one layer, but independent of each other


def imports(path: Path) -> Iterator[str]:
    """Modules of `supple.teleop` that a file imports when it runs, also inside functions."""
    tree = ast.parse(path.read_text())
    typing_only = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
        for inner in ast.walk(node)
    }
    for node in ast.walk(tree):
        if id(node) in typing_only or not isinstance(node, ast.ImportFrom) or node.module is None:
            continue
        for name in node.names:
            for full in (f"{node.module}.{name.name}", node.module):
                inner = full.removeprefix("supple.teleop.")
                if inner != full and (FOLDER / f"{inner.replace('.', '/')}.py").exists():
                    yield inner
                    break
                if inner != full and (FOLDER / inner.replace(".", "/") / "__init__.py").exists():
                    yield inner
                    break


def rank(name: str, layers: tuple[tuple[str, ...], ...]) -> int:
    found = [k for k, layer in enumerate(layers) if name in layer]
    assert len(found) == 1, f"{name} is in no layer, or in two"
    return found[0]


@pytest.mark.parametrize("path", sorted(FOLDER.rglob("*.py")), ids=lambda path: str(path.relative_to(FOLDER)))
def test_imports_point_down(path: Path) -> None:
    package, *inner = path.relative_to(FOLDER).with_suffix("").parts
    if package == "__init__":
        return  # the facade
    for found in imports(path):
        other, *rest = found.split(".")
        if other != package:
            assert rank(other, LAYERS) <= rank(package, LAYERS), f"{package} imports {other}"
            assert not (other in SEPARATE and package in SEPARATE), f"{package} imports {other}"
        elif rest and inner != ["__init__"]:
            assert rank(rest[0], INSIDE[package]) <= rank(inner[0], INSIDE[package]), f"{path} imports {found}"


def test_driving_imports_neither_network_nor_recording_nor_devices_nor_page() -> None:
    code = "import sys, supple.teleop; print(*(name for name in sys.modules if name.startswith('supple.teleop.')))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = {name.split(".")[2] for name in done.stdout.split()}
    assert loaded <= {name for layer in LAYERS[:6] for name in layer}
