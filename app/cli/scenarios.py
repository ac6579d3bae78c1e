from __future__ import annotations

import argparse
from pathlib import Path

from app.cli.output import print_facts, print_rows, say
from app.cli.parser import Command, about_verb, argument, described
from app.environment.extras import why_missing
from app.environment.paths import find_scenario, shipped_scenarios
from broker_core.simulation.arrival_files import DataFiles, FileArrivals
from broker_core.simulation.lesson import WindowNames
from broker_core.simulation.scenario import Scenario, load_scenario


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
        from app.commands.menus import COMMANDS
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
