"""The command `supple teleop`: drive an arm in the browser, or watch an arm that a device or a program drives."""

from __future__ import annotations

import importlib
import secrets
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from supple.cli import completion, inputs, linkages, output, program
from supple.cli.options import Port, Search, epilog, errors_to_stderr
from supple.errors import BadInput, UnknownName

if TYPE_CHECKING:
    from supple.linkage import Linkage
    from supple.teleop.command import Source
    from supple.teleop.page import Page
    from supple.teleop.robot import Connection, Robot

DEVICES = {"spacemouse": "SpaceMouse", "gamepad": "Gamepad"}
"""The class of `supple.teleop.devices` for each device, by its name on the command line."""
ANSWER_SECONDS = 2.0  # within which most arms give a first reading; the page begins after that in any case
BROWSER_SECONDS = 10.0  # within which a browser that was opened shows the page
REPORT_SECONDS = 0.2  # between two looks at the connection to the arm
SOURCES = ("browser", "udp:PORT", "ws:PORT", *DEVICES)
EPILOG = epilog(
    "supple teleop",
    "supple teleop ur5 --tour",
    "supple teleop baxter --scale 0.5",
    "supple teleop robot.urdf --link gripper --record drive.parquet",
    "supple teleop panda --source udp:7300",
    "supple teleop panda --source drive.parquet",
    "supple teleop panda --host 0.0.0.0 --no-browser",
    "supple teleop so101 --arm simulated",
    "supple teleop so101 --arm my_robot.py:connect --on-exit release",
)


def teleop(
    source: Annotated[
        str,
        typer.Argument(
            metavar="FILE|NAME",
            help="A file, or the name of a bundled model.",
            autocompletion=completion.models_and_files,
        ),
    ] = "panda",
    driver: Annotated[
        str,
        typer.Option(
            "--source",
            metavar="SOURCE",
            help=f"What drives the arm: browser (handle and keys of the page), {', '.join(SOURCES[1:])}, "
            "or a recording.",
        ),
    ] = "browser",
    link: Annotated[
        list[str] | None,
        typer.Option(
            "--link",
            metavar="LINK",
            help="The link to drive. May be repeated. By default the end effectors of the arm.",
            autocompletion=completion.links,
        ),
    ] = None,
    method: Annotated[
        str,
        typer.Option(
            "--method",
            metavar="NAME",
            help="The tracking method: supple, paper, damped or pseudoinverse.",
            autocompletion=completion.tracking_methods,
        ),
    ] = "supple",
    scale: Annotated[
        float, typer.Option(min=0.01, max=100, help="Metres that the arm moves for one metre of the handle or device.")
    ] = 1.0,
    rate: Annotated[float, typer.Option(min=10, max=5000, help="Ticks of the loop per second.")] = 300.0,
    record: Annotated[
        Path | None,
        typer.Option("--record", metavar="FILE", help="Record from the start, to a new .parquet or .csv file."),
    ] = None,
    folder: Annotated[
        Path, typer.Option("--folder", metavar="DIR", help="Folder for recordings that are started in the page.")
    ] = Path("recordings"),
    tour: Annotated[bool, typer.Option("--tour", help="Start with the guided tour of five hazards.")] = False,
    port: Port = 8080,
    host: Annotated[
        str,
        typer.Option(
            help="Address of the page. 0.0.0.0 lets other machines in: anyone who reaches the port and knows the "
            "printed token can drive the arm."
        ),
    ] = "127.0.0.1",
    arm: Annotated[
        str | None,
        typer.Option(
            "--arm",
            metavar="FILE:NAME",
            help="A real arm: a Python file and the name in it of a function that connects to the arm and returns an "
            "object with read() and write(q); or 'simulated'. The file is run.",
        ),
    ] = None,
    arm_rate: Annotated[
        float | None,
        typer.Option(
            "--arm-rate",
            min=1,
            max=2000,
            help="Readings and writes of the real arm per second; by default its own rate, or 100.",
        ),
    ] = None,
    on_exit: Annotated[
        str,
        typer.Option(
            "--on-exit", metavar="hold|release", help="At the end the real arm keeps its pose, or its torque goes off."
        ),
    ] = "hold",
    browser: Annotated[bool, typer.Option("--browser/--no-browser", help="Open the page in a browser.")] = True,
    search: Search = None,
) -> None:
    """Drive an arm in the browser, until Ctrl-C, SIGTERM or SIGHUP.

    Drag the handle at the end effector: the arm follows, and the panel shows its status and the reason. The keys I J K
    L and U O move the handle too; with Shift they rotate it. Move it out of reach or through a singularity, and choose
    a textbook method to compare. With --arm a real arm follows; Escape or the red button stops it, in every browser.
    With another --source the page only shows the arm. If the source is a recording, the command ends after it, unless a
    browser shows the page then.

    Needs the extra "teleop": pip install 'supple[teleop]'.
    """
    token = secrets.token_hex(5)
    with errors_to_stderr():
        linkage = inputs.find(source, search or ())
        from supple.teleop.process import ending_signals, late_interrupt

        with late_interrupt():  # slow to import
            from supple.teleop import page as pages
            from supple.teleop.page.drivers import loopback

            for needed in ("viser", "trimesh"):
                with suppress(ImportError):  # the page says what to install
                    importlib.import_module(needed)

        _check_method(method)
        if tour and driver != "browser":
            raise BadInput(f"give --tour or --source {driver}, not both: each of them moves the handle")
        if arm is not None and tour:
            raise BadInput("give --tour or --arm, not both: the tour is for a simulated arm")
        if on_exit not in ("hold", "release"):
            raise BadInput(f"--on-exit: hold or release, not {on_exit!r}")
        links = tuple(link or ())
        real = None if arm is None else _connected(_arm(arm, linkage, links), linkage, links, arm_rate, on_exit)
        other = None
        try:
            local = loopback(host)
            other = _source(driver, host, "" if local else token, linkage)
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
                arm=real,
            )
        except BaseException:
            for opened in (other, real):
                if opened is not None:
                    opened.close()
            raise
    with ending_signals(), page:
        try:
            _print_addresses(linkage.name, page, host, port, local)
            with errors_to_stderr(), _arm_reported(page):
                if Path(driver).is_file():
                    page.wait(_recording_ended(page, browser))
                else:
                    page.wait()
        except KeyboardInterrupt:  # before the wait began
            page.close()
        output.print_text(str(page.session.loop.statistics))


