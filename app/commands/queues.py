from __future__ import annotations

from app.commands.context import CommandContext, Handlers
from app.commands.flow import POLICIES
from app.commands.forms import choice, name_error, place_names, request_field, topic_names
from app.commands.registry import Command
from app.commands.undo import UNDO_WINDOW_MINUTES
from broker_core.flow.config import FlowConfig
from broker_core.queues.config import QueueConfig, RetryPolicy
from broker_core.simulation.actions.queues import CreateQueue, CreateSubscription, DeleteQueue, PurgeQueue
from broker_core.snapshots import QueueView
from widgets.dialogs.form import Field
from widgets.i18n import mark, tr

SELECT_QUEUE = mark("Select a queue on the canvas first.")


class QueueHandlers(Handlers):
    COMMANDS = (
        Command("create_queue", "Create queue...", "Queues", "Ctrl+Alt+Q", "add", "A work queue with leases."),
        Command(
            "create_subscription",
            "Create subscription...",
            "Queues",
            "",
            "add",
            "A queue that gets every message of a topic.",
        ),
        Command("purge_queue", "Purge queue...", "Queues", "", "", "Empties the queue; can be undone."),
        Command("delete_queue", "Delete queue...", "Queues", "", "close", "With its messages; can be undone."),
    )

    MENU = (
        (("queue", "workers"), (None, "purge_queue", "delete_queue")),
        (("",), ("create_queue", "create_subscription")),
    )

    def __init__(self, context: CommandContext) -> None:
        super().__init__(context)
        bind, topics = self.bind_action, lambda: self._snapshot.topics
        no_topic, no_queue = tr("There is no topic to subscribe to; create one first."), tr(SELECT_QUEUE)
        bind("create_queue", CreateQueue, self.ask_queue)
        bind("create_subscription", CreateSubscription, self.ask_subscription, topics, no_topic)
        context.registry.bind("purge_queue", self.ask_purge, self._why_no_purge, PurgeQueue)
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
        return self._context.why_not(queue, tr(SELECT_QUEUE)) or (
            "" if waits else tr("No messages are waiting in the queue.")
        )

    def ask_queue(self) -> None:
        taken = place_names(self._snapshot)
        self.form(
            tr("Create queue"),
            tr("A message is leased to one worker at a time; messages that fail too often become dead letters."),
            (
                Field("queue", tr("Name"), hint=tr("such as invoices")),
                request_field(QueueConfig, "lease_ms", tr("Lease"), unit=1_000, suffix=tr(" s")),
                _attempts(),
                Field("retry_ms", tr("Retry after"), "whole", 500, most=3_600_000, suffix=" ms"),
                request_field(QueueConfig, "priorities", tr("Priorities")),
            ),
            tr("Create"),
            lambda v: CreateQueue(
                name=v["queue"],
                settings=QueueConfig(
                    lease_ms=v["lease_ms"],
                    max_attempts=v["max_attempts"],
                    priorities=v["priorities"],
                    retry=RetryPolicy(kind="fixed", base_ms=v["retry_ms"]) if v["retry_ms"] else RetryPolicy(),
                ),
            ),
            why_not=lambda v: name_error(v["queue"], "queue", taken),
        )

    def ask_subscription(self) -> None:
        snapshot = self._snapshot
        topics = topic_names(snapshot)
        taken = topics + [queue.name for queue in snapshot.queues]
        self.form(
            tr("Create subscription"),
            tr("It gets every message of the topic from now on, and hands each to one worker at a time."),
            (
                Field("queue", tr("Name"), hint=tr("such as mails")),
                choice("topic", tr("Topic"), topics, self._context.selected("topic") or topics[0]),
                Field("max_messages", tr("Wait at most"), "whole", None, suffix=tr(" messages"), none=tr("no limit")),
                request_field(FlowConfig, "policy", tr("When it is full"), words=dict(POLICIES), value="drop_newest"),
                request_field(QueueConfig, "priorities", tr("Priorities")),
                _attempts(),
            ),
            tr("Create"),
            lambda v: CreateSubscription(
                name=v["queue"],
                topic=v["topic"],
                settings=QueueConfig(max_attempts=v["max_attempts"], priorities=v["priorities"]),
                max_messages=v["max_messages"],
                policy=v["policy"],
            ),
            why_not=lambda v: name_error(v["queue"], "queue", taken),
        )

    def ask_purge(self) -> None:
        queue = self._queue()
        if queue is None:
            return
        stays = tr(" {count} are in flight and stay.", count=f"{queue.in_flight:,}") if queue.in_flight else ""
        count = queue.ready + queue.delayed
        self.form(
            tr("Purge queue"),
            tr(
                "{count} messages are waiting in {queue} and will be removed.{stays} They can be restored for "
                "{minutes} minutes of session time (Ctrl+Z).",
                minutes=UNDO_WINDOW_MINUTES,
                count=f"{count:,}",
                queue=queue.name,
                stays=stays,
            ),
            (),
            tr("Purge {count}", count=f"{count:,}"),
            lambda _v: PurgeQueue(queue=queue.name),
            danger=True,
        )

    def ask_delete(self) -> None:
        queue = self._queue()
        if queue is None:
            return
        self.form(
            tr("Delete queue"),
            tr(
                "{queue} has {count} messages and {dead} dead letters; its workers will have nothing to do. It can be "
                "restored for {minutes} minutes of session time (Ctrl+Z).",
                minutes=UNDO_WINDOW_MINUTES,
                queue=queue.name,
                count=f"{queue.ready + queue.delayed + queue.in_flight:,}",
                dead=f"{queue.dead:,}",
            ),
            (),
            tr("Delete {queue}", queue=queue.name),
            lambda _v: DeleteQueue(queue=queue.name),
            danger=True,
        )


def _attempts() -> Field:
    return request_field(QueueConfig, "max_attempts", tr("Attempts at most"), none=tr("retry without end"))
