from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import msgspec

from app.commands.context import CommandContext, Handlers, lacking, named_or_only
from app.commands.forms import choice, free_name, group_names, name_error, place_names, topic_names
from app.commands.undo import UNDO_WINDOW_MINUTES
from app.presenters.in_flight import InFlightPanel, InFlightPresenter
from broker_core.flow.config import FlowConfig
from broker_core.groups.assignors import ASSIGNORS
from broker_core.operations.queues import QueueConfigAnswer, QueueConfiguration
from broker_core.operations.topics import DescribeTopic, TopicConfiguration
from broker_core.queues.config import QueueConfig, RetryPolicy
from broker_core.simulation.actions import UserAction
from broker_core.simulation.actions.groups import CreateGroup
from broker_core.simulation.actions.queues import (
    AckLease,
    CreateQueue,
    CreateSubscription,
    DeleteQueue,
    ExtendLease,
    NackLease,
    PurgeQueue,
    ReleaseLease,
)
from broker_core.simulation.actions.topics import CreateTopic
from broker_core.snapshots import LeaseView, QueueView, TopicView
from widgets.dialogs.form import Values
from widgets.i18n import tr

_ACTS: dict[str, type[UserAction]] = {
    "ack": AckLease,
    "nack": NackLease,
    "dead": NackLease,
    "extend": ExtendLease,
    "release": ReleaseLease,
}
KINDS = ("topic", "queue", "group")


class QueueHandlers(Handlers):
    MENU = (("queue workers", "| purge_queue delete_queue"), ("", "create_queue create_subscription"))

    def __init__(self, context: CommandContext) -> None:
        super().__init__(context)
        self._in_flight = context.window.tab(InFlightPanel)
        no_topic = tr("There is no topic to subscribe to; create one first.")
        bind, why_not = context.registry.bind, self._why_impossible
        no_queue = lacking(self._queue, tr("Select a queue on the canvas first."))
        bind("create_queue", self.ask_queue, why_not(CreateQueue))
        topics = lacking(lambda: self._snapshot.topics, no_topic)
        bind("create_subscription", self.ask_subscription, why_not(CreateSubscription), topics)
        bind("purge_queue", self.ask_purge, why_not(PurgeQueue), no_queue, self._why_no_purge)
        bind("delete_queue", self.ask_delete, why_not(DeleteQueue), no_queue)
        unselected = lacking(self._in_flight.selected_count, tr("Select messages in flight first."))
        for act, does in _ACTS.items():
            bind(f"{act}_lease", partial(self.act, act), why_not(does), unselected)

    def _queue(self) -> QueueView | None:
        return named_or_only(self._snapshot.queues, self._context.selected("queue", "dlq", "workers"))

    def _why_no_purge(self) -> str:
        queue = self._queue()
        waits = queue is not None and queue.ready + queue.delayed
        return "" if waits else tr("No messages are waiting in the queue.")

    def ask_queue(self) -> None:
        taken = place_names(self._snapshot)

        def made(v: Values) -> CreateQueue:
            retry = RetryPolicy(kind="fixed", base_ms=v["retry_ms"]) if v["retry_ms"] else RetryPolicy()
            given = {name: v[name] for name in ("lease_ms", "max_attempts", "priorities")}
            return CreateQueue(name=v["queue"], settings=QueueConfig(**given, retry=retry))

        self.form("create_queue", made, of=(QueueConfig,), why_not=lambda v: name_error(v["queue"], "queue", taken))

    def ask_subscription(self) -> None:
        topics, taken = topic_names(self._snapshot), place_names(self._snapshot)
        self.form(
            "create_subscription",
            lambda v: CreateSubscription(
                name=v["queue"],
                topic=v["topic"],
                settings=QueueConfig(max_attempts=v["max_attempts"], priorities=v["priorities"]),
                max_messages=v["max_messages"],
                policy=v["policy"],
            ),
            {"topic": choice(topics, self._context.selected("topic") or topics[0])},
            of=(QueueConfig, FlowConfig),
            why_not=lambda v: name_error(v["queue"], "queue", taken),
        )

    def ask_purge(self) -> None:
        if queue := self._queue():
            stays = tr(" {count} are in flight and stay.", count=f"{queue.in_flight:,}") if queue.in_flight else ""
            self.form(
                "purge_queue",
                lambda _v: PurgeQueue(queue=queue.name),
                minutes=UNDO_WINDOW_MINUTES,
                count=f"{queue.ready + queue.delayed:,}",
                queue=queue.name,
                stays=stays,
            )

    def ask_delete(self) -> None:
        if queue := self._queue():
            self.form(
                "delete_queue",
                lambda _v: DeleteQueue(queue=queue.name),
                minutes=UNDO_WINDOW_MINUTES,
                queue=queue.name,
                count=f"{queue.ready + queue.delayed + queue.in_flight:,}",
                dead=f"{queue.dead:,}",
            )

    def act(self, act: str) -> None:
        keys: list[Any] = self._in_flight.selected_keys()
        wanted = set(keys)
        leases = [
            row for row in self._context.views.presenter(InFlightPresenter).model.rows if isinstance(row, LeaseView)
        ]
        rows = [row for row in leases if (row.queue, row.partition, row.offset) in wanted]
        if not rows and all(isinstance(key[1], str) for key in keys):
            self._context.show_message(tr("Messages of a group are not leased: its consumers commit them."))
        elif not rows:
            self._context.show_message(tr("They are no longer in flight."))
        more = {"cause": "given up by hand", "requeue": False} if act == "dead" else {}
        for row in rows:
            self._controller.perform(_ACTS[act](row.queue, row.partition, row.offset, row.holder, row.attempt, **more))


