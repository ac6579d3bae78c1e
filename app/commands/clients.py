from __future__ import annotations

import math
from functools import partial

from PySide6.QtWidgets import QMenu

from app.commands.context import CommandContext, Handlers
from app.commands.forms import (
    choice,
    choices,
    client_names,
    free_name,
    group_names,
    name_error,
    queue_names,
    topic_names,
)
from app.commands.registry import Command
from app.sessions.history.series import of_actor
from broker_core.simulation.actions.clients import (
    AddConsumer,
    AddProducer,
    AddWorker,
    DuplicateClient,
    RemoveClient,
    SetProcessingTime,
    SetProducerRate,
)
from broker_core.simulation.arrivals import RateArrivals
from broker_core.simulation.client_counts import DescribeClient
from broker_core.simulation.durations import Duration
from broker_core.snapshots import ActorView
from widgets.dialogs.form import Field, Values
from widgets.i18n import tr
from widgets.panels.backpressure import BackpressurePanel

ROLES = ("consumer", "producer", "worker")
BENCH = ""


def duration_fields() -> tuple[Field, Field]:
    return (
        Field("mean_ms", tr("Time for each message"), "decimal", 100.0, most=3_600_000, suffix=" ms"),
        choice(
            "kind",
            tr("Spread"),
            {
                "constant": tr("always the same"),
                "uniform": tr("uniform, up to twice as long"),
                "exponential": tr("exponential: often short, now and then long"),
                "lognormal": tr("log-normal: a long tail, like real work"),
            },
            "exponential",
        ),
    )