def _print_addresses(name: str, page: Page, host: str, requested_port: int, local: bool) -> None:
    """Print where the page is served, and what other machines need to reach it."""
    from supple.view import address, qr

    linkages.print_address(name, page.url, requested_port, page.port)
    if local:
        return
    urls = address.network_urls(host, page.port)
    for url in urls:
        output.print_text(f"from other machines: {url}")
    output.print_text(f"WARNING: whoever reaches {host}:{page.port} and knows the token drives the arm")
    output.print_text(f"token: {page.token}")
    if sys.stdout.isatty():
        output.print_text(qr.for_terminal(urls[0]))


def _recording_ended(page: Page, opened: bool) -> Callable[[], bool]:
    """A function that says whether the command should end: the recording has ended, and no browser showed it then.

    ``opened``: whether a browser was opened; it may need a moment to connect.
    """
    begin, stays = time.monotonic(), False

    def ended() -> bool:
        nonlocal stays
        if stays or not page.session.source.ended:
            return False
        if not page.browsers and opened and time.monotonic() - begin < BROWSER_SECONDS:
            return False
        stays = page.browsers > 0
        output.print_text("the recording has ended" + ("; the page stays open (Ctrl-C ends)" if stays else ""))
        return not stays

    return ended


@contextmanager
def _arm_reported(page: Page) -> Iterator[None]:
    """In this block each change of the connection to the arm is printed: a user may look at the terminal only."""
    robot = page.session.robot
    if robot is None:
        yield
        return
    ended = threading.Event()

    def report() -> None:
        printed = "connecting"
        while not ended.wait(REPORT_SECONDS):
            state = robot.state
            if state != printed:
                output.print_text(f"arm: {state}" if state == "connected" else f"arm: {state} (still trying)")
            printed = state

    thread = threading.Thread(target=report, name="supple arm report", daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def _check_method(name: str) -> None:
    from supple.teleop import methods

    try:
        methods.full_name(name)
    except UnknownName as error:
        raise BadInput(f"--method: {error}") from None


def _arm(word: str, linkage: Linkage, links: tuple[str, ...] = ()) -> Robot | Callable[[], Robot]:
    """The real arm by its word on the command line: a function that connects to it, or the object itself."""
    if word == "simulated":
        from supple.teleop import SimulatedArm
        from supple.teleop.page.arm import Arm

        return SimulatedArm(linkage, gripper=not len(Arm.of(linkage, links).grippers.every))
    found: Robot | Callable[[], Robot] = program.defined("--arm", word, "my_robot.py:connect, or simulated")
    return found


def _connected(
    arm: Robot | Callable[[], Robot], linkage: Linkage, links: tuple[str, ...], rate: float | None, on_exit: str
) -> Connection:
    """The connection to an arm; raises `BadInput` if the program that connects to it is wrong."""
    from supple.teleop.page.arm import Arm
    from supple.teleop.robot import Connection

    try:
        connection = Connection(
            arm,
            linkage,
            Arm.of(linkage, links).links,
            rate=rate,
            on_exit=on_exit,  # type: ignore[arg-type]
        )
        try:
            connection._wait_for_answer(ANSWER_SECONDS)
        except BaseException:
            connection.close()
            raise
    except BadInput as error:
        raise BadInput(f"--arm: {error}") from None
    return connection


def _source(word: str, host: str, token: str, linkage: Linkage) -> Source | None:
    """The source of commands by its name on the command line; None for the page itself."""
    kind, _, rest = word.partition(":")
    if word == "browser":
        return None
    if kind in ("udp", "ws") and (rest.isdecimal() or not rest):
        from supple.teleop import network

        made = network.UdpSource if kind == "udp" else network.WebSocketSource
        return made(int(rest) if rest else network.PORT, host, token)
    if word in DEVICES:
        from supple.teleop import devices

        device: Source = getattr(devices, DEVICES[word])()
        return device
    if Path(word).is_file():
        from supple.teleop.recording import Playback, Recording

        recording = Recording(word)
        if recording.linkage.names != linkage.names:
            raise BadInput(f"{word} is a recording of {recording.linkage.name}, not of {linkage.name}")
        return Playback(recording)
    raise BadInput(f"--source: no source or recording {word!r}; it takes {', '.join(SOURCES)}, or a file")
