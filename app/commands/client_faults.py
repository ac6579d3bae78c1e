from __future__ import annotations

from functools import partial

from app.commands.context import CommandContext, Handlers
from app.commands.forms import as_is, group_names, topic_names
from app.presenters.clients import other_producers
from app.sessions.causes import rule_text
from broker_core.faults.client_faults import ClientFault
from broker_core.faults.kafka_names import FATAL, KAFKA_APIS, RETRIABLE
from broker_core.limits import MAX_PARTITIONS
from broker_core.operations.faults import BeginFault
from broker_core.simulation.actions.faults import BreakRequests, EndRequestFault
from broker_core.snapshots import FaultView
from widgets.dialogs.form import Values
from widgets.formats import sentence
from widgets.hint_bar import Notice
from widgets.i18n import tr

_OF_REQUESTS = "fault "  # as the core begins their names


class ClientFaultHandlers(Handlers):
    MENU = ((("consumer", "producer", "topic", "group", ""), ("break_requests",)),)

    def __init__(self, context: CommandContext) -> None:
        super().__init__(context)
        self.bind_action("break_requests", BreakRequests, self.ask)
        self.bind_action("stop_faults", EndRequestFault, self.stop, self._active, tr("No program meets a fault."))
        self._banner = ""
        context.views.refreshed.connect(self._tell)
        context.controller.opened.connect(self._tell)

    def _active(self) -> list[FaultView]:
        return [each for each in self._snapshot.faults if each.fault.startswith(_OF_REQUESTS)]

    def stop(self) -> None:
        for each in self._active():
            self._controller.perform(EndRequestFault(each.fault.removeprefix(_OF_REQUESTS)))

    def _tell(self) -> None:
        """A real cluster is never disturbed without a banner, nor are rights at it given away."""
        source = self._controller.source
        faults = source.latest.faults if source.passing is not None else ()
        what = "; ".join(rule_text(each.what) for each in faults)
        told = tr("Programs of a real cluster meet faults: {what}.", what=what) if faults else ""
        rights = source.rights if source.passing is not None else ""
        told = " ".join(filter(None, (told, rights)))
        if told == self._banner:
            return
        hint = self._context.window.hint
        hint.take_back(self._banner)
        self._banner = told
        if told:
            stops = partial(self._context.registry.trigger, "stop_faults")
            offer = tr("Stop all faults") if faults else ""
            hint.show_notice(Notice(told, offer, stops, look="problem" if faults else "hint", pinned=True))

    def ask(self) -> None:
        context, snapshot = self._context, self._snapshot
        ours = {actor.name for actor in snapshot.actors}
        members = {member.client for group in snapshot.groups for member in group.members} - ours
        producers = {other.name for other in other_producers(snapshot, context.views.rates)}
        selected = context.selected("consumer") or context.selected("producer")
        self.form(
            "break_requests",
            lambda values: BreakRequests(_fault(values)),
            {
                "error": {"choices": {name: tr("{name} (retriable)", name=name) for name in RETRIABLE} | as_is(FATAL)},
                "api": {"choices": KAFKA_APIS},
                "client": {"value": selected if selected in members | producers else ""},
                "topic": {"choices": topic_names(snapshot)},
                "partition": {"most": MAX_PARTITIONS},
                "group": {"choices": group_names(snapshot)},
            },
            of=(ClientFault,),
            tell=lambda values: sentence(rule_text(_fault(values).what)),
        )


def _fault(values: Values) -> BeginFault:
    return BeginFault(**{name: value for name, value in values.items() if value is not None})
