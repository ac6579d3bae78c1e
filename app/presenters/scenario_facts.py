"""What a scenario is about, as the inspector shows it."""

from __future__ import annotations

from broker_core.simulation.scenario import Scenario
from widgets.facts import Fact
from widgets.i18n import tr
from widgets.panels.inspector import InspectorFacts


def scenario_facts(scenario: Scenario) -> InspectorFacts:
    """What the scenario is about, what to watch and what to try: shown while nothing is selected."""
    sections: list[tuple[str, tuple[Fact, ...]]] = [("", (("", " ".join(scenario.about.split())),))]
    for title, lines in ((tr("Try"), scenario.try_), (tr("Watch"), scenario.watch)):
        if lines:
            sections.append((title, tuple((f"{number}.", line) for number, line in enumerate(lines, start=1))))
    return InspectorFacts(tr("Scenario"), scenario.title, "", tuple(sections))
