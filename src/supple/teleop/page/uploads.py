"""Uploads: drops uploads from a browser that are too large, before they are complete."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from supple.teleop.page.archive import MAX_ARCHIVE, is_archive
from supple.teleop.page.arm import MAX_UPLOAD

_HIDES = (0.4, 1.5, 5.0)  # s after an upload, when viser has said that one that was dropped is complete


def largest(name: str) -> int:
    """How many bytes an uploaded file of this name may have."""
    return MAX_ARCHIVE if is_archive(name) else MAX_UPLOAD


def limit(client: Any, refused: Callable[[str, int], None]) -> None:
    """Drops uploads of a client of viser that are larger than `largest`, and all but one at a time.

    Both the declared and the received size count. Viser itself stores everything until it is complete. ``refused`` is
    called with the name and the number of bytes.
    """
    from viser import _messages

    states = client.gui._current_file_upload_states
    connection = client.gui._websock_interface

    def drop(message: Any, name: str, size: int) -> None:
        states.pop(message.transfer_uuid, None)
        done = _messages.FileTransferPartAck(message.source_component_uuid, message.transfer_uuid, size, size)
        connection.queue_message(done)  # else the button stays busy
        client._supple_upload = message.transfer_uuid
        refused(name, size)

    async def begun(_: Any, message: Any) -> None:
        client._supple_upload = message.transfer_uuid
        for other in [key for key in states if key != message.transfer_uuid]:
            states.pop(other, None)
        if message.size_bytes > largest(message.filename):
            drop(message, message.filename, message.size_bytes)

    async def received(_: Any, message: Any) -> None:
        state = states.get(message.transfer_uuid)
        if state is not None and state["transferred_bytes"] > largest(state["filename"]):
            drop(message, state["filename"], state["transferred_bytes"])

    connection.register_handler(_messages.FileTransferStartUpload, begun)
    connection.register_handler(_messages.FileTransferPart, received)


def say_refused(client: Any, name: str, reason: str) -> None:
    """Shows that the last upload of a client was refused, and hides the notice of viser that it was successful.

    The refusal is a notice of its own: viser draws its own when the browser has time, before or after this one.
    """
    from viser import _messages

    uuid = getattr(client, "_supple_upload", None)
    if uuid is None:
        return
    said = _messages.NotificationProps(f"{name[-60:]} was refused", reason[:300], False, True, 10.0, "red")
    _send(client, _messages.NotificationShowMessage(f"refused-{uuid}", said))
    for seconds in _HIDES:
        later = threading.Timer(seconds, _send, (client, _messages.RemoveNotificationMessage(f"upload-{uuid}")))
        later.daemon = True
        later.start()


def _send(client: Any, message: Any) -> None:
    if client.client_id in client._viser_server.get_clients():
        client._websock_connection.queue_message(message)
