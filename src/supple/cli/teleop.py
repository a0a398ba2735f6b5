"""`supple teleop`: drive an arm in the browser, or watch there how something else drives it."""

from __future__ import annotations

import secrets
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from supple.cli import inputs, output
from supple.cli.options import Search, complaints
from supple.errors import BadInput, unknown

if TYPE_CHECKING:
    from supple.linkage import Linkage
    from supple.teleop.command import Source

SOURCES = ("browser", "udp:PORT", "ws:PORT", "spacemouse", "gamepad")


def teleop(
    source: Annotated[
        str,
        typer.Argument(
            metavar="FILE|NAME",
            help="A file that describes an arm, or a stock name.",
            autocompletion=inputs.complete,
        ),
    ] = "panda",
    hand: Annotated[
        str,
        typer.Option(
            "--source",
            metavar="SOURCE",
            help="What drives: browser (the page's handle and keys), udp:PORT, ws:PORT, spacemouse, gamepad, "
            "or a recording to play.",
        ),
    ] = "browser",
    link: Annotated[
        list[str] | None,
        typer.Option(
            "--link", metavar="LINK", help="Link to drive; twice for two hands. By default the arm's own hands."
        ),
    ] = None,
    method: Annotated[
        str, typer.Option("--method", metavar="NAME", help="How it steps: supple, paper, damped or pseudoinverse.")
    ] = "supple",
    scale: Annotated[float, typer.Option(min=0.01, max=100, help="Metres of the arm for a metre of the hand.")] = 1.0,
    rate: Annotated[float, typer.Option(min=10, max=5000, help="Ticks of the loop each second.")] = 300.0,
    record: Annotated[
        Path | None,
        typer.Option("--record", metavar="FILE", help="Record from the beginning, to a new .parquet or .csv."),
    ] = None,
    folder: Annotated[
        Path, typer.Option("--folder", metavar="DIR", help="Where recordings that are begun in the page are kept.")
    ] = Path("recordings"),
    tour: Annotated[bool, typer.Option("--tour", help="Begin with the guided tour of five hazards.")] = False,
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="Port to serve on, or the next free one; 0 for any.")
    ] = 8080,
    host: Annotated[
        str,
        typer.Option(
            help="Address to serve on. 0.0.0.0 lets other machines in: whoever reaches the port and has the token "
            "that is printed drives the arm."
        ),
    ] = "127.0.0.1",
    browser: Annotated[bool, typer.Option("--browser/--no-browser", help="Open the page in a browser.")] = True,
    search: Search = None,
) -> None:
    """Drive an arm by hand, in the browser, until Ctrl-C.

    Drag the coloured handle, or its ball: the arm follows, and the panel says how it is and why. Keys move the
    handle too: I J K L and U O, with Shift they turn it. Push it past its reach, let it pass its wrist, choose a
    textbook method and see the difference; or press a hazard of the tour and watch.

    The other sources drive in place of the page, which then shows what comes of it.

    \b
    Examples:
      supple teleop
      supple teleop ur5 --tour
      supple teleop baxter --scale 0.5
      supple teleop robot.urdf --link gripper --record drive.parquet
      supple teleop panda --source udp:7300
      supple teleop panda --source drive.parquet
      supple teleop panda --host 0.0.0.0 --no-browser
    """
    token = secrets.token_hex(5)
    with complaints():
        linkage = inputs.find(source, search or ())
        from supple.teleop import page as pages  # here: no other command waits for the browser's libraries
        from supple.teleop.page.drivers import loopback

        if tour and hand != "browser":
            raise BadInput(f"--tour moves the handle by itself, and --source {hand} would too: give one of them")
        near = loopback(host)
        other = _source(hand, host, "" if near else token, linkage)
        try:
            page = pages.serve(
                linkage,
                link or (),
                method=method,
                source=other,
                rate=rate,
                scale=scale,
                record=record,
                folder=folder,
                host=host,
                port=port,
                token=token,
                tour=tour,
                open_browser=browser,
            )
        except BaseException:
            if other is not None:
                other.close()
            raise
    if port not in (0, page.port):
        output.say(f"port {port} is taken; using {page.port}")
    output.say(f"{linkage.name}: {page.url} (Ctrl-C ends)")
    if not near:
        output.say(f"WARNING: whoever reaches {host}:{page.port} and knows the token drives the arm")
        output.say(f"token: {token}")
    with complaints():
        page.wait()
    output.say(str(page.session.loop.statistics))


def _source(word: str, host: str, token: str, linkage: Linkage) -> Source | None:
    """What drives, by its word on the command line; None for the page itself."""
    kind, _, rest = word.partition(":")
    if word == "browser":
        return None
    if kind in ("udp", "ws") and (rest.isdecimal() or not rest):
        from supple.teleop import network

        made = network.UdpSource if kind == "udp" else network.WebSocketSource
        return made(int(rest) if rest else network.PORT, host, token)
    if word in ("spacemouse", "gamepad"):
        from supple.teleop import devices

        return devices.SpaceMouse() if word == "spacemouse" else devices.Gamepad()
    if Path(word).is_file():
        from supple.teleop.recording import Playback, Recording

        recording = Recording(word)
        if recording.linkage.names != linkage.names:
            raise BadInput(f"{word} is a recording of {recording.linkage.name}, not of {linkage.name}")
        return Playback(recording)
    raise unknown("source or recording", word, SOURCES)
