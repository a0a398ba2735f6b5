"""Recordings: ticks written to a file, read back, played again as a source, and replayed through a tracker."""

from supple.teleop.recording.playback import Recorded
from supple.teleop.recording.recording import Recorder, Recording, Rows

__all__ = ["Recorded", "Recorder", "Recording", "Rows"]
