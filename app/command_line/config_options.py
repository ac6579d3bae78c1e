"""Options for the configuration of logs, flow and queues, shared by the commands that create and change things."""

from __future__ import annotations

import argparse
from typing import Any

import msgspec

from broker_core.flow.config import FlowConfig
from broker_core.log.config import LogConfig
from broker_core.queues.balancing import POLICIES
from broker_core.queues.config import FIRST_COME, QueueConfig
from broker_core.queues.retry import KINDS, RetryPolicy


def add_log(parser: argparse.ArgumentParser) -> None:
    """How messages are kept."""
    group = parser.add_argument_group("how messages are kept")
    group.add_argument("--cleanup", choices=("delete", "compact"), help="compact keeps the latest value of each key")
    group.add_argument("--retention-ms", type=int, metavar="MS")
    group.add_argument("--retention-bytes", type=int, metavar="BYTES", help="of each partition")
    group.add_argument("--message-ttl-ms", type=int, metavar="MS", help="how long a message is handed out at most")
    group.add_argument("--segment-bytes", type=int, metavar="BYTES")
    group.add_argument("--max-message-bytes", type=int, metavar="BYTES")


def add_flow(parser: argparse.ArgumentParser) -> None:
    """What holds producers back."""
    group = parser.add_argument_group("what holds producers back")
    group.add_argument("--max-messages", type=int, metavar="N", help="that the slowest reader has not finished with")
    group.add_argument("--max-bytes", type=int, metavar="BYTES")
    group.add_argument("--rate", type=float, metavar="PER_S", help="messages a second")
    group.add_argument("--policy", choices=("block", "reject", "drop_newest", "drop_oldest", "priority_evict"))


def add_queue(parser: argparse.ArgumentParser) -> None:
    """How a queue hands out messages."""
    group = parser.add_argument_group("how messages are handed out")
    group.add_argument("--lease-ms", type=float, metavar="MS", default=30_000.0)
    group.add_argument("--max-attempts", type=int, metavar="N", default=5)
    group.add_argument("--priorities", type=int, metavar="N", default=1, help="0 is the most urgent")
    group.add_argument("--ageing-ms", type=float, metavar="MS", help="a waiting message rises a level each time")
    group.add_argument(
        "--balancing",
        choices=(FIRST_COME, *POLICIES),
        default=FIRST_COME,
        help="who of those who wait gets the next message",
    )
    group.add_argument("--retry", choices=KINDS, default="none")
    group.add_argument("--retry-delay-ms", type=float, metavar="MS", default=1_000.0)


def log_of(options: argparse.Namespace, present: LogConfig) -> LogConfig | None:
    """What `add_log`'s options make of `present`; None where they say nothing. Raises INVALID_CONFIG."""
    names = ("cleanup", "retention_ms", "retention_bytes", "message_ttl_ms", "segment_bytes", "max_message_bytes")
    given = _given(options, names)
    return msgspec.structs.replace(present, **given) if given else None


def flow_of(options: argparse.Namespace) -> FlowConfig | None:
    """What `add_flow`'s options say; None where they say nothing. Raises INVALID_CONFIG."""
    given = _given(options, ("max_messages", "max_bytes", "policy"))
    if options.rate is not None:
        given["rate_per_s"] = options.rate
    return FlowConfig(**given) if given else None


def queue_of(options: argparse.Namespace) -> QueueConfig:
    """What `add_queue`'s options say. Raises INVALID_CONFIG."""
    return QueueConfig(
        lease_ms=options.lease_ms,
        max_attempts=options.max_attempts,
        priorities=options.priorities,
        ageing_ms=options.ageing_ms,
        balancing=options.balancing,
        retry=RetryPolicy(options.retry, base_ms=options.retry_delay_ms),
    )


def _given(options: argparse.Namespace, names: tuple[str, ...]) -> dict[str, Any]:
    return {name: value for name in names if (value := getattr(options, name)) is not None}
