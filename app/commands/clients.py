from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

from PySide6.QtWidgets import QMenu

from app.commands.context import CommandContext, Handlers, lacking
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
from app.presenters.what_if import ghost
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
from broker_core.simulation.actions.groups import MoveConsumer, Start
from broker_core.simulation.arrivals import RateArrivals
from broker_core.simulation.client_counts import DescribeClient
from broker_core.simulation.durations import Duration
from broker_core.snapshots import ActorView, Snapshot
from widgets.canvas.view import NEW_GROUP
from widgets.dialogs.form import Values
from widgets.dialogs.move_to_group import BENCH, MoveChoice, MoveToGroupDialog
from widgets.i18n import tr
from widgets.theme_states import state_style

ROLES = ("consumer", "producer", "worker")


class ConsumerHandlers(Handlers):
    def __init__(self, context: CommandContext) -> None:
        super().__init__(context)
        canvas = context.canvas
        canvas.drag.dropped.connect(
            lambda consumer, target: (self.ask_where if target == NEW_GROUP else self.move)(consumer, target)
        )
        canvas.moveRequested.connect(self.ask_where)
        canvas.drag.ghost_requested.connect(self._show_ghost)
        bind, why_no_move = context.registry.bind, self._why_impossible(MoveConsumer)
        unselected = lacking(self._consumer, tr("Select a consumer on the canvas first."))
        bind("move_consumer", lambda: self.ask_where(self._consumer()), why_no_move, unselected)
        bind("bench_consumer", lambda: self.move(self._consumer(), ""), why_no_move, unselected, self._why_not_benched)

    def _show_ghost(self, consumer: str, target: str) -> None:
        context = self._context
        snapshot, why = context.controller.snapshot, context.controller.why_not()
        if not why and (other := why_not_to(snapshot, consumer, target)):
            why = tr("{consumer} cannot go there.", consumer=consumer) + "\n" + other
        context.canvas.set_ghost(why or ghost(snapshot, context.views.owners, consumer, target))

    def _consumer(self) -> str:
        return self._context.selected("consumer")

    def _why_not_benched(self) -> str:
        return why_not_benched(self._snapshot, self._consumer())

    def move(self, consumer: str, group: str, start: Start = "earliest") -> None:
        """Move `consumer` to `group`; "" is the bench, and a new group reads from `start`."""
        self._controller.perform(MoveConsumer(consumer, group, start))

    def ask_where(self, consumer: str, target: str = "") -> None:
        context = self._context
        snapshot = context.controller.snapshot
        if why := context.controller.why_not() or why_not_to(snapshot, consumer, target):
            context.show_message(why)
            return
        taken = group_names(snapshot)
        new_name = free_name(current_group(snapshot, consumer) or "group", taken, 2)
        dialog = MoveToGroupDialog(
            consumer,
            move_choices(snapshot, consumer),
            lambda name: name_error(name, "group", taken),
            new_name,
            context.window,
        )
        dialog.ghostRequested.connect(
            lambda who, where: dialog.set_ghost(ghost(context.controller.snapshot, context.views.owners, who, where))
        )
        dialog.chosen.connect(self.move)
        if target == NEW_GROUP:
            dialog.choose(NEW_GROUP)
        dialog.open()

    def _add_to_menu(self, kind: str, consumer: str, menu: QMenu) -> None:
        if kind != "consumer":
            return
        ended = self._controller.why_not()
        for to in move_choices(self._snapshot, consumer):
            if to.target == NEW_GROUP:
                continue
            words = tr("Move to {target}", target=to.target or tr("the bench"))
            self.add_entry(menu, words, partial(self.move, consumer, to.target), to.reason or ended, to.about)
        menu.addSeparator()
        menu.addAction(self._context.registry.action("move_consumer"))


def current_group(snapshot: Snapshot, consumer: str) -> str:
    """The group that a consumer belongs to or is on its way to; "" on the bench."""
    actor = snapshot.actor(consumer)
    if actor is not None:
        return actor.target
    return next((group.name for group, _member in snapshot.seats(consumer)), "")


def group_of_other_program(snapshot: Snapshot, consumer: str) -> str:
    """The group of a consumer that is another program's, on the bench or not; "" for one of the session."""
    actor = snapshot.actor(consumer)
    return current_group(snapshot, consumer) if actor is None else actor.held_from


