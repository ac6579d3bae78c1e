"""Backpressure: each policy's own outcome has one word and one count, wherever it is told."""

from __future__ import annotations

from collections.abc import Callable

from app.presenters.backpressure import gates, gauge_facts
from app.presenters.inspector import inspector_facts
from resources.outcomes import in_words
from tests.app.conftest import Hand
from widgets.formats import messages


def test_every_policy_tells_the_same_counts_everywhere(open_workbench: Callable[..., Hand]) -> None:
    hand = open_workbench("backpressure-policies")
    hand.pass_time(40)
    snapshot, views = hand.workbench.controller.snapshot, hand.workbench.views
    totals = dict.fromkeys(("rejected", "dropped", "evicted"), 0)
    for gate, kind in gates(snapshot):
        facts = inspector_facts(snapshot, f"{kind}:{gate.target}", views.sources.series)
        assert facts is not None
        rows = {row[0]: row[1] for title, section in facts.sections for row in section if title == "Backpressure"}
        for name in totals:
            number = getattr(gate, name)
            totals[name] += number
            assert rows[name.capitalize()] == messages(number)
            assert (f"{name.capitalize()} {number:,}" in gauge_facts(gate, kind, 0).turned_away) or not number
    assert totals == {name: getattr(snapshot.totals, name) for name in totals}
    assert totals["evicted"] > 0 and totals["dropped"] > 0 and totals["rejected"] > 0
    producers = [actor for actor in snapshot.actors if actor.role == "producer"]
    assert sum(actor.dropped for actor in producers) == totals["dropped"]
    assert sum(actor.rejected for actor in producers) == totals["rejected"]
    cards = {card.name: card.turned_away for card in hand.canvas.view.producers}
    for actor in producers:
        assert cards[actor.name] == (in_words({"rejected": actor.rejected, "dropped": actor.dropped}))
