"""Network sources and sinks: commands and results by UDP or WebSocket, without ever blocking the loop."""

from supple.teleop.network import wire
from supple.teleop.network.access import Counts
from supple.teleop.network.address import PORT
from supple.teleop.network.udp import UdpSink, UdpSource
from supple.teleop.network.websocket import WebSocketSink, WebSocketSource

__all__ = ["PORT", "Counts", "UdpSink", "UdpSource", "WebSocketSink", "WebSocketSource", "wire"]