class ClientHandlers(Handlers):
    COMMANDS = (
        Command(
            "add_consumer", "Add consumer...", "Clients", "Ctrl+Shift+N", "add", "A consumer for a group or the bench."
        ),
        Command("add_producer", "Add producer...", "Clients", "Ctrl+Alt+P", "add", "A producer for a topic or queue."),
        Command("add_worker", "Add worker...", "Clients", "Ctrl+Alt+W", "add", "A worker for a queue."),
        Command("duplicate_client", "Duplicate", "Clients", "Ctrl+U", "copy", "A copy of the selected client."),
        Command(
            "remove_client",
            "Remove client",
            "Clients",
            "Ctrl+Del",
            "close",
            "Stops and removes the selected client.",
        ),
        Command("set_rate", "Set rate...", "Clients", "", "producer", "How fast a producer sends."),
        Command("set_processing", "Set processing time...", "Clients", "", "clock", "Processing time of a message."),
    )

    def __init__(self, context: CommandContext) -> None:
        super().__init__(context)
        bind, perform = self.bind_action, context.perform
        no_target = tr("There is no topic or queue to send to; create one first.")
        no_queue, no_client = tr("There is no queue; create one first."), tr("Select a client on the canvas first.")
        no_producer, no_reader = tr("There is no producer; add one first."), tr("Select a consumer or a worker first.")
        bind("add_consumer", AddConsumer, self.ask_consumer)
        bind("add_producer", AddProducer, self.ask_producer, self._targets, no_target)
        bind("add_worker", AddWorker, self.ask_worker, lambda: self._snapshot.queues, no_queue)
        bind(
            "duplicate_client",
            DuplicateClient,
            lambda: perform(DuplicateClient(self._client())),
            self._client,
            no_client,
        )
        bind("remove_client", RemoveClient, lambda: perform(RemoveClient(self._client())), self._client, no_client)
        bind("set_rate", SetProducerRate, self.ask_rate, self._producers, no_producer)
        panel = context.window.tab(BackpressurePanel)
        panel.rateWanted.connect(lambda: context.registry.trigger("set_rate"))
        shown = context.registry.action("set_rate")
        shown.changed.connect(lambda: panel.forbid_rate(str(shown.data() or "")))
        bind("set_processing", SetProcessingTime, self.ask_processing, self._reader, no_reader)

    def _client(self) -> str:
        return next((name for role in ROLES if (name := self._context.selected(role))), "")

    def _reader(self) -> str:
        return self._context.selected("consumer") or self._context.selected("worker")

    def _producers(self) -> dict[str, ActorView]:
        return {actor.name: actor for actor in self._snapshot.actors if actor.role == "producer"}

    def _targets(self) -> list[str]:
        return topic_names(self._snapshot) + queue_names(self._snapshot)

    def ask_consumer(self, group: str = "") -> None:
        snapshot, selected = self._snapshot, self._context.selected
        groups = group_names(snapshot)
        taken = client_names(snapshot)
        self.form(
            tr("Add consumer"),
            tr("It joins its group at once, and the group shares out its partitions again."),
            (
                Field("name", tr("Name"), value=free_name("consumer", client_names(snapshot))),
                choice(
                    "group",
                    tr("Group"),
                    {**choices(groups), BENCH: tr("The bench")},
                    group or selected("group") or (groups[0] if groups else BENCH),
                ),
                *duration_fields(),
                choice(
                    "commit",
                    tr("Commits"),
                    {
                        "after": tr("after the work: at least once"),
                        "before": tr("before the work: at most once"),
                        "with_effect": tr("with its effect: effectively once"),
                    },
                    "after",
                ),
                Field("static", tr("Static member: keeps its partitions across a restart"), "check", False),
            ),
            tr("Add"),
            lambda v: AddConsumer(
                v["name"],
                v["group"],
                Duration(kind=v["kind"], mean_ms=v["mean_ms"]),
                commit=v["commit"],
                static=v["static"],
            ),
            why_not=lambda v: name_error(v["name"], "client", taken),
        )

    def ask_producer(self, to: str = "") -> None:
        snapshot, selected = self._snapshot, self._context.selected
        targets = self._targets()
        taken = client_names(snapshot)
        self.form(
            tr("Add producer"),
            "",
            (
                Field("name", tr("Name"), value=free_name("producer", client_names(snapshot))),
                choice(
                    "to",
                    tr("Sends to"),
                    targets,
                    to or selected("topic") or selected("queue") or targets[0],
                ),
                Field("per_s", tr("Rate"), "decimal", 10, least=0.1, most=100_000, suffix=tr(" messages/s")),
                Field("keys", tr("Different keys"), "whole", 10, most=1_000_000, none=tr("without keys")),
                Field("value_bytes", tr("Size of each"), "whole", 100, least=1, most=1_000_000, suffix=tr(" bytes")),
                choice(
                    "spacing",
                    tr("Gaps"),
                    {"constant": tr("equal"), "poisson": tr("like independent senders (Poisson)")},
                    "constant",
                ),
                Field("linger_ms", tr("Linger"), "whole", 0, most=60_000, none=tr("send each at once"), suffix=" ms"),
            ),
            tr("Add"),
            lambda v: AddProducer(
                v["name"],
                v["to"],
                RateArrivals(per_s=v["per_s"], keys=v["keys"] or 0, value_bytes=v["value_bytes"], spacing=v["spacing"]),
                linger_ms=v["linger_ms"] or 0,
            ),
            why_not=lambda v: name_error(v["name"], "client", taken),
        )

    def ask_worker(self, queue: str = "") -> None:
        snapshot, selected = self._snapshot, self._context.selected
        queues = queue_names(snapshot)
        taken = client_names(snapshot)
        self.form(
            tr("Add worker"),
            "",
            (
                Field("name", tr("Name"), value=free_name("worker", client_names(snapshot))),
                choice("queue", tr("Queue"), queues, queue or selected("queue")),
                *duration_fields(),
                Field("prefetch", tr("Takes ahead at most"), "whole", 1, least=1, most=1_000),
            ),
            tr("Add"),
            lambda v: AddWorker(
                v["name"], v["queue"], Duration(kind=v["kind"], mean_ms=v["mean_ms"]), prefetch=v["prefetch"]
            ),
            why_not=lambda v: name_error(v["name"], "client", taken),
        )

    def ask_rate(self) -> None:
        snapshot, actors = self._snapshot, self._producers()
        waiting = next((actor.name for actor in actors.values() if actor.state == "blocked"), next(iter(actors), ""))
        selected = self._context.selected("producer")
        chosen = selected if selected in actors else waiting

        def sends(client: str) -> float:
            per_s = (
                self._context.views.rates.of(of_actor(actors[client]), snapshot.time_ns) if client in actors else 0.0
            )
            return 0.0 if math.isnan(per_s) else per_s

        def now(values: Values) -> str:
            per_s = f"{sends(values['client']):,.1f}"
            return tr("It currently sends {rate} messages/s. Its target's limit still applies.", rate=per_s)

        self.form(
            tr("Rate of a producer"),
            "",
            (
                choice("client", tr("Producer"), choices(actors), chosen),
                Field(
                    "rate",
                    tr("Rate"),
                    "decimal",
                    max(0.1, round(sends(chosen), 1)) if chosen in actors else 10,
                    most=100_000,
                    suffix=tr(" messages/s"),
                    none=tr("as in the scenario"),
                ),
            ),
            tr("Set"),
            lambda v: SetProducerRate(v["client"], v["rate"]),
            tell=now,
            known=DescribeClient(client=chosen),
            values=lambda found: {} if found.rate_per_s is None else {"rate": found.rate_per_s},
        )

    def ask_processing(self) -> None:
        client = self._reader()
        self.form(
            tr("Processing time of {name}", name=client),
            tr("It applies from the next message on."),
            duration_fields(),
            tr("Set"),
            lambda v: SetProcessingTime(client, Duration(**v)),
            known=DescribeClient(client=client),
            values=lambda found: (
                {} if found.takes is None else {"kind": found.takes.kind, "mean_ms": found.takes.mean_ms}
            ),
        )

    def _add_to_menu(self, kind: str, name: str, menu: QMenu) -> None:
        action = self._context.registry.action
        if kind in ROLES:
            if name not in client_names(self._snapshot):
                return  # another program's
            menu.addSeparator()
            menu.addAction(action("duplicate_client"))
            menu.addAction(action("set_rate" if kind == "producer" else "set_processing"))
            menu.addAction(action("remove_client"))
        elif not name:
            for command in ("add_consumer", "add_producer", "add_worker"):
                menu.addAction(action(command))
        else:
            asks = {
                "group": ((tr("Add consumer..."), self.ask_consumer),),
                "topic": ((tr("Add producer..."), self.ask_producer),),
                "queue": ((tr("Add worker..."), self.ask_worker), (tr("Add producer..."), self.ask_producer)),
            }
            for words, ask in asks.get(kind, ()):
                self.add_entry(menu, words, partial(ask, name), self._context.why_ended())
