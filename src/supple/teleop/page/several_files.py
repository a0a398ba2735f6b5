"""Several files at once: a robot description and its meshes, which the browser packs into one zip file."""

from __future__ import annotations

from typing import Any

from supple.teleop.page.archive import MESHES

ENDINGS = ",".join((".urdf", ".xml", ".zip", *MESHES))
"""The files that the upload button offers."""
# The upload button of viser takes one file, the first. So the script lets the dialog take several, packs them without
# compression (https://pkware.cachefly.net/webdocs/casestudies/APPNOTE.TXT), and gives that file to the button.
_SCRIPT = """(() => {
  if (window.suppleFiles) return;
  window.suppleFiles = true;
  const isUpload = (element) => element && element.type === "file" && element.id.startsWith("file_upload_");
  const table = Array.from({length: 256}, (_, n) => {
    for (let k = 0; k < 8; k++) n = n & 1 ? 0xedb88320 ^ (n >>> 1) : n >>> 1;
    return n >>> 0;
  });
  const checksum = (bytes) => {
    let sum = 0xffffffff;
    for (const byte of bytes) sum = table[(sum ^ byte) & 255] ^ (sum >>> 8);
    return (sum ^ 0xffffffff) >>> 0;
  };
  const header = (...fields) => {  // pairs of a size in bytes and a number
    const view = new DataView(new ArrayBuffer(fields.reduce((sum, field, k) => sum + (k % 2 ? 0 : field), 0)));
    for (let k = 0, at = 0; k < fields.length; at += fields[k], k += 2)
      fields[k] === 4 ? view.setUint32(at, fields[k + 1], true) : view.setUint16(at, fields[k + 1], true);
    return view;
  };
  const zip = async (files) => {
    const parts = [], directory = [];
    let offset = 0, length = 0;
    for (const file of files) {
      const bytes = new Uint8Array(await file.arrayBuffer());
      const name = new TextEncoder().encode(file.webkitRelativePath || file.name);
      // version, flags (names are UTF-8), no compression, time, date, checksum, sizes, length of the name
      const about = [2, 20, 2, 0x800, 2, 0, 2, 0, 2, 0x21, 4, checksum(bytes), 4, bytes.length, 4, bytes.length];
      about.push(2, name.length, 2, 0);
      parts.push(header(4, 0x04034b50, ...about), name, bytes);
      const entry = header(4, 0x02014b50, 2, 20, ...about, 2, 0, 2, 0, 2, 0, 4, 0, 4, offset);
      directory.push(entry, name);
      offset += 30 + name.length + bytes.length;
      length += 46 + name.length;
    }
    const end = header(4, 0x06054b50, 2, 0, 2, 0, 2, files.length, 2, files.length, 4, length, 4, offset, 2, 0);
    return new Blob([...parts, ...directory, end], {type: "application/zip"});
  };
  document.addEventListener("click", (event) => {
    if (isUpload(event.target)) event.target.multiple = true;
  }, true);
  document.addEventListener("change", async (event) => {
    const input = event.target;
    if (!isUpload(input) || input.files.length < 2) return;
    event.stopImmediatePropagation();
    const files = [...input.files], first = files.find((file) => /\\.(urdf|xml)$/i.test(file.name)) || files[0];
    const packed = new DataTransfer();
    packed.items.add(new File([await zip(files)], first.name + " and " + (files.length - 1) + " more.zip"));
    input.files = packed.files;
    input.dispatchEvent(new Event("change", {bubbles: true}));
  }, true);
})();"""


def accept(client: Any) -> None:
    """Lets the upload button of a client of viser take several files."""
    from viser import _messages

    client._websock_connection.queue_message(_messages.RunJavascriptMessage(_SCRIPT))
