"""Network sources and sinks: commands come and answers go by UDP or WebSocket, and the loop never waits for them."""

from supple.teleop._address import PORT
from supple.teleop._gate import Counts
from supple.teleop._udp import UdpSink, UdpSource
from supple.teleop._websocket import WebSocketSink, WebSocketSource

__all__ = ["PORT", "Counts", "UdpSink", "UdpSource", "WebSocketSink", "WebSocketSource"]
