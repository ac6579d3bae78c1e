"""Limits, each with the reason for its value."""

from __future__ import annotations

MAX_NAME_CHARS = 249  # Kafka's: the name plus "-" and a partition number fits a file name
MAX_PARTITIONS = 10_000  # the largest assignment that is computed in about 15 ms
MAX_MESSAGE_BYTES = 1_048_588  # Kafka's default of message.max.bytes
MAX_HEADERS = 1_000  # of a message
MAX_BATCH_RECORDS = 1_000  # in one batch: reading one message decodes at most this many
MAX_COMMIT_METADATA_BYTES = 4_096  # Kafka's default of offset.metadata.max.bytes
MAX_FETCH_BYTES = 8 * 1_048_576  # of keys and values in one fetch, so that a poll of large messages fits into memory
MAX_PARTITION_FETCH_BYTES = 1_048_576  # of these, from one partition; Kafka's default of max.partition.fetch.bytes
MAX_MEMBERS = 100_000  # per group; joins are coalesced, so only memory limits it
SEGMENT_BYTES = 64 * 1_048_576  # rolled at this size; one segment is recovered at a time
INDEX_INTERVAL_BYTES = 4_096  # Kafka's: one sparse index entry per this many log bytes
MAX_GROUP_METADATA_BYTES = 1_048_576  # a subscription or an assignment: 10,000 partitions take 40 kB
MAX_METADATA_BYTES = 64 * 1_048_576  # of all members of all groups: 1,600 of the largest subscriptions
MAX_ASSIGNORS = 32  # that one member may offer; Kafka ships four
UNDO_WINDOW_MS = 5 * 60_000  # of session time in which a purge, a redrive or a deletion can be undone
MAX_ATTEMPTS = 1_000  # deliveries of one message; more is a loop, not a retry
MAX_WAIT_MS = 7 * 86_400_000  # a week: of a lease (extend it for more), a retry's delay, ageing, waiting for room
MAX_TTL_MS = 36_525 * 86_400_000  # a century: its end, in nanoseconds, fits into 64 bits
MAX_ATTEMPTS_KEPT = 32  # the last attempts stored with a dead letter, in under 4 KiB
MAX_CAUSE_CHARS = 1_000  # of the cause of a failure; tracebacks belong into a log
MAX_ABOUT_CHARS = 1_000  # of an error's details, which may contain names from outside
MAX_OWN_HEADER_BYTES = 65_536  # that the broker may add to a message, mostly to a dead letter, on top of its size limit
MAX_PRIORITIES = 256  # levels of a queue; each is a partition, and a take visits all
MAX_SCHEMA_BYTES = 262_144  # of a schema's text
MAX_PROTOBUF_BYTES = 65_536  # of a schema's text in Protobuf's language; reading one this large takes about a second
MAX_SCHEMA_VALUES = 5_000  # objects, lists and scalars in a schema; checking one this large takes about two seconds
MAX_SCHEMA_DEPTH = 64  # of nesting in a schema's text; checking a deeper one would exceed the recursion limit
MAX_SCHEMAS = 10_000  # in one registry; each is kept parsed
MAX_VALUE_DEPTH = 100  # of nesting in a payload; fastavro crashes at some thousands
MAX_VALUES = 1_000_000  # objects, lists and scalars in one payload
MAX_PATTERN_CHARS = 1_000  # of a regular expression in a schema
MAX_VALIDATION_STEPS = 250_000  # checks of one payload: a few seconds at worst
MAX_COMPARISON_STEPS = 20_000  # of two schemas: about a second
MAX_CHECK_STEPS = 200_000  # of a schema with all versions before it
MAX_PROBLEMS = 20  # reported for one payload or schema
