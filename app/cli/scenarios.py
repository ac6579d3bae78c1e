from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeElapsedColumn

from app.cli.output import print_facts, print_rows, say
from app.cli.parser import Command, about_verb, argument, described, parser_of
from app.cli.signals import ended_by_signals, exit_of_interrupt
from app.environment.exits import Exit
from app.environment.paths import find_scenario, new_session_folder, shipped_scenarios
from app.environment.system_libraries import why_missing
from broker_core.clock import NS_PER_S, ns_from_s, s_from_ns
from broker_core.events import NOT_DONE, Event, EventKind
from broker_core.simulation.arrival_files import DataFiles, FileArrivals
from broker_core.simulation.lesson import WindowNames
from broker_core.simulation.scenario import Scenario, load_scenario

if TYPE_CHECKING:
    from broker_core.recording.live_session import LiveSession


def command() -> Command:
    parser = described("scenarios")
    verbs = parser.add_subparsers(title="verbs", metavar="VERB", required=True)
    for name, verb in (("list", _list), ("describe", _describe), ("check", _check)):
        about = about_verb("scenarios", name)
        of_verb = verbs.add_parser(name, help=about, description=about)
        if verb is not _list:
            argument(of_verb, "scenarios scenario")
        argument(of_verb, "scenarios --json")
        of_verb.set_defaults(verb=verb)

    def run(options: argparse.Namespace) -> int:
        options.verb(options)
        return 0

    return parser, run


def _list(options: argparse.Namespace) -> None:
    rows = []
    for path in shipped_scenarios():
        scenario, _ = load_scenario(path)
        rows.append({"Name": path.stem, "Title": scenario.title, "Seconds": scenario.until_s})
    print_rows(rows, options, none="There is none.")


_PARTS = ("topics", "queues", "groups", "producers", "consumers", "workers", "subscribers", "share_groups")
_COUNTED = ("consumers", "workers")  # a spec of them is for several


def _parts(scenario: Scenario) -> dict[str, int]:
    specs = {name: getattr(scenario, name) for name in _PARTS}
    counts = {name: sum(each.count if name in _COUNTED else 1 for each in found) for name, found in specs.items()}
    return {name.replace("_", " ").capitalize(): count for name, count in counts.items() if count}


def _describe(options: argparse.Namespace) -> None:
    path = find_scenario(options.scenario)
    scenario, _ = load_scenario(path)
    facts = {
        "Title": scenario.title,
        "About": " ".join(scenario.about.split()),
        "Seconds": scenario.until_s,
        "Seed": scenario.seed,
        "File": str(path),
        "Has": _parts(scenario),
    }
    lesson = {"Watch": scenario.watch, "Try": scenario.try_}
    print_facts({**facts, **lesson} if options.json else facts, options)
    for title, lines in () if options.json else lesson.items():
        for number, line in enumerate(lines):
            print(f"{'' if number else chr(10) + title + ':' + chr(10)}- {line}")


def _window_names(scenario: Path) -> WindowNames | None:
    if why_missing("gui"):
        return None
    try:
        from app.commands.lesson import window_names
        from app.commands.registry import COMMANDS
    except ImportError:  # Qt is there, but a library of the system that it needs is not
        return None
    return window_names(COMMANDS, scenario)


def _check(options: argparse.Namespace) -> None:
    path: Path = find_scenario(options.scenario)
    scenario, _text = load_scenario(path, _window_names(path))
    for producer in scenario.producers:
        if isinstance(producer.arrivals, FileArrivals):
            DataFiles(path)(producer.arrivals.file)
    say("{scenario} is a scenario: {title}.", options, scenario=options.scenario, title=scenario.title)


# Often enough for a bar that moves, seldom enough to cost nothing.
PROGRESS_EVERY_S = 0.1
STEPS_PER_LOOK = 256


def run_command() -> Command:
    return parser_of("run"), _run


def _run(options: argparse.Namespace) -> int:
    path, until_s, speed = find_scenario(options.scenario), options.until, options.speed
    summary = run_headless(path, until_s=until_s, seed=options.seed, speed=speed, folder=options.session)
    print(json.dumps(summary))
    for said in summary["not_done"]:
        print(f"brokerscope: {said}", file=sys.stderr)
    if summary["ended"] == "stopped":
        return Exit.TERMINATED if summary["by"] == "SIGTERM" else Exit.INTERRUPTED
    return Exit.PARTLY if summary["not_done"] else Exit.DONE


def run_headless(
    scenario_path: Path,
    *,
    until_s: float | None = None,
    seed: int | None = None,
    speed: float | None = None,
    folder: Path | None = None,
) -> dict[str, Any]:
    """Run the scenario up to and including `until_s` and record it; the summary.

    `speed` is session seconds for each second of wall time; None is full speed. Ctrl+C ends it early and seals it.
    `by` is the signal that ended it, if it was not that; `not_done` is what was scheduled and could not be done.
    Raises ScenarioError, ArrivalError or BrokerError.
    """
    from broker_core.recording.live_session import LiveSession  # loads what a list of scenarios does not need

    scenario, text = load_scenario(scenario_path)
    folder = new_session_folder(scenario_path) if folder is None else folder
    until_ns = ns_from_s(scenario.until_s if until_s is None else until_s)
    not_done: list[str] = []

    def look(event: Event) -> None:
        if event.kind is EventKind.FAULT and event.cause.startswith(NOT_DONE):
            not_done.append(f"At {s_from_ns(event.time_ns):g} s something scheduled {event.cause}")

    started_s = time.perf_counter()
    ended: Exit | None = None
    live = LiveSession(scenario, text, folder=folder, find_file=DataFiles(scenario_path), seed=seed)
    live.simulation.events.attach(look)
    try:
        with ended_by_signals(), _progress() as progress:
            bar = progress.add_task(scenario.title, total=s_from_ns(until_ns))
            _drive(live, until_ns, speed, progress, bar)
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
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.completed:,.0f} of {task.total:,.0f} s"),
        TimeElapsedColumn(),
        console=Console(stderr=True),
    )


def _drive(live: LiveSession, until_ns: int, speed: float | None, progress: Progress, bar: TaskID) -> None:
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
