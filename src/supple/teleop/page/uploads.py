"""Uploads: drops uploads from a browser that are too large, and tells it how each one ended."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from supple.teleop.page.archive import MAX_ARCHIVE, is_archive
from supple.teleop.page.arm import MAX_UPLOAD, Arm

# Viser says that an upload was successful when its bytes have arrived; whether they are an arm is known later. So its
# notice is shown only as long as it has a progress bar.
_SCRIPT = """(() => {
  if (window.suppleUploads) return;
  window.suppleUploads = document.createElement("style");
  window.suppleUploads.textContent =
    '[id^="upload-"]:not(:has(.mantine-Notification-loader)) { display: none !important }';
  document.head.appendChild(window.suppleUploads);
})();"""
_READ, _REFUSED = "teal", "red"  # colours of a notice


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

    _send(client, _messages.RunJavascriptMessage(_SCRIPT))
    connection.register_handler(_messages.FileTransferStartUpload, begun)
    connection.register_handler(_messages.FileTransferPart, received)


def say_ended(client: Any, name: str, arm: Arm | str) -> None:
    """Shows how the last upload of a client ended: with an arm, or with the reason why there is none."""
    from viser import _messages

    uuid = getattr(client, "_supple_upload", None)
    if uuid is None:
        return
    read = isinstance(arm, Arm)
    title = f"{name[-60:]} was {'read' if read else 'refused'}"
    text = f"You drive {arm.linkage.name} now." if isinstance(arm, Arm) else arm[:300]
    said = _messages.NotificationProps(title, text, False, True, 10.0, _READ if read else _REFUSED)
    _send(client, _messages.NotificationShowMessage(f"ended-{uuid}", said))


def _send(client: Any, message: Any) -> None:
    if client.client_id in client._viser_server.get_clients():
        client._websock_connection.queue_message(message)
