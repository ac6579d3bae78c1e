from __future__ import annotations

import json
import logging
import os
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from pyspark import SparkContext

POLL_S = 0.2


class Progress:
    """Counts weighted steps; Spark tasks of a running step move it on. A line is {"stage", "done", "total", "fraction":
    0 to 1}; the last one has "report" or "error". `on_broken` is called once if the reader has gone.
    """

    def __init__(self, output: TextIO, on_broken: Callable[[], object]) -> None:
        self._output = output
        self._on_broken = on_broken
        self._weights: dict[str, float] = {}
        self._done: set[str] = set()
        self._running: dict[str, float] = {}
        self._stage = ""
        self._last = ""
        self._lock = threading.Lock()
        self._broken = False
        self._fraction = 0.0

    def plan(self, weights: Mapping[str, float]) -> None:
        """More steps to come."""
        with self._lock:
            self._weights |= weights

    @contextmanager
    def step(self, name: str, label: str) -> Iterator[None]:
        """Everything inside belongs to step `name`; one that was not planned weighs 1."""
        with self._lock:
            self._weights.setdefault(name, 1.0)
            self._stage = label
            self._running[name] = 0.0
        self._say()
        yield
        with self._lock:
            self._running.pop(name)
            self._done.add(name)
        self._say()

    @contextmanager
    def watching(self, context: SparkContext) -> Iterator[None]:
        """Inside, Spark is asked for its tasks. A step's job group has the step's name."""
        stop = threading.Event()
        poller = threading.Thread(target=self._poll, args=(context, stop), name="progress", daemon=True)
        poller.start()
        try:
            yield
        finally:
            stop.set()
            poller.join(2)

    def _poll(self, context: SparkContext, stop: threading.Event) -> None:
        tracker = context.statusTracker()
        while not stop.wait(POLL_S):
            try:
                for name in list(self._running):
                    done = total = 0
                    for job in tracker.getJobIdsForGroup(name):
                        info = tracker.getJobInfo(job)
                        stages = [tracker.getStageInfo(stage) for stage in (info.stageIds if info else ())]
                        done += sum(stage.numCompletedTasks for stage in stages if stage)
                        total += sum(stage.numTasks for stage in stages if stage)
                    with self._lock:
                        if name in self._running and total:
                            self._running[name] = max(self._running[name], done / total)
                self._say()
            except Exception:
                # The JVM may end during the query; the job itself detects and reports that.
                return

    def _say(self) -> None:
        with self._lock:
            total = sum(self._weights.values())
            reached = sum(self._weights[name] for name in self._done)
            reached += sum(self._weights[name] * share * 0.95 for name, share in self._running.items())
            self._fraction = max(self._fraction, reached / total)  # more steps than thought never take it back
            self._write(
                stage=self._stage, done=len(self._done), total=len(self._weights), fraction=round(self._fraction, 4)
            )

    def end(self, **outcome: object) -> None:
        with self._lock:
            self._write(**outcome)

    def _write(self, **told: object) -> None:
        line = json.dumps(told)
        if self._broken or line == self._last:
            return
        self._last = line
        try:
            self._output.write(line + "\n")
            self._output.flush()
        except OSError:
            self._broken = True
            self._on_broken()


def private_stdout() -> TextIO:
    """The real standard output for us alone; what anything else prints from now on goes to standard error."""
    sys.stdout.flush()
    private = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    return private


def silence_libraries() -> None:
    """Silences the logs of libraries: Py4J logs a stack trace when Java ends, as it does after each report."""
    logging.basicConfig(handlers=[logging.NullHandler()])
