"""Recordings: ticks written to a file, read back, played as a source, and replayed through a tracker."""

from supple.teleop.recording.columns import Rows
from supple.teleop.recording.playback import Playback
from supple.teleop.recording.recorder import Recorder
from supple.teleop.recording.recording import Recording

__all__ = ["Playback", "Recorder", "Recording", "Rows"]
