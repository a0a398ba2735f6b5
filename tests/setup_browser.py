"""Find a Chromium for the browser tests, or try to install one; says what happened in one line and never fails."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "msedge")
PLACES = (
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    r"C:\Program Files\Google\Chrome\Application\chrome.exe",
    r"C:\Program Files (x86)\Microsoft\Edge\Application\msedge.exe",
)
LIMIT = 420  # seconds for each attempt to install


def find() -> str | None:
    """Path of a Chromium that starts: the system's, or the one Playwright brought."""
    for path in (*map(shutil.which, NAMES), *PLACES, _playwright_own()):
        if path and Path(path).exists() and _starts(path):
            return path
    return None


def _starts(path: str) -> bool:
    if os.name == "nt":  # there, --version would open a window
        return True
    # some distributions ship a stub of that name that only says where to get the browser
    try:
        return subprocess.run([path, "--version"], capture_output=True, timeout=60, check=False).returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        return False


def _playwright_own() -> str | None:
    try:
        from playwright.sync_api import sync_playwright

        with sync_playwright() as playwright:
            return playwright.chromium.executable_path
    except Exception:  # not installed, or it cannot start its driver here: then it has no browser for us
        return None


def _attempts() -> list[list[list[str]]]:
    """Ways to install, each a list of commands, in the order they are tried."""
    ways = []
    if shutil.which("apt-get") and getattr(os, "geteuid", lambda: 1)() == 0:
        ways.append([["apt-get", "-qq", "update"], ["apt-get", "-qq", "install", "-y", "chromium"]])
    ways.append([[sys.executable, "-m", "playwright", "install", "chromium"]])
    return ways


def main() -> None:
    """Find or install, and say which."""
    found = find()
    if found:
        print(f"browser tests: using {found}")
        return
    tried = []
    for commands in _attempts():
        tried.append(" ".join(commands[-1][-4:]))
        environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
        with contextlib.suppress(OSError, subprocess.TimeoutExpired):
            for command in commands:
                subprocess.run(command, capture_output=True, timeout=LIMIT, check=False, env=environment)
        found = find()
        if found:
            print(f"browser tests: installed {found}")
            return
    print(f"browser tests: no Chromium found and none could be installed (tried: {'; '.join(tried)})")


if __name__ == "__main__":
    try:
        main()
    except Exception as error:  # the tests themselves say what they miss
        print(f"browser tests: looking for a Chromium failed: {error}")
