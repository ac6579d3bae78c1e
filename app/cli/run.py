from __future__ import annotations

import argparse
import json
import sys
import time
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeElapsedColumn

from app.cli.signals import ended_by_signals, exit_of_interrupt
from app.environment.exits import Exit
from app.environment.paths import find_scenario, new_session_folder
from broker_core.clock import NS_PER_S, ns_from_s, s_from_ns
from broker_core.events import NOT_DONE, Event, EventKind
from broker_core.recording.live_session import LiveSession
from broker_core.simulation.arrival_files import DataFiles
from broker_core.simulation.scenario import load_scenario

# Often enough for a bar that moves, seldom enough to cost nothing.
PROGRESS_EVERY_S = 0.1
STEPS_PER_LOOK = 256


def run(options: argparse.Namespace) -> int:
    summary = _summary(options)
    print(json.dumps(summary))
    for said in summary["not_done"]:
        print(f"brokerscope: {said}", file=sys.stderr)
    if summary["ended"] == "stopped":
        return Exit.TERMINATED if summary["by"] == "SIGTERM" else Exit.INTERRUPTED
    return Exit.PARTLY if summary["not_done"] else Exit.DONE


def _summary(options: argparse.Namespace) -> dict[str, Any]:
    """Run and record the scenario; its summary. Ctrl+C ends it early and seals it.

    `by` is the signal that ended it, if it was not that; `not_done` is what was scheduled and could not be done.
    Raises ScenarioError, ArrivalError or BrokerError.
    """
    path = find_scenario(options.scenario)
    scenario, text = load_scenario(path)
    folder = new_session_folder(path.stem) if options.session is None else options.session
    until_ns = ns_from_s(scenario.until_s if options.until is None else options.until)
    not_done: list[str] = []

    def look(event: Event) -> None:
        if event.kind is EventKind.FAULT and event.cause.startswith(NOT_DONE):
            not_done.append(f"At {s_from_ns(event.time_ns):g} s something scheduled {event.cause}")

    started_s = time.perf_counter()
    ended: Exit | None = None
    live = LiveSession(scenario, text, folder=folder, find_file=DataFiles(path), seed=options.seed)
    live.simulation.events.attach(look)
    try:
        with ended_by_signals(), _progress() as progress:
            bar = progress.add_task(scenario.title, total=s_from_ns(until_ns))
            _drive(live, until_ns, options.speed, progress, bar)
            ended = Exit.DONE
    except KeyboardInterrupt as error:
        ended = exit_of_interrupt(error)
    finally:
        live.close(finished=ended is Exit.DONE)
    return {
        **live.summary(),
        "virtual_s": s_from_ns(live.simulation.loop.now_ns),
        "wall_s": round(time.perf_counter() - started_s, 3),
        "ended": "finished" if ended is Exit.DONE else "stopped",
        "by": "SIGTERM" if ended is Exit.TERMINATED else "",
        "not_done": not_done,
        "session": str(folder),
    }


def _progress() -> Progress:
    seconds = TextColumn("{task.completed:,.0f} of {task.total:,.0f} s")
    columns = TextColumn("{task.description}"), BarColumn(), seconds, TimeElapsedColumn()
    return Progress(*columns, console=Console(stderr=True))


def _drive(live: LiveSession, until_ns: int, speed: float | None, progress: Progress, bar: TaskID) -> None:
    """`speed` is session seconds for each second of wall time; None is full speed."""
    loop = live.simulation.loop
    started_s = looked_s = time.perf_counter()
    while True:
        now_s = time.perf_counter()
        if now_s - looked_s >= PROGRESS_EVERY_S:
            progress.update(bar, completed=s_from_ns(loop.now_ns))
            live.simulation.flush()
            looked_s = now_s
        live.take_due_keyframe()
        due_ns = until_ns if speed is None else min(until_ns, round((now_s - started_s) * speed * NS_PER_S))
        for _ in range(STEPS_PER_LOOK):
            if not loop.run_next(due_ns):
                loop.advance_to(due_ns)
                break
        else:
            continue
        if due_ns == until_ns:
            progress.update(bar, completed=s_from_ns(until_ns))
            return
        if speed is not None:
            next_ns = loop.next_ns() or until_ns
            time.sleep(min(PROGRESS_EVERY_S, max(0.0, s_from_ns(next_ns - due_ns) / speed)))
