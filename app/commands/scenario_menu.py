"""The scenarios that come with the program, as commands: in the menu, and in the palette."""

from __future__ import annotations

from pathlib import Path

from app.commands.registry import Command
from app.environment.paths import shipped_scenarios
from broker_core.simulation.scenario import load_scenario
from widgets.i18n import mark

CATEGORY = mark("Scenarios")


def scenario_commands() -> dict[str, tuple[Command, Path]]:
    """By the command's id: the command and the file that it opens."""
    found: dict[str, tuple[Command, Path]] = {}
    for path in shipped_scenarios():
        scenario, _ = load_scenario(path)
        command = Command(f"scenario_{path.stem}", scenario.title, CATEGORY, hint=" ".join(scenario.about.split()))
        found[command.id] = (command, path)
    return found
