from __future__ import annotations

from collections.abc import Hashable
from functools import partial

from app.commands.context import CommandContext, Handlers
from app.presenters.lookups import EventLookup, LaneLookup, MessageLookup, RebalanceLookup
from app.presenters.redeliveries import RedeliveriesPanel, RedeliveriesPresenter, place_of
from app.presenters.schemas import SchemaLookup, SchemasPresenter
from widgets.i18n import tr
from widgets.panels.table_panel import TablePanel


class InspectorHandlers(Handlers):
    def __init__(self, context: CommandContext) -> None:
        super().__init__(context)
        views, window = context.views, context.window
        views.lookups |= {
            "message": MessageLookup(self._answers, context.history, views.times, self),
            "lane": LaneLookup(self._answers, context.history, views.rates, self),
            "event": EventLookup(context.history, views.times, self),
            "rebalance": RebalanceLookup(views.rebalances),
            "schema": SchemaLookup(lambda: views.presenter(SchemasPresenter).model),
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
        window.tab(RedeliveriesPanel).opened.connect(self._browse)
        for each in window.parts.panels:
            if isinstance(each, TablePanel) and each.buttons:
                each.selectionChanged.connect(partial(self._refresh, each))
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

    def _browse(self, key: Hashable) -> None:
        row = self._context.views.presenter(RedeliveriesPresenter).model.row_of(key)
        if row is not None:
            self.open_link(f"browse:{place_of(row).name}")

    def _refresh(self, panel: TablePanel, _selected: int) -> None:
        self._context.registry.refresh(*panel.buttons)
