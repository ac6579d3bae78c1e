"""Every table that a report writes: what its rows are, and of each column the unit and the meaning.

It is written beside the tables as `schema.md`, and into each field of a Parquet file as `unit` and `meaning`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    import pyarrow as pa

MOMENT: Final = "ns of session time"
AT: Final = "_at"  # ends the name of a column that has a moment as time of day
_NS, _MESSAGES, _EVENTS, _BYTES, _PER_S, _SHARE, _NONE = "ns", "messages", "events", "bytes", "1/s", "0 to 1", ""


class Meaning(NamedTuple):
    """`unit` is "" for names and words."""

    unit: str
    words: str


#: What a row is.
ROWS: Final = {
    "totals": "One total of the recording.",
    "reconciliation": "One total next to the broker's own count of it.",
    "recording": "One range of event numbers with gaps or repeats.",
    "audit": "One rule that messages must follow.",
    "audit_list": "One message, or run of messages, that broke a rule.",
    "deleted_unread": "One partition that lost messages before a group got them.",
    "throughput": "One series (a topic, partition, producer or consumer) in one time bucket.",
    "throughput_series": "One series over the whole time.",
    "latency": "One measure over all messages.",
    "latency_by_group": "One measure of one group or queue on one topic.",
    "latency_over_time": "One measure in one time bucket.",
    "latency_curve": "One measure and duration, exact to half a percent.",
    "latency_heat": "One measure, time bucket and range of durations, eight to a decade.",
    "lag": "One partition of one group at the end of one time bucket.",
    "lag_series": "One partition of one group over the whole time.",
    "groups": "One group or queue.",
    "consumers": "One client of one group or queue.",
    "consumers_over_time": "One client of one group or queue in one time bucket.",
    "queues": "One queue at the end of one time bucket.",
    "leases": "One worker of one queue.",
    "rebalances": "One rebalance of one group.",
    "unserved": "One partition that nobody read for a while.",
    "ownership": "One span in which a client owned a partition.",
    "share_groups": "One share group or subscription of one topic.",
    "transactions": "One transactional id.",
    "transaction_list": "One transaction; those open longest.",
    "stable_waits": "One partition that a group could not read further because a transaction was open.",
    "redeliveries": "One attempt (first, second, ...) of one group or queue on one topic.",
    "dead_letters": "One cause of dead letters in one group or queue.",
    "dead_letter_keys": "One key of dead letters in one group or queue.",
    "dead_letter_list": "One dead letter.",
    "dead_letters_over_time": "One group or queue in one time bucket with new or redriven dead letters.",
    "backpressure": "One time that a producer was blocked.",
    "backpressure_series": "One topic or queue over the whole time.",
    "backpressure_over_time": "One topic or queue in one time bucket; quiet ones are left out.",
    "blockers": "One producer, place and reason for being held back.",
    "refusals": "One place in messages that a schema refused.",
    "partitions": "One partition of one topic.",
    "hot_keys": "One of the ten most frequent keys of a topic.",
    "markers": "One fault, action, or start or stop of a client.",
    "hues": "One flow or reader, in order of appearance.",
    "cost": "One figure that the program measured about itself.",
    "effects": "One fault or action, with figures from before and after.",
    "findings": "One finding, the greatest harm first.",
    "assertions": "One assertion.",
    "runs": "One session.",
    "comparison": "One figure of one session beside that of the first.",
    "trends": "One figure of one scenario over its runs.",
}
#: By the name of a column, unless overridden below.
COLUMNS: Final = {
    "name": Meaning(_NONE, "its name"),
    "session": Meaning(_NONE, "the session"),
    "recorded": Meaning(_MESSAGES, "counted in the recording"),
    "summary": Meaning(_MESSAGES, "counted by the broker"),
    "difference": Meaning(_MESSAGES, "recorded less summary"),
    "equal": Meaning(_NONE, "whether both counts are the same"),
    "first_seq": Meaning(_NONE, "first event number of the stretch"),
    "last_seq": Meaning(_NONE, "last event number of the stretch"),
    "missing": Meaning(_EVENTS, "missing numbers"),
    "doubled": Meaning(_EVENTS, "numbers that occur more than once"),
    "from_ns": Meaning(MOMENT, "its beginning"),
    "to_ns": Meaning(MOMENT, "its end"),
    "check": Meaning(_NONE, "the rule"),
    "messages": Meaning(_MESSAGES, "how many"),
    "explained": Meaning(_MESSAGES, "those explained by a reset, a user's action or a gap in the observation"),
    "at_most": Meaning(_NONE, "whether compaction may have removed some of them before"),
    "first_offset": Meaning(_NONE, "offset of the first"),
    "last_offset": Meaning(_NONE, "offset of the last"),
    "ok": Meaning(_NONE, "whether no message broke the rule without a reason"),
    "group": Meaning(_NONE, "group or queue"),
    "topic": Meaning(_NONE, "topic or queue"),
    "partition": Meaning(_NONE, "number of the partition"),
    "near_offset": Meaning(_NONE, "the first message is at most 63 offsets behind this one"),
    "offset": Meaning(_NONE, "offset in the partition"),
    "key": Meaning(_NONE, "key of the message as text, or 0x and hexadecimal digits; null if it has none"),
    "published_ns": Meaning(MOMENT, "when it was published; null if that is not in the recording"),
    "happened_ns": Meaning(MOMENT, "when the rule was broken"),
    "story": Meaning(_NONE, "everything that happened to it, in order"),
    "dimension": Meaning(_NONE, "what the series is of: topic, partition, producer or consumer"),
    "start_ns": Meaning(MOMENT, "beginning of the time bucket; the last one includes the very end"),
    "bytes": Meaning(_BYTES, "size of the messages"),
    "messages_per_s": Meaning(_PER_S, "messages a second"),
    "bytes_per_s": Meaning("bytes/s", "bytes a second"),
    "peak_messages_per_s": Meaning(
        _PER_S,
        "messages per second in the busiest time bucket except the last, which may be shorter or include the end",
    ),
    "measure": Meaning(_NONE, "delivered (first delivery), acknowledged, replayed, replayed and acknowledged"),
    "mean_ns": Meaning(_NS, "mean"),
    "p50_ns": Meaning(_NS, "median, publish to first delivery"),
    "p90_ns": Meaning(_NS, "90th percentile"),
    "p99_ns": Meaning(_NS, "99th percentile"),
    "p999_ns": Meaning(_NS, "99.9th percentile"),
    "max_ns": Meaning(_NS, "longest, exact"),
    "duration_ns": Meaning(_NS, "the duration"),
    "share": Meaning(_SHARE, "share of the messages"),
    "row": Meaning(_NONE, "number of the range of durations"),
    "end_offset": Meaning(_NONE, "offset after the last message"),
    "committed": Meaning(_NONE, "committed offset; null before the first commit"),
    "lag": Meaning(
        _MESSAGES,
        "end offset minus committed offset, or minus the offset where the group began; null if not known",
    ),
    "members": Meaning("clients", "that received something"),
    "most_attempts": Meaning(_NONE, "highest delivery number"),
    "max_unfinished": Meaning(_MESSAGES, "maximum number waiting or in flight at the end of a time bucket"),
    "last_unfinished": Meaning(_MESSAGES, "the same at the end"),
    "transactional_id": Meaning(_NONE, "transactional id"),
    "aborted": Meaning("transactions", "by their producer"),
    "timed_out": Meaning("transactions", "that the broker aborted because they timed out"),
    "fenced": Meaning("transactions", "that ended in another way, such as by a newer producer"),
    "open": Meaning("transactions", "without an end"),
    "mean_open_ns": Meaning(_NS, "mean time from beginning to end"),
    "longest_open_ns": Meaning(_NS, "longest such time"),
    "timeout_ns": Meaning(_NS, "timeout that the producer requested"),
    "open_ns": Meaning(_NS, "from its beginning to its end"),
    "waited_ns": Meaning(_NS, "how long the group could read nothing more"),
    "last_lag": Meaning(_MESSAGES, "lag at the end"),
    "max_lag": Meaning(_MESSAGES, "highest lag at the end of a time bucket"),
    "max_lag_ns": Meaning(MOMENT, "when that was"),
    "mean_lag": Meaning(_MESSAGES, "mean of the lag at the ends of time buckets"),
    "clients": Meaning("clients", "how many"),
    "delivered": Meaning(_MESSAGES, "deliveries"),
    "acknowledged": Meaning(_MESSAGES, "acknowledged"),
    "repeated": Meaning(_MESSAGES, "repeated deliveries"),
    "dead_lettered": Meaning(_MESSAGES, "died"),
    "max_behind": Meaning(_MESSAGES, "highest lag of all partitions together, or maximum number waiting in the queue"),
    "last_behind": Meaning(_MESSAGES, "the same at the end"),
    "rebalances": Meaning("rebalances", "how many began"),
    "changed": Meaning("partitions", "new owners, summed"),
    "unserved_ns": Meaning("ns x partitions", "total time that partitions were not read"),
    "utilisation": Meaning(_SHARE, "share of its time in which it held a message"),
    "client": Meaning(_NONE, "producer, consumer or worker"),
    "there_ns": Meaning(_NS, "how long it was present, not counting times when it had stopped, crashed or left"),
    "with_partitions_ns": Meaning(_NS, "how long it had a partition; null if none are assigned"),
    "busy_ns": Meaning(_NS, "how long it held a message"),
    "idle_ns": Meaning(_NS, "how long it held none"),
    "outside": Meaning(_NONE, "whether it is an external program, whose activity is not known"),
    "in_hand": Meaning(_MESSAGES, "held on average"),
    "longest_idle_ns": Meaning(_NS, "longest time without holding a message"),
    "queue": Meaning(_NONE, "queue"),
    "waiting": Meaning(_MESSAGES, "waiting"),
    "in_flight": Meaning(_MESSAGES, "leased"),
    "leased": Meaning("leases", "how many began"),
    "nacked": Meaning(_MESSAGES, "refused by their reader"),
    "released": Meaning(_MESSAGES, "given back"),
    "expired": Meaning(_MESSAGES, "that expired"),
    "extended": Meaning("extensions", "how often a lease was extended"),
    "held_ns": Meaning(_NS, "how long, summed"),
    "mean_held_ns": Meaning(_NS, "mean length of a lease"),
    "started_ns": Meaning(MOMENT, "beginning of the rebalance"),
    "ended_ns": Meaning(MOMENT, "its end, or that of the session"),
    "pause_ns": Meaning(_NS, "how long it lasted"),
    "finished": Meaning(_NONE, "whether it ended before the session"),
    "cause": Meaning(_NONE, "why, in the broker's words"),
    "generation_before": Meaning(_NONE, "generation before"),
    "generation_after": Meaning(_NONE, "generation after; null if it did not end"),
    "partitions": Meaning("partitions", "of the group"),
    "moved": Meaning("partitions", "with another owner than before"),
    "kept": Meaning("partitions", "with the same owner as before"),
    "stopped": Meaning("partitions", "revoked from their owner in the meantime"),
    "owner_before": Meaning(_NONE, "previous reader"),
    "owner_after": Meaning(_NONE, "next reader; null if none"),
    "revoked_ns": Meaning(MOMENT, "when it was taken from its owner"),
    "assigned_ns": Meaning(MOMENT, "when it was given to the next reader; null if never"),
    "published": Meaning(_MESSAGES, "published"),
    "generation": Meaning(_NONE, "generation of the group"),
    "attempt": Meaning(_NONE, "number of the delivery, from 1"),
    "lease_expired": Meaning(_MESSAGES, "whose lease expired"),
    "redriven": Meaning(_MESSAGES, "sent back to where they came from"),
    "recovered": Meaning(_MESSAGES, "acknowledged after that"),
    "died_again": Meaning(_MESSAGES, "dead-lettered again afterwards"),
    "first_ns": Meaning(MOMENT, "the first"),
    "last_ns": Meaning(MOMENT, "the last"),
    "time_ns": Meaning(MOMENT, "when"),
    "bin": Meaning(_NONE, "topic of the dead letters"),
    "bin_offset": Meaning(_NONE, "offset there"),
    "redriven_ns": Meaning(MOMENT, "when it was sent back; null if never"),
    "fate": Meaning(_NONE, "what happened to it afterwards"),
    "fate_ns": Meaning(MOMENT, "when"),
    "blocked_ns": Meaning(_NS, "total time that producers were blocked"),
    "ended": Meaning(_NONE, "how it ended"),
    "blocks": Meaning("times", "how often a producer was blocked"),
    "longest_ns": Meaning(_NS, "longest time blocked"),
    "rejected": Meaning(_MESSAGES, "refused by the broker"),
    "dropped": Meaning(_MESSAGES, "dropped on arrival"),
    "evicted": Meaning(_MESSAGES, "evicted to make room"),
    "reason": Meaning(_NONE, "what was full or limited"),
    "blocker": Meaning(_NONE, 'reader that was furthest behind; "" if none was named'),
    "subject": Meaning(_NONE, "subject of the schema"),
    "place": Meaning(_NONE, "where in the message, as a JSON pointer"),
    "outcome": Meaning(_NONE, "what happened to the messages"),
    "producers": Meaning("producers", "number of producers that sent such messages"),
    "keys_not_read": Meaning(_MESSAGES, "in batches, whose keys are not recorded"),
    "times_even": Meaning("times", "its messages, as a multiple of an even share"),
    "rank": Meaning(_NONE, "place among the keys of the topic, from 1"),
    "share_of_partition": Meaning(_SHARE, "share of the partition's messages"),
    "share_of_topic": Meaning(_SHARE, "share of the topic's messages"),
    "kind": Meaning(_NONE, "kind of event"),
    "value": Meaning("see unit", "the figure"),
    "unit": Meaning(_NONE, "unit of the value"),
    "scope": Meaning(_NONE, 'group or queue that it is looked at in; "" for all'),
    "window_ns": Meaning(_NS, "length of the time examined before and after"),
    "published_before": Meaning(_PER_S, "published per second before, on all topics"),
    "published_after": Meaning(_PER_S, "published per second after, on all topics"),
    "delivered_before": Meaning(_PER_S, "delivered per second before"),
    "delivered_after": Meaning(_PER_S, "delivered per second after"),
    "p99_before_ns": Meaning(_NS, "99th percentile before"),
    "p99_after_ns": Meaning(_NS, "99th percentile after"),
    "behind_before": Meaning(_MESSAGES, "lag and waiting messages just before"),
    "behind_after": Meaning(_MESSAGES, "their highest sum after"),
    "scenario": Meaning(_NONE, "scenario"),
    "seed": Meaning(_NONE, "seed of the random numbers"),
    "started_at": Meaning("ISO 8601, UTC", "when the recording began"),
    "recorded_events": Meaning(_EVENTS, "events that were recorded"),
    "length_ns": Meaning(_NS, "session time covered"),
    "redelivered": Meaning(_MESSAGES, "repeated deliveries"),
    "turned_away": Meaning(_MESSAGES, "refused, dropped, evicted or expired"),
    "published_per_s": Meaning(_PER_S, "published a second"),
    "delivered_per_s": Meaning(_PER_S, "delivered a second"),
    "acknowledged_p99_ns": Meaning(_NS, "99th percentile, publish to acknowledgement"),
    "rebalancing_ns": Meaning(_NS, "total time in rebalances"),
    "faults": Meaning("faults", "how many"),
    "user_actions": Meaning("actions", "how many"),
    "events": Meaning(_EVENTS, "how many"),
    "better": Meaning(_NONE, "whether more or less of it is better; null if neither is"),
    "base": Meaning("as the measure", "value of the first session"),
    "change": Meaning("share of the base", "difference, as a share of what it was"),
    "verdict": Meaning(_NONE, "better, worse, same, noise (may be chance) or different (not judged)"),
    "runs": Meaning("sessions", "how many"),
    "first": Meaning("as the measure", "value of the first run"),
    "last": Meaning("as the measure", "value of the last run"),
    "median": Meaning("as the measure", "median of the runs"),
    "least": Meaning("as the measure", "minimum of the runs"),
    "most": Meaning("as the measure", "maximum of the runs"),
    "per_run": Meaning("change per run, in the unit of the measure", "slope of a straight line through the runs"),
    "steady": Meaning(_SHARE, "share of the variation that the line explains"),
    "odd_session": Meaning(_NONE, "number of a run that is an outlier; null if none"),
    "odd_name": Meaning(_NONE, "its name"),
    "odd_value": Meaning("as the measure", "its value"),
    "number": Meaning(_NONE, "number of its colour, from 0"),
    "level": Meaning(_NONE, "bad, warn, info or good"),
    "headline": Meaning(_NONE, "what happened"),
    "detail": Meaning(_NONE, "more of it"),
    "section": Meaning(_NONE, "part of the report that shows it"),
    "why": Meaning(_NONE, "reason, as far as the data show"),
    "harm": Meaning(_NONE, "messages rejected or lost, dead letters, waiting messages and clients"),
    "harm_s": Meaning("s", "the same as one number: seconds of waiting; a message that got nowhere counts as 60"),
    "advice": Meaning(_NONE, "what to do"),
    "setting": Meaning(_NONE, "the setting in a scenario"),
    "kafka": Meaning(_NONE, "the same in Apache Kafka"),
    "rabbitmq": Meaning(_NONE, "the same in RabbitMQ"),
    "sqs": Meaning(_NONE, "the same in Amazon SQS"),
    "assertion": Meaning(_NONE, "what was asserted"),
    "holds": Meaning(_NONE, "whether it holds"),
    "found": Meaning(_NONE, "what the figures were"),
}
#: Where a column means something else than elsewhere.
ELSEWHERE: Final = {
    ("latency_heat", "from_ns"): Meaning(_NS, "shortest duration of the range"),
    ("latency_curve", "share"): Meaning(_SHARE, "share of the messages that took no longer"),
    ("throughput", "name"): Meaning(_NONE, "the topic, number of the partition, producer or consumer"),
    ("throughput_series", "name"): Meaning(_NONE, "the topic, number of the partition, producer or consumer"),
    ("consumers_over_time", "in_hand"): Meaning(_MESSAGES, "held on average in the bucket"),
    ("audit_list", "explained"): Meaning(_NONE, "whether a reset, an action or a gap in the observation explains it"),
    ("leases", "in_flight"): Meaning(_MESSAGES, "leased at once on average"),
    ("leases", "acknowledged"): Meaning("leases", "that ended with an acknowledgement"),
    ("leases", "expired"): Meaning("leases", "that expired"),
    ("leases", "held_ns"): Meaning(_NS, "length of all its leases, summed"),
    ("rebalances", "cause"): Meaning(_NONE, "why it began"),
    ("unserved", "from_ns"): Meaning(MOMENT, "when its owner could last read"),
    ("unserved", "to_ns"): Meaning(
        MOMENT, "first fetch of the next owner; `assigned_ns` if nothing was waiting for it; or the end"
    ),
    ("unserved", "pause_ns"): Meaning(_NS, "how long nobody read it"),
    ("unserved", "published"): Meaning(_MESSAGES, "published to it in the meantime"),
    ("unserved", "cause"): Meaning(_NONE, 'crash, pause or silence of its owner; "" if none of them'),
    ("consumers", "to_ns"): Meaning(MOMENT, "when it left, or the end"),
    ("dead_letters", "waiting"): Meaning(_MESSAGES, "redriven and not read yet"),
    ("dead_letter_keys", "waiting"): Meaning(_MESSAGES, "redriven and not read yet"),
    ("backpressure", "ended"): Meaning(_NONE, "whether it ended before the session did"),
    ("backpressure", "blocked_ns"): Meaning(_NS, "how long"),
    ("backpressure_over_time", "blocked_ns"): Meaning("ns x producers", "total time blocked, over all producers"),
    ("transactions", "committed"): Meaning("transactions", "by their producer"),
    ("transaction_list", "outcome"): Meaning(
        _NONE, "committed, aborted, timed out, open, or another reason for its end"
    ),
    ("transaction_list", "partitions"): Meaning("partitions", "in which it had messages; null if it did not end"),
    ("stable_waits", "outcome"): Meaning(_NONE, "how the transaction ended"),
    ("stable_waits", "messages"): Meaning(_MESSAGES, "beyond the last stable offset at the end"),
    ("hues", "kind"): Meaning(_NONE, "flow (topic, queue, group) or reader"),
    ("cost", "name"): Meaning(_NONE, "what was measured"),
    ("comparison", "session"): Meaning(_NONE, "number of the session, from 0"),
    ("comparison", "measure"): Meaning(_NONE, "the figure, a column of runs"),
    ("comparison", "value"): Meaning("as the measure", "value of this session"),
    ("comparison", "difference"): Meaning("as the measure", "value less base"),
    ("comparison", "noise"): Meaning("as the measure", "differences up to this are not judged: a tenth, or chance"),
    ("trends", "measure"): Meaning(_NONE, "the figure, a column of runs"),
    ("runs", "session"): Meaning(_NONE, "number of the session, from 0"),
    ("runs", "moved"): Meaning("partitions", "total number that changed owner"),
    ("runs", "duration_ns"): Meaning(_NS, "length of the session"),
    ("findings", "kind"): Meaning(_NONE, "kind of finding"),
    ("findings", "scenario"): Meaning(_NONE, "scenario that shows it"),
}


def meaning(table: str, column: str) -> Meaning:
    """The meaning of a column. Raises KeyError if there is none."""
    if column.endswith(AT) and column not in COLUMNS:
        of = meaning(table, f"{column.removesuffix(AT)}_ns")
        return Meaning("time of day, UTC", f"{of.words}, on the clock: the beginning of the recording and session time")
    return ELSEWHERE.get((table, column)) or COLUMNS[column]


def moments(table: str, columns: Iterable[str]) -> list[str]:
    return [name for name in columns if name.endswith("_ns") and meaning(table, name).unit == MOMENT]


def described(table: pa.Table, name: str) -> pa.Table:
    import pyarrow as pa

    fields = []
    for field in table.schema:
        unit, words = meaning(name, field.name)
        fields.append(field.with_metadata({"unit": unit, "meaning": words}))
    return table.cast(pa.schema(fields, {"rows": ROWS[name]}))


def document(tables: Mapping[str, pa.Table]) -> str:
    """Markdown: each table with what its rows are, and each of its columns with type, unit and meaning."""
    parts = [
        "# The tables of this report",
        "",
        'In CSV, nothing between two commas is null, and `""` an empty text (DuckDB: `allow_quoted_nulls = false`). '
        f"Session time begins with 0; a column that ends in `{AT}` is the same moment as time of day in UTC: the "
        "beginning of the recording and session time. In virtual time that is what a clock would have shown. In "
        "Parquet every field has unit and meaning as metadata.",
    ]
    for name, table in sorted(tables.items()):
        parts += ["", f"## {name}", "", ROWS[name], "", "| column | type | unit | meaning |", "|---|---|---|---|"]
        for field in table.schema:
            unit, words = meaning(name, field.name)
            parts.append(f"| {field.name} | {field.type} | {unit} | {words} |")
    return "\n".join(parts) + "\n"
