from __future__ import annotations

from app.commands.context import CommandContext, Handlers
from app.commands.forms import choice, choices, for_s, group_names, request_field, topic_names
from app.commands.registry import Command
from app.presenters.other_clients import other_producers
from broker_core.faults.client_faults import ClientFault
from broker_core.faults.kafka_names import FATAL, KAFKA_APIS, RETRIABLE
from broker_core.operations.faults import BeginFault
from broker_core.simulation.actions.faults import BreakRequests
from widgets.dialogs.form import Field, Values
from widgets.formats import sentence
from widgets.i18n import mark, tr

EFFECTS = {
    "error": mark("answered with an error"),
    "leader_change": mark("told that the partition's leader has changed"),
    "coordinator_change": mark("told that the coordinator has changed"),
    "delay": mark("served late"),
    "drop": mark("connection closed, not served"),
    "lose_reply": mark("served, and the reply is lost"),
    "cut_reply": mark("served, and the reply is cut in the middle"),
    "throttle": mark("served, and the client is throttled"),
    "bandwidth": mark("served slowly, at a number of bytes/s"),
    "slice": mark("served, and the reply comes in pieces"),
    "hold": mark("held until the fault ends"),
}


class ClientFaultHandlers(Handlers):
    COMMANDS = (
        Command(
            "break_requests",
            "Break requests...",
            "Faults",
            "",
            "warning",
            "Gives Kafka programs delays, errors, lost replies.",
        ),
    )

    MENU = ((("consumer", "producer", "topic", "group", ""), ("break_requests",)),)

    def __init__(self, context: CommandContext) -> None:
        super().__init__(context)
        self.bind_action("break_requests", BreakRequests, self.ask)

    def ask(self) -> None:
        context, snapshot = self._context, self._snapshot
        ours = {actor.name for actor in snapshot.actors}
        members = {member.client for group in snapshot.groups for member in group.members} - ours
        producers = {other.name for other in other_producers(snapshot, context.views.rates)}
        selected = context.selected("consumer") or context.selected("producer")
        errors = {**{name: tr("{name} (retriable)", name=name) for name in RETRIABLE}, **choices(FATAL)}
        any_one = {"": tr("any")}
        self.form(
            tr("Break requests"),
            tr("Breaks requests of Kafka programs, as often and for as long as you choose."),
            (
                choice("effect", tr("What happens"), {effect: tr(words) for effect, words in EFFECTS.items()}, "error"),
                choice("error", tr("Error"), errors, "NOT_LEADER_OR_FOLLOWER", shown_for=_for("error")),
                _number("delay_ms", tr("How long"), 500, 600_000, " ms", "delay", "throttle", "slice"),
                _number("bytes_per_s", tr("How fast"), 10_000, 10**9, tr(" bytes/s"), "bandwidth"),
                _number("slice_bytes", tr("Pieces of"), 100, 10**9, tr(" bytes"), "slice"),
                choice("api", tr("Request"), {**any_one, **choices(KAFKA_APIS)}, ""),
                Field(
                    "client",
                    tr("Client"),
                    value=selected if selected in members | producers else "",
                    hint=tr("any client.id; * for any characters"),
                ),
                choice("topic", tr("Topic"), {**any_one, **choices(topic_names(snapshot))}, ""),
                choice("group", tr("Group"), {**any_one, **choices(group_names(snapshot))}, ""),
                Field("every", tr("Every n-th request"), "whole", 1, least=1, most=1_000_000),
                request_field(
                    ClientFault, "times", tr("How often"), most=1_000_000, suffix=tr(" times"), none=tr("no limit")
                ),
                for_s(None),
            ),
            tr("Break them"),
            lambda values: BreakRequests(_fault(values)),
            tell=lambda values: sentence(_fault(values).what),
        )


def _for(*effects: str) -> tuple[str, tuple[str, ...]]:
    return "effect", effects


def _number(name: str, label: str, value: int, most: int, suffix: str, *effects: str) -> Field:
    return request_field(
        ClientFault, name, label, value=value, least=1, most=most, suffix=suffix, shown_for=_for(*effects)
    )


def _fault(values: Values) -> BeginFault:
    return BeginFault(**{name: value for name, value in values.items() if value is not None})
