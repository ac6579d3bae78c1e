from __future__ import annotations

from collections.abc import Hashable
from functools import partial

from app.commands.context import CommandContext, Handlers, lacking
from app.presenters.lookups import EventLookup, LaneLookup, MessageLookup, RebalanceLookup
from app.presenters.redeliveries import RedeliveriesPanel, RedeliveriesPresenter
from app.presenters.schemas import SchemaLookup, SchemasPresenter
from widgets.i18n import tr
from widgets.panels.table_panel import TablePanel


class InspectorHandlers(Handlers):
    def __init__(self, context: CommandContext) -> None:
        super().__init__(context)
        views, window = context.views, context.window
        views.lookups |= {
            "message": MessageLookup(self._answers, views.sources),
            "lane": LaneLookup(self._answers, views.sources),
            "event": EventLookup(views.sources),
            "rebalance": RebalanceLookup(views.rebalances),
            "schema": SchemaLookup(lambda: views.presenter(SchemasPresenter).model),
        }
        for lookup in views.lookups.values():
            lookup.changed.connect(views.show_selected)
        panel = window.parts.inspector
        panel.followed.connect(self.open_link)
        panel.momentChosen.connect(context.controller.travel.to)
        window.parts.rebalances.chosen.connect(lambda key: views.select(f"rebalance:{key[0]}/{key[1]}"))
        window.tab(RedeliveriesPanel).opened.connect(self._browse)
        for each in window.parts.panels:
            if isinstance(each, TablePanel) and each.buttons:
                each.selectionChanged.connect(lambda _count, each=each: context.registry.refresh(*each.buttons))
        visits, bind = views.visits, context.registry.bind
        first = lacking(lambda: visits.has_back, tr("There is no earlier one."))
        last = lacking(lambda: visits.has_forward, tr("There is no later one."))
        bind("inspect_back", lambda: views.inspect(visits.back()), first)
        bind("inspect_forward", lambda: views.inspect(visits.forward()), last)
        views.inspected.connect(partial(context.registry.refresh, "inspect_back", "inspect_forward"))

    def open_link(self, target: str) -> None:
        if not self._context.views.follow(target):
            self._context.views.select(target)
            self._context.registry.refresh()

    def _browse(self, key: Hashable) -> None:
        row = self._context.views.presenter(RedeliveriesPresenter).model.row_of(key)
        if row is not None:
            self.open_link(f"browse:{row.place.name}")