def why_not_to(snapshot: Snapshot, consumer: str, target: str) -> str:
    """Why a consumer of another program cannot go to `target`, a group or a new one; "" if it can."""
    group = group_of_other_program(snapshot, consumer)
    if not group or target in {BENCH, group}:
        return ""
    return tr(
        "{consumer} belongs to another program, which sets its group.id: it can only go to the bench and back to "
        "{group}.",
        consumer=consumer,
        group=group,
    )


def why_not_benched(snapshot: Snapshot, consumer: str) -> str:
    on_bench = not current_group(snapshot, consumer)
    return tr("{consumer} is already on the bench.", consumer=consumer) if on_bench else ""


def move_choices(snapshot: Snapshot, consumer: str) -> list[MoveChoice]:
    """Every group, the bench, and a new group; if the consumer already is says so.

    One of another program goes to its own group and the bench only.
    """
    now = current_group(snapshot, consumer)
    choices = []
    for group in snapshot.groups:
        if why_not_to(snapshot, consumer, group.name):
            continue
        members = len(group.members)
        reads = ", ".join(group.topics) or tr("nothing")
        about = tr(
            "{state}, {members}, reads {topics}",
            state=state_style(group.state).word,
            members=tr("1 member") if members == 1 else tr("{count} members", count=members),
            topics=reads,
        )
        reason = tr("{consumer} is already in this group.", consumer=consumer) if group.name == now else ""
        choices.append(MoveChoice(group.name, group.name, about, reason))
    benched = why_not_benched(snapshot, consumer)
    choices.append(MoveChoice(BENCH, tr("The bench"), tr("Reads nothing until it is moved again"), benched))
    if not why_not_to(snapshot, consumer, NEW_GROUP):
        choices.append(MoveChoice(NEW_GROUP, tr("New group..."), tr("Has all partitions to itself")))
    return choices


def _takes(values: Values) -> Duration:
    return Duration(kind=values["kind"], mean_ms=values["mean_ms"])


class ClientHandlers(Handlers):
    def __init__(self, context: CommandContext) -> None:
        super().__init__(context)
        bind, why_not, perform = context.registry.bind, self._why_impossible, context.controller.perform
        no_target = lacking(self._targets, tr("There is no topic or queue to send to; create one first."))
        no_queue = lacking(lambda: self._snapshot.queues, tr("There is no queue; create one first."))
        no_client = lacking(self._client, tr("Select a client on the canvas first."))
        no_producer = lacking(self._producers, tr("There is no producer; add one first."))
        no_reader = lacking(self._reader, tr("Select a consumer or a worker first."))
        bind("add_consumer", self.ask_consumer, why_not(AddConsumer))
        bind("add_producer", self.ask_producer, why_not(AddProducer), no_target)
        bind("add_worker", self.ask_worker, why_not(AddWorker), no_queue)
        bind("duplicate_client", lambda: perform(DuplicateClient(self._client())), why_not(DuplicateClient), no_client)
        bind("remove_client", lambda: perform(RemoveClient(self._client())), why_not(RemoveClient), no_client)
        bind("set_rate", self.ask_rate, why_not(SetProducerRate), no_producer)
        bind("set_processing", self.ask_processing, why_not(SetProcessingTime), no_reader)

    def _client(self) -> str:
        return self._context.selected(*ROLES)

    def _reader(self) -> str:
        return self._context.selected("consumer", "worker")

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

        chosen = to or selected("topic", "queue") or targets[0]
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
            series = self._context.views.sources.series
            per_s = series.rate(of_actor(actors[client]), snapshot.time_ns) if client in actors else 0.0
            return 0.0 if math.isnan(per_s) else per_s

        def now(values: Values) -> str:
            per_s = f"{sends(values['client']):,.1f}"
            return tr("It currently sends {rate} messages/s. Its target's limit still applies.", rate=per_s)

        rate = max(0.1, round(sends(chosen), 1)) if chosen in actors else 10
        fields: Given = {"client": choice(list(actors), chosen), "rate": {"value": rate}}
        dialog = self.form("set_rate", lambda v: SetProducerRate(v["client"], v["rate"]), fields, tell=now)
        self.begin_with(
            dialog,
            lambda _v: DescribeClient(client=chosen),
            lambda found: {} if found.rate_per_s is None else {"rate": found.rate_per_s},
        )

    def ask_processing(self) -> None:
        client = self._reader()
        self.begin_with(
            self.form("set_processing", lambda v: SetProcessingTime(client, Duration(**v)), name=client),
            lambda _v: DescribeClient(client=client),
            lambda found: {} if found.takes is None else {"kind": found.takes.kind, "mean_ms": found.takes.mean_ms},
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
