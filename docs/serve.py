"""Builds the documentation site into build/docs, serves it to this machine and opens it; Ctrl-C ends."""

from __future__ import annotations

import functools
import http.server
import subprocess
import sys
import webbrowser
from pathlib import Path

HERE = Path(__file__).parent
SITE = HERE.parent / "build" / "docs"


def main() -> None:
    """Build, serve, open."""
    subprocess.run([sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", str(HERE), str(SITE)], check=True)
    handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=str(SITE))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        address = f"http://127.0.0.1:{server.server_port}"
        print(f"{SITE}: {address} (Ctrl-C ends)")
        webbrowser.open(address)
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            print()


if __name__ == "__main__":
    main()
