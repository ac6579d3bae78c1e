"""Records the sample session of the current format version, once, when the version is new."""

from __future__ import annotations

from pathlib import Path

from broker_core.events import EventStream
from broker_core.recording.recorder import Recorder
from broker_core.recording.schema import FORMAT_VERSION
from broker_core.snapshots import Snapshot
from tests.broker_core.recording.fake_stream import FakeBroker

FOLDER = Path(__file__).parent / "samples" / f"version-{FORMAT_VERSION}"

if __name__ == "__main__":
    stream = EventStream()
    recorder = Recorder(FOLDER, scenario_name="Sample", scenario_text="title: Sample\n", seed=7)
    stream.attach(recorder)
    recorder.keyframe(Snapshot(0, 0))
    totals = FakeBroker(stream, seconds=6, rate=30).run()
    recorder.action(1_000_000_000, {"name": "move", "client": "worker-4"})
    recorder.close(totals=totals)
