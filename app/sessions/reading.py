from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import pyarrow as pa

from broker_core.events import EventStream, Sink
from broker_core.recording.event_index import EventIndex
from broker_core.snapshots import Snapshot

# The window draws between two bunches of events.
BUNCH = 1_000
PAUSE_S = 0.002
#: Of a longer session some keyframes are passed over.
KEYFRAMES_MAX = 2_000


class Reading:
    """Hands every event of the session in `folder` to `sinks`, in order, from a thread of its own."""

    def __init__(
        self,
        folder: Path,
        sinks: Sequence[Sink],
        done: Callable[[], object],
        keyframes: Iterable[Snapshot] = (),
        on_keyframe: Callable[[Snapshot], object] = lambda _snapshot: None,
    ) -> None:
        """`done()` is called at the end, in the thread that reads.

        `on_keyframe` gets each of `keyframes` after the events before it.
        """
        self._folder = folder
        self._stream = EventStream()
        for sink in sinks:
            self._stream.attach(sink)
        self._done = done
        self._keyframes = iter(keyframes)
        self._on_keyframe = on_keyframe
        self._closing = False
        self.thread = threading.Thread(target=self._work, name="reading", daemon=True)

    def start(self) -> None:
        self.thread.start()

    def close(self) -> None:
        self._closing = True

    def _work(self) -> None:
        try:
            due = next(self._keyframes, None)
            for read, event in enumerate(EventIndex(self._folder).events(0), 1):
                if self._closing:
                    return
                while due is not None and due.events <= event.seq:
                    self._on_keyframe(due)
                    due = next(self._keyframes, None)
                self._stream.pass_on(event)
                if read % BUNCH == 0:
                    time.sleep(PAUSE_S)
        except (OSError, pa.ArrowException):
            # What cannot be read is said where the session is opened; what comes before is there.
            pass
        self._done()
