"""Uploads: a browser that sends too much is not listened to, long before it has sent it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from supple.teleop.page.arm import UPLOAD


def limit(client: Any, refused: Callable[[str, int], None], most: int = UPLOAD) -> None:
    """Drop uploads of a client of viser above so many bytes, as declared or as they come, and all but one at a time.

    Viser itself keeps whatever a browser sends until it is complete. ``refused`` is told a name and a number of bytes.
    """
    from viser import _messages

    states = client.gui._current_file_upload_states
    connection = client.gui._websock_interface

    def drop(message: Any, name: str, size: int) -> None:
        states.pop(message.transfer_uuid, None)
        done = _messages.FileTransferPartAck(message.source_component_uuid, message.transfer_uuid, size, size)
        connection.queue_message(done)  # else the button waits for ever
        refused(name, size)

    async def begun(_: Any, message: Any) -> None:
        for other in [key for key in states if key != message.transfer_uuid]:
            states.pop(other, None)
        if message.size_bytes > most:
            drop(message, message.filename, message.size_bytes)

    async def came(_: Any, message: Any) -> None:
        state = states.get(message.transfer_uuid)
        if state is not None and state["transferred_bytes"] > most:
            drop(message, state["filename"], state["transferred_bytes"])

    connection.register_handler(_messages.FileTransferStartUpload, begun)
    connection.register_handler(_messages.FileTransferPart, came)
