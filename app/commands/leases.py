from __future__ import annotations

from functools import partial
from typing import Any

from app.commands.context import CommandContext, Handlers
from app.presenters.in_flight import InFlightPanel, InFlightPresenter
from broker_core.simulation.actions import UserAction
from broker_core.simulation.actions.queues import AckLease, ExtendLease, NackLease, ReleaseLease
from broker_core.snapshots import LeaseView
from widgets.i18n import tr

_ACTS: dict[str, type[UserAction]] = {
    "ack": AckLease,
    "nack": NackLease,
    "dead": NackLease,
    "extend": ExtendLease,
    "release": ReleaseLease,
}
_GIVES_UP = {"cause": "given up by hand", "requeue": False}


class LeaseHandlers(Handlers):
    def __init__(self, context: CommandContext) -> None:
        super().__init__(context)
        self._panel = context.window.tab(InFlightPanel)
        none = tr("Select messages in flight first.")
        for act, does in _ACTS.items():
            self.bind_action(f"{act}_lease", does, partial(self.act, act), self._panel.selected_count, none)

    def act(self, act: str) -> None:
        keys: list[Any] = self._panel.selected_keys()
        wanted = set(keys)
        leases = [
            row for row in self._context.views.presenter(InFlightPresenter).model.rows if isinstance(row, LeaseView)
        ]
        rows = [row for row in leases if (row.queue, row.partition, row.offset) in wanted]
        if not rows and all(isinstance(key[1], str) for key in keys):
            self._context.show_message(tr("Messages of a group are not leased: its consumers commit them."))
        elif not rows:
            self._context.show_message(tr("They are no longer in flight."))
        more = _GIVES_UP if act == "dead" else {}
        for row in rows:
            self._controller.perform(_ACTS[act](row.queue, row.partition, row.offset, row.holder, row.attempt, **more))
