"""What Kafka's clients from outside meet: delays, errors, lost replies, a join that is held."""

from __future__ import annotations

from app.commands.context import CommandContext, Handlers
from app.commands.forms import choices, group_names, open_form, topic_names
from app.commands.registry import Command
from app.presenters.other_producers import other_producers
from broker_core.faults.client_fault import ClientFault
from broker_core.faults.kafka_names import FATAL, KAFKA_APIS, RETRIABLE
from broker_core.simulation.actions.faults import BreakRequests
from widgets.dialogs.form import Field, Values
from widgets.formats import sentence
from widgets.i18n import tr


class ClientFaultHandlers(Handlers):
    """Requests are broken by a form; what lasts ends by *End faults and rules*, or by Undo."""

    COMMANDS = (
        Command(
            "break_requests",
            "Break requests...",
            "Faults",
            "",
            "warning",
            "Kafka programs meet delays, errors, lost replies.",
        ),
    )

    MENU = ((("consumer", "producer", "topic", "group", ""), ("break_requests",)),)

    def __init__(self, context: CommandContext) -> None:
        super().__init__(context)
        context.registry.bind("break_requests", self.ask, context.why_ended)

    def ask(self) -> None:
        """Which requests, and what they meet."""
        context, snapshot = self._context, self._context.controller.snapshot
        ours = {actor.name for actor in snapshot.actors}
        members = {member.client for group in snapshot.groups for member in group.members} - ours
        producers = {other.name for other in other_producers(snapshot, context.views.rates)}
        selected = context.selected("consumer") or context.selected("producer")
        errors = (
            *((name, tr("{name} (retriable)", name=name)) for name in RETRIABLE),
            *((name, name) for name in FATAL),
        )
        any_one = ("", tr("any"))
        open_form(
            context,
            tr("Break requests"),
            tr("What Kafka programs send to the broker meets a fault, as often and as long as you say."),
            (
                Field("effect", tr("What happens"), "choice", "error", choices=_effects()),
                Field(
                    "error", tr("Error"), "choice", "NOT_LEADER_OR_FOLLOWER", choices=errors, shown_for=_for("error")
                ),
                Field(
                    "delay_ms",
                    tr("How long"),
                    "decimal",
                    500,
                    least=1,
                    most=600_000,
                    suffix=" ms",
                    shown_for=_for("delay", "throttle", "slice"),
                ),
                Field(
                    "bytes_per_s",
                    tr("How fast"),
                    "whole",
                    10_000,
                    least=1,
                    most=10**9,
                    suffix=tr(" bytes/s"),
                    shown_for=_for("bandwidth"),
                ),
                Field(
                    "slice_bytes",
                    tr("Pieces of"),
                    "whole",
                    100,
                    least=1,
                    most=10**9,
                    suffix=tr(" bytes"),
                    shown_for=_for("slice"),
                ),
                Field("api", tr("Request"), "choice", "", choices=(any_one, *choices(KAFKA_APIS))),
                Field(
                    "client",
                    tr("Client"),
                    value=selected if selected in members | producers else "",
                    hint=tr("any client.id; * for any characters"),
                ),
                Field("topic", tr("Topic"), "choice", "", choices=(any_one, *choices(topic_names(snapshot)))),
                Field("group", tr("Group"), "choice", "", choices=(any_one, *choices(group_names(snapshot)))),
                Field("every", tr("Every n-th request"), "whole", 1, least=1, most=1_000_000),
                Field(
                    "times", tr("How often"), "whole", None, most=1_000_000, suffix=tr(" times"), none=tr("no limit")
                ),
                Field(
                    "for_s",
                    tr("For"),
                    "decimal",
                    None,
                    most=86_400,
                    suffix=tr(" s of session time"),
                    none=tr("until it is ended"),
                ),
            ),
            tr("Break them"),
            lambda values: BreakRequests(_fault(values)),
            tell=lambda values: sentence(_fault(values).what),
        )


def _for(*effects: str) -> tuple[str, tuple[str, ...]]:
    return "effect", effects


def _effects() -> tuple[tuple[str, str], ...]:
    return (
        ("error", tr("answered with an error")),
        ("leader_change", tr("told that the partition's leader has changed")),
        ("coordinator_change", tr("told that the coordinator has changed")),
        ("delay", tr("served late")),
        ("drop", tr("connection closed, not served")),
        ("lose_reply", tr("served, and the reply is lost")),
        ("cut_reply", tr("served, and the reply is cut in the middle")),
        ("throttle", tr("served, and the client is throttled")),
        ("bandwidth", tr("served slowly, at a number of bytes/s")),
        ("slice", tr("served, and the reply comes in pieces")),
        ("hold", tr("held until the fault ends")),
    )


def _fault(values: Values) -> ClientFault:
    return ClientFault(
        effect=values["effect"],
        error=values.get("error") or "",
        delay_ms=values.get("delay_ms") or 0,
        bytes_per_s=values.get("bytes_per_s") or 0,
        slice_bytes=values.get("slice_bytes") or 0,
        api=values["api"] or "",
        client=values["client"],
        topic=values["topic"] or "",
        group=values["group"] or "",
        every=values["every"],
        times=values["times"],
        for_s=values["for_s"],
    )
