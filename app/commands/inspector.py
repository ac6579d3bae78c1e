from __future__ import annotations

from collections.abc import Hashable
from functools import partial

from app.commands.context import CommandContext, Handlers
from app.commands.registry import Command
from app.presenters.dead_letters import DeadLettersPresenter
from app.presenters.lookups import EventLookup, LaneLookup, MessageLookup, RebalanceLookup
from app.presenters.redeliveries import RedeliveriesPanel, RedeliveriesPresenter, place_of
from app.presenters.schemas import SchemaLookup, SchemasPresenter
from app.sessions.history.life import Place
from widgets.i18n import tr
from widgets.panels.assignments import AssignmentsPanel
from widgets.panels.dead_letters import DeadLettersPanel
from widgets.panels.in_flight import InFlightPanel
from widgets.panels.offsets import OffsetsPanel
from widgets.panels.schemas import SchemasPanel


class InspectorHandlers(Handlers):
    COMMANDS = (
        Command("inspect_back", "Back in the inspector", "View", "Ctrl+[", "chevron-left", "The previous item."),
        Command("inspect_forward", "Forward in the inspector", "View", "Ctrl+]", "chevron-right", "Turned on again."),
    )

    def __init__(self, context: CommandContext) -> None:
        super().__init__(context)
        views, window = context.views, context.window
        views.lookups |= {
            "message": MessageLookup(self._answers, context.history, views.times, self),
            "lane": LaneLookup(self._answers, context.history, views.rates, self),
            "event": EventLookup(context.history, views.times, self),
            "rebalance": RebalanceLookup(views.rebalances),
            "schema": SchemaLookup(lambda: views.presenter(SchemasPresenter).model.rows),
        }
        for lookup in views.lookups.values():
            lookup.changed.connect(views.show_selected)
        panel = window.parts.inspector
        panel.followed.connect(self.open_link)
        panel.momentChosen.connect(views.momentChosen)
        panel.backWanted.connect(lambda: views.inspect(views.visits.back()))
        views.momentChosen.connect(context.controller.travel.to)
        panel.forwardWanted.connect(lambda: views.inspect(views.visits.forward()))
        window.parts.rebalances.chosen.connect(lambda key: views.select(f"rebalance:{key[0]}/{key[1]}"))
        window.tab(AssignmentsPanel).currentChanged.connect(self._lane)
        window.tab(OffsetsPanel).currentChanged.connect(self._lane)
        window.tab(InFlightPanel).currentChanged.connect(self._lease)
        window.tab(DeadLettersPanel).currentChanged.connect(self._letter)
        window.tab(RedeliveriesPanel).currentChanged.connect(self._redelivery)
        window.tab(RedeliveriesPanel).opened.connect(partial(self._redelivery, browse=True))
        window.tab(SchemasPanel).currentChanged.connect(self._schema)
        before, after = tr("There is no earlier one."), tr("There is no later one.")
        self.bind_with("inspect_back", panel.backWanted.emit, lambda: views.visits.has_back, before)
        self.bind_with("inspect_forward", panel.forwardWanted.emit, lambda: views.visits.has_forward, after)

    def open_link(self, target: str) -> None:
        kind, _, name = target.partition(":")
        way = self._context.views.ways.get(kind)
        if way is not None:
            way(name)
        else:
            self._context.views.select(target)
            self._context.registry.refresh()

    def _lane(self, key: Hashable) -> None:
        if isinstance(key, tuple) and len(key) >= 2:
            self._context.views.select(f"lane:{key[-2]}/{key[-1]}")

    def _schema(self, key: Hashable) -> None:
        if isinstance(key, tuple):
            self._context.views.select(f"schema:{key[0]}/{key[1]}")

    def _lease(self, key: Hashable) -> None:
        if isinstance(key, tuple) and isinstance(key[1], str):
            self._context.views.select(f"lane:{key[1]}/{key[2]}")
        elif isinstance(key, tuple):
            queue, scenario = str(key[0]), self._controller.scenario
            topic = queue if scenario is None else scenario.subscriptions.get(queue, queue)
            self._context.views.select(Place(topic, int(key[1]), int(key[2])).id)

    def _redelivery(self, key: Hashable, *, browse: bool = False) -> None:
        row = self._context.views.presenter(RedeliveriesPresenter).model.row_of(key)
        if row is not None:
            place = place_of(row)
            self.open_link(f"browse:{place.name}" if browse else place.id)

    def _letter(self, key: Hashable) -> None:
        letter = self._context.views.presenter(DeadLettersPresenter).model.row_of(key)
        if letter is not None and letter.origin_offset >= 0:
            self._context.views.select(Place(letter.origin_topic, letter.origin_partition, letter.origin_offset).id)
