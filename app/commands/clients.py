from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

from PySide6.QtWidgets import QMenu

from app.commands.context import CommandContext, Handlers
from app.commands.forms import (
    Given,
    as_is,
    choice,
    client_names,
    free_name,
    group_names,
    name_error,
    queue_names,
    topic_names,
)
from app.sessions.history.series import of_actor
from broker_core.simulation.actions import UserAction
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
from widgets.dialogs.form import Values
from widgets.i18n import tr

ROLES = ("consumer", "producer", "worker")
BENCH = ""


def _takes(values: Values) -> Duration:
    return Duration(kind=values["kind"], mean_ms=values["mean_ms"])


class ClientHandlers(Handlers):
    def __init__(self, context: CommandContext) -> None:
        super().__init__(context)
        bind, perform = self.bind_action, context.controller.perform
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
        groups = group_names(self._snapshot)
        chosen = group or self._context.selected("group") or (groups[0] if groups else BENCH)
        known = {**as_is(groups), BENCH: tr("The bench")}

        def made(v: Values) -> AddConsumer:
            return AddConsumer(v["name"], v["group"], _takes(v), commit=v["commit"], static=v["static"])

        self._form("consumer", made, {"group": choice(known, chosen)})

    def ask_producer(self, to: str = "") -> None:
        targets, selected = self._targets(), self._context.selected

        def made(v: Values) -> AddProducer:
            arrivals = RateArrivals(
                per_s=v["per_s"], keys=v["keys"] or 0, value_bytes=v["value_bytes"], spacing=v["spacing"]
            )
            return AddProducer(v["name"], v["to"], arrivals, linger_ms=v["linger_ms"] or 0)

        chosen = to or selected("topic") or selected("queue") or targets[0]
        self._form("producer", made, {"to": choice(targets, chosen)})

    def ask_worker(self, queue: str = "") -> None:
        def made(v: Values) -> AddWorker:
            return AddWorker(v["name"], v["queue"], _takes(v), prefetch=v["prefetch"])

        chosen = queue or self._context.selected("queue")
        self._form("worker", made, {"queue": choice(queue_names(self._snapshot), chosen)})

    def _form(self, role: str, made: Callable[[Values], UserAction], fields: Given) -> None:
        taken = client_names(self._snapshot)
        named = {"name": {"value": free_name(role, taken)}}
        self.form(f"add_{role}", made, {**named, **fields}, why_not=lambda v: name_error(v["name"], "client", taken))

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

        rate = max(0.1, round(sends(chosen), 1)) if chosen in actors else 10
        self.form(
            "set_rate",
            lambda v: SetProducerRate(v["client"], v["rate"]),
            {"client": choice(list(actors), chosen), "rate": {"value": rate}},
            tell=now,
            known=lambda _v: DescribeClient(client=chosen),
            values=lambda found: {} if found.rate_per_s is None else {"rate": found.rate_per_s},
        )

    def ask_processing(self) -> None:
        client = self._reader()
        self.form(
            "set_processing",
            lambda v: SetProcessingTime(client, Duration(**v)),
            known=lambda _v: DescribeClient(client=client),
            values=lambda found: (
                {} if found.takes is None else {"kind": found.takes.kind, "mean_ms": found.takes.mean_ms}
            ),
            name=client,
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
                self.add_entry(menu, words, partial(ask, name), self._controller.why_not())
