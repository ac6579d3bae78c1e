"""What to do, by the kind of a finding: the settings by their names here and elsewhere, and the scenario to see it in.

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
        "Mend what the cause names, try one of the messages by hand, then redrive the rest. Another attempt helps none "
        "of them: fewer attempts free the workers sooner.",
        "poison-message",
        "max_attempts",
        "group.share.delivery.count.limit, errors.deadletterqueue.topic.name",
        "delivery-limit, dead-letter-exchange",
        "maxReceiveCount in RedrivePolicy",
    ),
    "dead-letters": Remedy(
        "Look at the most frequent cause first; redrive when it is mended.",
        "poison-message",
        "max_attempts, retry",
        "group.share.delivery.count.limit, errors.deadletterqueue.topic.name",
        "delivery-limit, dead-letter-exchange",
        "maxReceiveCount in RedrivePolicy, StartMessageMoveTask",
    ),
    "deleted-unread": Remedy(
        "Keep messages for longer than a reader may be behind or away, and raise an alarm on the lag before that.",
        "retention",
        "retention_ms, retention_bytes",
        "retention.ms, retention.bytes, records-lag-max as alarm",
        "max-age, max-length-bytes of a stream",
        "MessageRetentionPeriod, ApproximateAgeOfOldestMessage as alarm",
    ),
    "open-transaction": Remedy(
        "Let transactions be short, and their time-out no longer than readers may wait: who has died ends none.",
        "transactions",
        "transactional: messages, timeout_ms",
        "transaction.timeout.ms, transaction.max.timeout.ms, kafka-transactions.sh find-hanging",
    ),
    "retries": Remedy(
        "Allow fewer attempts: those after the first helped hardly any message.",
        "poison-message",
        "max_attempts",
        "group.share.delivery.count.limit",
        "delivery-limit",
        "maxReceiveCount in RedrivePolicy",
    ),
    "expired-leases": Remedy(
        "Make the lease longer than the longest piece of work, or extend it meanwhile; look for workers that stopped.",
        "work-queue",
        "lease_ms",
        "share.record.lock.duration.ms, max.poll.interval.ms",
        "consumer_timeout",
        "VisibilityTimeout, ChangeMessageVisibility",
    ),
    "outage": Remedy(
        "Notice a member that is gone sooner, and let one that comes back keep its place.",
        "long-pause",
        "session_timeout_ms, heartbeat_interval_ms, static",
        "session.timeout.ms, heartbeat.interval.ms, group.instance.id",
        "heartbeat, single-active-consumer",
    ),
    "rebalance": Remedy(
        "Let members keep the partitions that need not move, and give those that restart their old place.",
        "range-versus-sticky",
        "assignor: cooperative-sticky, static",
        "group.protocol=consumer or partition.assignment.strategy, group.instance.id",
        "single-active-consumer",
    ),
    "growing": Remedy(
        "More readers, quicker work, or less coming in: as it is, it never drains.",
        "lag-and-catch-up",
        "count of consumers or workers, partitions",
        "num.partitions and more members of the group",
        "more consumers, prefetch",
        "more receivers, MaxNumberOfMessages",
    ),
    "sharing": Remedy(
        "Share the load out first (keys, partitions): some readers had time left, and more of them would too.",
        "load-balancing",
        "key of the producer, partitioner, assignor",
        "the record's key, partition.assignment.strategy",
        "prefetch",
        "MaxNumberOfMessages",
    ),
    "behind": Remedy(
        "A reserve of readers for the peak, for all of them were busy when it fell behind; an alarm on the lag.",
        "lag-and-catch-up",
        "count of consumers or workers",
        "more members of the group, records-lag-max as alarm",
        "more consumers, messages_ready as alarm",
        "more receivers, ApproximateAgeOfOldestMessage as alarm",
    ),
    "slow-reader": Remedy(
        "Give it fewer partitions or quicker work, or take it out: the others have time left.",
        "load-balancing",
        "processing, max_poll_messages, assignor",
        "max.poll.records, partition.assignment.strategy",
        "prefetch",
        "MaxNumberOfMessages",
    ),
    "partition-limit": Remedy(
        "A partition has one reader in a group: more members than partitions wait in vain. Add partitions before "
        "members; keys then move to others.",
        "partitions-and-keys",
        "partitions",
        "kafka-topics.sh --alter --partitions, or a share group",
        "partitions of a super stream; classic and quorum queues have no such limit",
        "more values of MessageGroupId; standard queues have no such limit",
    ),
    "hot-key": Remedy(
        "Split the key where order allows it (a suffix, or a finer key): more partitions or members do not help.",
        "hot-key",
        "key of the producer, partitioner",
        "the record's key, partitioner.class",
        "routing key of a consistent-hash exchange",
        "MessageGroupId",
    ),
    "skew": Remedy(
        "Choose a key with more values, or none where order does not matter.",
        "partitions-and-keys",
        "key of the producer, partitioner, partitions",
        "the record's key, partitioner.class",
        "routing key of a consistent-hash exchange",
        "MessageGroupId",
    ),
    "prefetch": Remedy(
        "Let each worker take more ahead, so that the next message is there when one is done.",
        "load-balancing",
        "prefetch",
        "max.poll.records, fetch.min.bytes",
        "basic.qos prefetch_count",
        "MaxNumberOfMessages, WaitTimeSeconds",
    ),
    "rate-limit": Remedy(
        "Raise the limit: the readers had time left.",
        "rate-limits",
        "rate_per_s, burst",
        "producer_byte_rate, request_percentage",
    ),
    "blocked": Remedy(
        "Make the readers quicker, or add some: they were busy all the time. More room only delays the wait.",
        "backpressure-policies",
        "processing, count, policy",
        "buffer.memory, max.block.ms",
        "max-length, overflow",
    ),
    "turned-away": Remedy(
        "Read quicker, for the readers were busy all the time, or let the producer wait and try again.",
        "backpressure-policies",
        "max_messages, policy, retry_ms",
        "buffer.memory, max.block.ms, delivery.timeout.ms",
        "max-length, overflow",
    ),
    "full-disk": Remedy(
        "Keep less, or give it more room, and watch how much is free: a broker whose disk is full takes nothing.",
        "full-disk",
        "retention_bytes, retention_ms",
        "retention.bytes, retention.ms, log.dirs",
        "disk_free_limit, max-length-bytes",
        "MessageRetentionPeriod",
    ),
    "schema": Remedy(
        "Mend the producer, or register a version of the schema that allows what it sends.",
        "schema-evolution",
        "schema, compatibility",
        "compatibility of the schema registry, auto.register.schemas",
    ),
    "idle": Remedy(
        "Put it to work or take it away.",
        "partitions-and-keys",
        "group of the consumer, partitions",
        "group.id, num.partitions",
        "consumers of the queue",
        "receivers of the queue",
    ),
    "busy": Remedy(
        "It has no reserve: any peak becomes lag. Add another, or make the work shorter.",
        "load-balancing",
        "count, processing",
        "more members of the group, max.poll.records",
        "more consumers, prefetch",
        "more receivers",
    ),
    "repeats": Remedy(
        "Whoever reads must stand a message twice; commit with the effect where it must not.",
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
