from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from app.commands.context import CommandContext, Handlers
from app.commands.registry import Command
from app.presenters.in_flight import InFlightPresenter
from broker_core.simulation.actions import UserAction
from broker_core.simulation.actions.queues import AckLease, ExtendLease, NackLease, ReleaseLease
from broker_core.snapshots import LeaseView
from widgets.i18n import tr
from widgets.panels.in_flight import InFlightPanel

_ACTS: dict[str, type[UserAction]] = {
    "ack": AckLease,
    "nack": NackLease,
    "dead": NackLease,
    "extend": ExtendLease,
    "release": ReleaseLease,
}
_GIVES_UP = {"cause": "given up by hand", "requeue": False}


class LeaseHandlers(Handlers):
    COMMANDS = (
        Command("ack_lease", "Acknowledge", "Messages", "", "check", "Acknowledged on behalf of the holder."),
        Command(
            "nack_lease", "Nack", "Messages", "", "undo", "Processing failed: retried according to the retry policy."
        ),
        Command("dead_lease", "Dead-letter", "Messages", "", "dead-letter", "Dead-lettered at once."),
        Command("extend_lease", "Extend", "Messages", "", "clock", "The lease is extended by its full length."),
        Command(
            "release_lease", "Release", "Messages", "", "undo", "Returned to the queue; the attempt does not count."
        ),
    )

    def __init__(self, context: CommandContext) -> None:
        super().__init__(context)
        panel = self._panel = context.window.tab(InFlightPanel)
        panel.actWanted.connect(self.act)
        for act, does in _ACTS.items():
            context.registry.bind(f"{act}_lease", partial(panel.do, act), self._why_not, does)
        panel.selectionChanged.connect(lambda _count: context.registry.refresh(*(f"{act}_lease" for act in _ACTS)))

    def _why_not(self) -> str:
        # Asked many times a second: the buttons follow.
        self._panel.forbid(self._context.why_ended())
        return self._panel.why_not()

    def act(self, act: str, keys: Sequence[tuple[str, int | str, int | str]]) -> None:
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
            self._context.perform(_ACTS[act](row.queue, row.partition, row.offset, row.holder, row.attempt, **more))