class DuplicateHandlers(Handlers):
    MENU = (("topic queue group lane", "duplicate_place"),)

    def __init__(self, context: CommandContext) -> None:
        super().__init__(context)
        select = tr("Select a topic, a queue or a group on the canvas first.")
        unselected = lacking(lambda: self._selected()[1], select)
        context.registry.bind("duplicate_place", self.ask, self._why_impossible(), unselected)

    def _selected(self) -> tuple[str, str]:
        kind, _, name = self._context.views.selected.partition(":")
        return (kind, name) if kind in KINDS else ("topic", self._context.selected_topic())

    def ask(self) -> None:
        (kind, name), show = self._selected(), self._context.show_message
        self._answers.drop()
        if kind == "group":
            self._ask_group(name)
        elif kind == "queue":
            self._answers.ask(QueueConfiguration(queue=name), partial(self._ask_queue, name), show)
        else:
            self._answers.ask(
                DescribeTopic(topic=name),
                lambda topic: self._answers.ask(
                    TopicConfiguration(topic=name), lambda settings: self._ask_topic(topic, settings.flow), show
                ),
                show,
            )

    def _ask(self, name: str, what: str, taken: list[str], make: Callable[[Values], UserAction]) -> None:
        fields = {"name": {"value": free_name(name, taken, 2)}}
        self.form(f"duplicate_{what}", make, fields, why_not=lambda v: name_error(v["name"], what, taken), name=name)

    def _ask_topic(self, topic: TopicView, flow: FlowConfig | None) -> None:
        partitions, taken = len(topic.partitions), place_names(self._snapshot)
        self._ask(topic.name, "topic", taken, lambda v: CreateTopic(name=v["name"], partitions=partitions, flow=flow))

    def _ask_queue(self, name: str, known: QueueConfigAnswer) -> None:
        # It gets a dead-letter queue of its own.
        settings = msgspec.structs.replace(known.settings, dead_letter_topic="")

        def made(values: Values) -> UserAction:
            name, topic, flow = values["name"], known.topic, known.flow
            if topic is None:
                return CreateQueue(name=name, settings=settings, flow=flow)
            if flow is None:
                return CreateSubscription(name=name, topic=topic, settings=settings)
            return CreateSubscription(
                name=name, topic=topic, settings=settings, max_messages=flow.max_messages, policy=flow.policy
            )

        self._ask(name, "queue", place_names(self._snapshot), made)

    def _ask_group(self, name: str) -> None:
        snapshot = self._snapshot
        group = snapshot.group(name)
        if group is None:
            return
        topics = group.topics or tuple(sorted({at.topic for at in group.offsets}))
        assignor: Any = group.assignor if group.assignor in ASSIGNORS else "range"
        self._ask(name, "group", group_names(snapshot), lambda v: CreateGroup(v["name"], topics, assignor))
