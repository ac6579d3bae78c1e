from __future__ import annotations

from functools import partial
from typing import Any

from app.commands.context import CommandContext, Handlers
from app.commands.forms import choice, name_error, place_names, topic_names
from app.commands.undo import UNDO_WINDOW_MINUTES
from app.presenters.in_flight import InFlightPanel, InFlightPresenter
from broker_core.flow.config import FlowConfig
from broker_core.queues.config import QueueConfig, RetryPolicy
from broker_core.simulation.actions import UserAction
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
from broker_core.snapshots import LeaseView, QueueView
from widgets.dialogs.form import Values
from widgets.i18n import tr


class QueueHandlers(Handlers):
    MENU = (
        (("queue", "workers"), (None, "purge_queue", "delete_queue")),
        (("",), ("create_queue", "create_subscription")),
    )

    def __init__(self, context: CommandContext) -> None:
        super().__init__(context)
        bind, topics = self.bind_action, lambda: self._snapshot.topics
        no_topic = tr("There is no topic to subscribe to; create one first.")
        no_queue = tr("Select a queue on the canvas first.")
        bind("create_queue", CreateQueue, self.ask_queue)
        bind("create_subscription", CreateSubscription, self.ask_subscription, topics, no_topic)
        bind("purge_queue", PurgeQueue, self.ask_purge, self._queue, no_queue, why_not=self._why_no_purge)
        bind("delete_queue", DeleteQueue, self.ask_delete, self._queue, no_queue)

    def _queue(self) -> QueueView | None:
        context = self._context
        name = context.selected("queue") or context.selected("dlq") or context.selected("workers")
        queues = context.controller.snapshot.queues
        if not name and len(queues) == 1:
            return queues[0]
        return next((queue for queue in queues if queue.name == name), None)

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
