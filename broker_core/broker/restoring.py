"""What a broker needs to be there again after a restart: its catalog, written and read."""

from __future__ import annotations

from broker_core.broker.administration import BrokerAdmin
from broker_core.broker.catalog import Catalog, QueueEntry, SubscriptionEntry, TopicEntry
from broker_core.log.producer_ids import ProducerIds
from broker_core.schemas.registry import SchemaRegistry


class BrokerCatalog(BrokerAdmin):
    """Everything that was created, as a plain value, and made again from one."""

    def catalog(self) -> Catalog:
        """What a restart needs to make everything again."""
        queues = [(name, queue) for name, queue in self._queues.items() if name not in self._subscriptions]
        hidden = {name for name, _ in queues} | {queue.dead_letters.name for queue in self._queues.values()}
        hidden |= {letters.name for letters in self._bins.values()}
        return Catalog(
            topics=tuple(self._entry(name) for name in self._topics if name not in hidden),
            queues=tuple(
                QueueEntry(
                    name, queue.config, self._topics[name].log.config, self.flow_config(name), self.schema_rule(name)
                )
                for name, queue in queues
            ),
            subscriptions=tuple(
                SubscriptionEntry(name, each.topic, each.queue.config, each.max_messages, each.policy)
                for name, each in self._subscriptions.items()
            ),
            producers=self.producer_ids.state(),
            schemas=self.schemas.state(),
        )

    def restore(self, now_ns: int, catalog: Catalog) -> None:
        """Make everything again, on a broker that has nothing yet."""
        self.schemas = SchemaRegistry.restore(catalog.schemas)
        for topic in catalog.topics:
            self.create_topic(
                now_ns,
                topic.name,
                topic.partitions,
                partitioner=topic.partitioner,
                flow=topic.flow,
                log=topic.log,
            )
            # The subject may have been deleted since.
            self._set_rule(topic.name, topic.schema)
            if topic.has_bin:
                self._make_bin(topic.name)
        for queue in catalog.queues:
            self.create_queue(now_ns, queue.name, queue.config, flow=queue.flow, log=queue.log, restored=True)
            self._set_rule(queue.name, queue.schema)
        for each in catalog.subscriptions:
            self.subscribe(
                now_ns,
                each.name,
                each.topic,
                each.config,
                max_messages=each.max_messages,
                policy=each.policy,
                from_end=False,
                restored=True,
            )
        self.producer_ids = ProducerIds(catalog.producers)

    def _entry(self, name: str) -> TopicEntry:
        log = self._topics[name].log
        rule = self.schema_rule(name)
        return TopicEntry(
            name,
            len(log.partitions),
            log.partitioner.kind,
            log.config,
            self.flow_config(name),
            rule,
            name in self._bins,
        )
