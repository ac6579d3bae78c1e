from __future__ import annotations

from collections.abc import Callable
from functools import partial

from broker_core.flow.config import FlowConfig
from broker_core.log.topic_log import check_partitions
from broker_core.operations.topics import LogSettings
from broker_core.plurals import counted
from broker_core.simulation.actions import topics
from broker_core.simulation.actions.queues import DeleteQueue
from broker_core.simulation.context import USER, SimulationContext
from broker_core.simulation.handlers.plan import Handler, Plan, refuse


class TopicHandler(Handler):
    """`generate(action)` prepares a producer for messages that are sent one after the other."""

    def __init__(self, context: SimulationContext, generate: Callable[[topics.Produce], Plan]) -> None:
        super().__init__(context)
        self._generate = generate

    def _create(self, action: topics.CreateTopic) -> Plan:
        context = self._context
        context.broker.logs.check_new(action.name, action.partitions)
        action.log.on(context.broker.logs.config)
        context.broker.schemas.check_subject(action.rule)

        def do() -> None:
            context.handle(action)
            if action.log != LogSettings():
                context.begin_cleaning()

        return Plan(action, do, topics.DeleteTopic(topic=action.name))

    def _delete(self, action: topics.DeleteTopic) -> Plan:
        context = self._context
        context.broker.topics.check_plain(action.topic, "deleted")
        return Plan(action, partial(context.handle, action), topics.RestoreDeleted(action.topic))

    def _restore(self, action: topics.RestoreDeleted) -> Plan:
        context = self._context
        if why := context.broker.recently_deleted.why_not_restored(action.name):
            raise refuse(why)
        queue = context.broker.recently_deleted.is_queue(action.name)
        restore = partial(context.broker.recently_deleted.restore, context.now_ns, action.name)
        return Plan(action, restore, DeleteQueue(queue=action.name) if queue else topics.DeleteTopic(topic=action.name))

    def _add_partitions(self, action: topics.AddPartitions) -> Plan:
        context = self._context
        context.broker.topics.check_plain(action.topic, "given more partitions")
        check_partitions(action.topic, action.total, context.broker.logs.partition_count(action.topic))
        why = "The number of partitions cannot be reduced: messages would be lost."
        return Plan(action, partial(context.handle, action), final=why)

    def _configure(self, action: topics.ConfigureTopic) -> Plan:
        context, broker, log, flow = self._context, self._context.broker, action.log, action.flow
        context.check_target(action.topic)
        old_log, old_flow = broker.topics.config(action.topic), broker.backpressure.config(action.topic) or FlowConfig()
        if log.on(old_log) == old_log and flow in {None, old_flow}:
            raise refuse(f"{action.topic} is already configured this way")
        changes_log = log != LogSettings()
        before = {name: getattr(old_log, name) for name in LogSettings.__struct_fields__ if changes_log}
        inverse = topics.ConfigureTopic(
            topic=action.topic, log=LogSettings(**before), flow=None if flow is None else old_flow
        )

        def do() -> None:
            context.handle(action)
            if changes_log:
                context.begin_cleaning()

        return Plan(action, do, inverse, reported=True)

    def _delete_records(self, action: topics.DeleteRecords) -> Plan:
        broker = self._context.broker
        self._context.check_topic(action.topic)
        gone = 0
        for partition, offset in action.before.items():
            log = broker.logs.partition(action.topic, int(partition))
            log.check_delete(offset)
            gone += max(0, offset - log.start_offset)
        if not gone:
            raise refuse(f"{action.topic} has nothing to delete below these offsets")
        self._context.faults.check_disk()

        def do() -> str:
            self._context.handle(action)
            return f"deleted {counted(gone, 'record')} of {action.topic}"

        return Plan(action, do, final="Deleted records are gone from the log.")

    def _produce(self, action: topics.Produce) -> Plan:
        context = self._context
        context.check_target(action.to)
        if action.partition is not None:
            if action.to in context.broker.queues:
                raise refuse(f"{action.to} is a queue, whose partitions are priorities; give a priority")
            context.broker.logs.start_offset(action.to, action.partition)
        context.broker.publishing.check(action.to, [action.message(0), action.message(action.count - 1)])
        if action.rate_per_s is not None:
            return self._generate(action)
        context.faults.check_disk()
        return Plan(action, lambda: self._send(action), final="Sent messages cannot be taken back.", client=USER)

    def _send(self, action: topics.Produce) -> str | None:
        broker, now_ns = self._context.broker, self._context.now_ns
        waiting = dropped = 0
        errors: list[BaseException] = []
        for number in range(action.count):
            reply = broker.publishing.publish_batch(
                now_ns, action.to, action.partition, (action.message(number),), client=action.client
            )
            if not reply.done:
                waiting += 1
            elif reply.error is not None:
                errors.append(reply.error)
            elif reply.result() is None:
                dropped += 1
        said = [
            f"{counted(waiting, 'message')} wait for room" if waiting else "",
            f"{counted(dropped, 'message')} dropped by its policy" if dropped else "",
            f"{counted(len(errors), 'message')} refused: {errors[0]}".rstrip(".") if errors else "",
        ]
        notes = "; ".join(note for note in said if note)
        return f"{action.sentence}: {notes}" if notes else None

    def _register(self, action: topics.RegisterSchema) -> Plan:
        return Plan(action, partial(self._context.handle, action), final="A schema version stays.", reported=True)
