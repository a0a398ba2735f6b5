"""Invitation: the address of a page for other machines, as a link and as a QR code."""

from __future__ import annotations

from html import escape
from typing import Any

from supple.view import address, qr
from supple.view.origin import is_loopback


def add(gui: Any, host: str, port: int) -> None:
    """Adds it to a panel of viser, folded; nothing if only this machine can reach the page. The token is not shown."""
    if is_loopback(host):
        return
    urls = address.network_urls(host, port)
    links = "<br>".join(f'<a href="{escape(url)}" target="_blank">{escape(url)}</a>' for url in urls)
    with gui.add_folder("on another machine", order=900, expand_by_default=False):
        gui.add_html(
            f'<div data-invitation style="padding:0 0.9em 0.7em;font-size:0.875em;line-height:1.5">{links}'
            f'<div style="margin-top:0.4em">{qr.svg(urls[0])}</div>'
            "Its browser asks for the token that supple printed where it was started.</div>"
        )
