"""Advice for each kind of finding: the settings, by their names here and elsewhere, and a scenario that shows it.

The names elsewhere are those of Apache Kafka 4 (brokers, topics, clients, groups and share groups), RabbitMQ 4
(policies and queue arguments; `rabbitmq.conf`) and Amazon SQS (queue attributes and actions).
"""

from __future__ import annotations

from typing import Final, NamedTuple

from spark_reports.findings.finding import Finding


class Remedy(NamedTuple):
    """`scenario` shows it; `here` is the setting in a scenario, the others its names elsewhere, "" for none."""

    advice: str
    scenario: str
    here: str
    kafka: str
    rabbitmq: str = ""
    sqs: str = ""


REMEDIES: Final = {
    "poison": Remedy(
        "Fix the cause, try one of the messages by hand, then redrive the rest. More attempts help none of them; "
        "fewer attempts free the workers sooner.",
        "poison-message",
        "max_attempts",
        "group.share.delivery.count.limit, errors.deadletterqueue.topic.name",
        "delivery-limit, dead-letter-exchange",
        "maxReceiveCount in RedrivePolicy",
    ),
    "dead-letters": Remedy(
        "Look at the most frequent cause first; redrive once it is fixed.",
        "poison-message",
        "max_attempts, retry",
        "group.share.delivery.count.limit, errors.deadletterqueue.topic.name",
        "delivery-limit, dead-letter-exchange",
        "maxReceiveCount in RedrivePolicy, StartMessageMoveTask",
    ),
    "deleted-unread": Remedy(
        "Keep messages for longer than a reader may be behind or away, and set an alarm on the lag that is raised "
        "earlier.",
        "retention",
        "retention_ms, retention_bytes",
        "retention.ms, retention.bytes, records-lag-max as alarm",
        "max-age, max-length-bytes of a stream",
        "MessageRetentionPeriod, ApproximateAgeOfOldestMessage as alarm",
    ),
    "open-transaction": Remedy(
        "Keep transactions short, and their timeout no longer than readers may wait: a crashed producer does not end "
        "its transactions.",
        "transactions",
        "transactional: messages, timeout_ms",
        "transaction.timeout.ms, transaction.max.timeout.ms, kafka-transactions.sh find-hanging",
    ),
    "retries": Remedy(
        "Allow fewer attempts: those after the first hardly ever helped.",
        "poison-message",
        "max_attempts",
        "group.share.delivery.count.limit",
        "delivery-limit",
        "maxReceiveCount in RedrivePolicy",
    ),
    "expired-leases": Remedy(
        "Make the lease longer than the longest piece of work, or extend it during the work; look for workers that "
        "stopped.",
        "work-queue",
        "lease_ms",
        "share.record.lock.duration.ms, max.poll.interval.ms",
        "consumer_timeout",
        "VisibilityTimeout, ChangeMessageVisibility",
    ),
    "outage": Remedy(
        "Detect a missing member sooner, and let one that comes back keep its place.",
        "long-pause",
        "session_timeout_ms, heartbeat_interval_ms, static",
        "session.timeout.ms, heartbeat.interval.ms, group.instance.id",
        "heartbeat, single-active-consumer",
    ),
    "rebalance": Remedy(
        "Let members keep the partitions that need not move, and give members that restart their old place.",
        "range-versus-sticky",
        "assignor: cooperative-sticky, static",
        "group.protocol=consumer or partition.assignment.strategy, group.instance.id",
        "single-active-consumer",
    ),
    "growing": Remedy(
        "Add readers, speed up the work, or reduce the input: at these rates, it never drains.",
        "lag-and-catch-up",
        "count of consumers or workers, partitions",
        "num.partitions and more members of the group",
        "more consumers, prefetch",
        "more receivers, MaxNumberOfMessages",
    ),
    "sharing": Remedy(
        "First spread the load (keys, partitions): some readers had time to spare, and additional ones would, too.",
        "load-balancing",
        "key of the producer, partitioner, assignor",
        "the record's key, partition.assignment.strategy",
        "prefetch",
        "MaxNumberOfMessages",
    ),
    "behind": Remedy(
        "Have spare readers for the peak, because all of them were busy when it fell behind; set an alarm on the lag.",
        "lag-and-catch-up",
        "count of consumers or workers",
        "more members of the group, records-lag-max as alarm",
        "more consumers, messages_ready as alarm",
        "more receivers, ApproximateAgeOfOldestMessage as alarm",
    ),
    "slow-reader": Remedy(
        "Give it fewer partitions or quicker work, or remove it: the others have time to spare.",
        "load-balancing",
        "processing, max_poll_messages, assignor",
        "max.poll.records, partition.assignment.strategy",
        "prefetch",
        "MaxNumberOfMessages",
    ),
    "partition-limit": Remedy(
        "A partition has one reader in a group, so members beyond the number of partitions have nothing to do. Add "
        "partitions before members; keys then move to other partitions.",
        "partitions-and-keys",
        "partitions",
        "kafka-topics.sh --alter --partitions, or a share group",
        "partitions of a super stream; classic and quorum queues have no such limit",
        "more values of MessageGroupId; standard queues have no such limit",
    ),
    "hot-key": Remedy(
        "If order allows, split the key (a suffix, or a finer key): more partitions or members do not help.",
        "hot-key",
        "key of the producer, partitioner",
        "the record's key, partitioner.class",
        "routing key of a consistent-hash exchange",
        "MessageGroupId",
    ),
    "skew": Remedy(
        "Choose a key with more values, or none if order does not matter.",
        "partitions-and-keys",
        "key of the producer, partitioner, partitions",
        "the record's key, partitioner.class",
        "routing key of a consistent-hash exchange",
        "MessageGroupId",
    ),
    "prefetch": Remedy(
        "Let each worker prefetch more, so that the next message is ready when one is done.",
        "load-balancing",
        "prefetch",
        "max.poll.records, fetch.min.bytes",
        "basic.qos prefetch_count",
        "MaxNumberOfMessages, WaitTimeSeconds",
    ),
    "rate-limit": Remedy(
        "Raise the limit: the readers had time to spare.",
        "rate-limits",
        "rate_per_s, burst",
        "producer_byte_rate, request_percentage",
    ),
    "blocked": Remedy(
        "Make the readers quicker, or add more: they were busy all the time. More room only delays the waiting.",
        "backpressure-policies",
        "processing, count, policy",
        "buffer.memory, max.block.ms",
        "max-length, overflow",
    ),
    "turned-away": Remedy(
        "Read more quickly, because the readers were busy all the time, or make the producer wait and retry.",
        "backpressure-policies",
        "max_messages, policy, retry_ms",
        "buffer.memory, max.block.ms, delivery.timeout.ms",
        "max-length, overflow",
    ),
    "full-disk": Remedy(
        "Keep less data or add disk space, and watch how much is free: a broker with a full disk accepts nothing.",
        "full-disk",
        "retention_bytes, retention_ms",
        "retention.bytes, retention.ms, log.dirs",
        "disk_free_limit, max-length-bytes",
        "MessageRetentionPeriod",
    ),
    "schema": Remedy(
        "Fix the producer, or register a schema version that allows what it sends.",
        "schema-evolution",
        "schema, compatibility",
        "compatibility of the schema registry, auto.register.schemas",
    ),
    "idle": Remedy(
        "Give it work or remove it.",
        "partitions-and-keys",
        "group of the consumer, partitions",
        "group.id, num.partitions",
        "consumers of the queue",
        "receivers of the queue",
    ),
    "busy": Remedy(
        "It has no capacity to spare: any peak turns into lag. Add another, or make the work shorter.",
        "load-balancing",
        "count, processing",
        "more members of the group, max.poll.records",
        "more consumers, prefetch",
        "more receivers",
    ),
    "repeats": Remedy(
        "Readers must be able to handle a message twice; if they cannot, commit together with the effect.",
        "at-most-or-at-least-once",
        "commit: with_effect",
        "isolation.level, enable.idempotence, transactional.id",
        "publisher confirms, message-id",
        "MessageDeduplicationId",
    ),
}


def remedy_of(finding: Finding) -> Remedy | None:
    """What to do about `finding`; if another finding explains it, the remedy of that one."""
    known = REMEDIES.get(finding.explained_by or finding.kind)
    return known._replace(advice=finding.advice) if known and finding.advice else known
