from __future__ import annotations

from functools import partial

from broker_core.clock import NS_PER_MS
from broker_core.plurals import counted
from broker_core.queues.config import QueueConfig
from broker_core.queues.lease import Held
from broker_core.queues.subscription import BacklogConfig
from broker_core.simulation.actions import queues
from broker_core.simulation.actions.topics import RestoreDeleted
from broker_core.simulation.handlers.plan import Handler, Plan, refuse

LeaseAction = queues.AckLease | queues.NackLease | queues.ExtendLease | queues.ReleaseLease


class QueueHandler(Handler):
    """The queue itself does everything, and emits the events."""

    def _create(self, action: queues.CreateQueue) -> Plan:
        self._check_names(action.name, action.settings)
        action.log.on(self._context.broker.logs.config)
        return Plan(action, partial(self._context.handle, action), queues.DeleteQueue(queue=action.name))

    def _check_names(self, name: str, config: QueueConfig) -> None:
        bin_name = config.dead_letter_topic_of(name)
        for each in (name, bin_name):
            self._context.broker.logs.check_new(each)
        if name.lower() == bin_name.lower():
            raise refuse(f"{name} cannot be its own dead-letter queue")

    def _subscribe(self, action: queues.CreateSubscription) -> Plan:
        context, name, config = self._context, action.name, action.settings
        self._check_names(name, config)
        context.broker.logs.partition_count(action.topic)
        if action.topic in context.broker.queues:
            raise refuse(f"{action.topic} is a queue; a subscription reads a topic")
        BacklogConfig(action.max_messages, action.policy)

        return Plan(action, partial(context.handle, action), queues.DeleteQueue(queue=name))

    def _delete(self, action: queues.DeleteQueue) -> Plan:
        self._context.broker.queues.queue(action.queue)
        return Plan(action, partial(self._context.handle, action), RestoreDeleted(action.queue))

    def _purge(self, action: queues.PurgeQueue) -> Plan:
        queue = self._context.broker.queues.queue(action.queue)
        if not queue.ready + queue.delayed:
            raise refuse(f"no messages are waiting in {action.queue}")

        def do() -> str:
            count = self._context.handle(action).messages
            return f"purged {counted(count, 'message')} of {action.queue}"

        return Plan(action, do, queues.UndoPurgeQueue(queue=action.queue))

    def _undo_purge(self, action: queues.UndoPurgeQueue) -> Plan:
        queue = self._context.broker.queues.queue(action.queue)
        if not queue.can_undo_purge(self._context.now_ns):
            raise refuse(f"the purge of {action.queue} was too long ago, or there was none")

        def do() -> str:
            count = self._context.handle(action).messages
            return f"brought {counted(count, 'message')} of {action.queue} back"

        return Plan(action, do, queues.PurgeQueue(queue=action.queue), reported=True)

    def _lease(self, action: LeaseAction) -> Plan:
        queue = self._context.broker.queues.queue(action.queue)
        table = queue.levels.table(action.partition)
        ((span, _first, _end),) = table.held(
            self._context.now_ns, Held(action.partition, action.offset, action.holder, action.attempt)
        )

        def do() -> str | None:
            until_ns = self._context.handle(action.request).deadline_ns
            if until_ns is None:
                return None
            return f"extended the lease of {action.place} by {(until_ns - span.lease.deadline_ns) / NS_PER_MS:,.0f} ms"

        return Plan(action, do, final="The holder of a lease sees its outcome at once.", client=action.holder)
