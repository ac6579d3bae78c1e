"""Options for the configuration of logs, flow and queues, shared by the commands that create and change things.

An option that is not given is not there, so that what it means stays as it is; `none` lifts a limit.
"""

from __future__ import annotations

import argparse
from typing import Any, get_args

import msgspec

from app.cli.numbers import integer, number, or_word
from broker_core.flow.config import ANSWERS, FlowConfig
from broker_core.log.config import Cleanup, LogConfig
from broker_core.queues.balancing import POLICIES
from broker_core.queues.config import FIRST_COME, QueueConfig
from broker_core.queues.retry import RetryKind, RetryPolicy

_NONE = "none"
_WHOLE, _NUMBER = or_word(_NONE, integer), or_word(_NONE, number)
_LOG_FIELDS = (
    "cleanup",
    "retention_ms",
    "retention_bytes",
    "message_ttl_ms",
    "segment_bytes",
    "segment_ms",
    "max_message_bytes",
    "tombstone_ms",
)
_FLOW_FIELDS = ("max_messages", "max_bytes", "policy", "rate_per_s", "burst", "block_timeout_ms")
_QUEUE_FIELDS = (
    "lease_ms",
    "max_attempts",
    "balancing",
    "dead_letter_topic",
    "priorities",
    "ageing_ms",
    "durable_acks",
)
_RETRY_FIELDS = ("kind", "base_ms", "max_ms", "factor")


class _Group:
    """Options without a default."""

    def __init__(self, parser: argparse.ArgumentParser, title: str) -> None:
        self._group = parser.add_argument_group(title)

    def add(self, option: str, **more: Any) -> None:
        """See `ArgumentParser.add_argument`."""
        self._group.add_argument(option, default=argparse.SUPPRESS, **more)


def add_log(parser: argparse.ArgumentParser) -> None:
    """How messages are kept."""
    group = _Group(parser, "how messages are kept (none: no limit)")
    group.add(
        "--cleanup", choices=get_args(Cleanup), help="delete what is old, or compact: keep each key's latest value"
    )
    group.add("--retention-ms", type=_WHOLE, metavar="MS", help="how old a message gets before it may go")
    group.add(
        "--retention-bytes", type=_WHOLE, metavar="BYTES", help="how large each partition gets before the oldest go"
    )
    group.add("--message-ttl-ms", type=_WHOLE, metavar="MS", help="how long a message is handed out at most")
    group.add("--segment-bytes", type=integer, metavar="BYTES", help="how large a file gets; whole files are deleted")
    group.add("--segment-ms", type=_WHOLE, metavar="MS", help="how old a file gets before there is a new one")
    group.add("--max-message-bytes", type=integer, metavar="BYTES", help="larger messages are refused")
    group.add("--tombstone-ms", type=integer, metavar="MS", help="how long compaction keeps what deletes a key")


def add_flow(parser: argparse.ArgumentParser) -> None:
    """What holds producers back."""
    group = _Group(parser, "what holds producers back (none: no limit)")
    group.add("--max-messages", type=_WHOLE, metavar="N", help="that the slowest reader has not finished with")
    group.add("--max-bytes", type=_WHOLE, metavar="BYTES", help="that the slowest reader has not finished with")
    group.add("--rate", dest="rate_per_s", type=_NUMBER, metavar="PER_S", help="messages a second")
    group.add("--burst", type=_NUMBER, metavar="N", help="messages at once above the rate (none: a second's worth)")
    group.add("--policy", choices=tuple(ANSWERS), help=f"what happens at a limit (default: {FlowConfig().policy})")
    group.add("--block-timeout-ms", type=_NUMBER, metavar="MS", help="how long a producer waits under the policy block")


def add_queue(parser: argparse.ArgumentParser) -> None:
    """How a queue or subscription hands out messages."""
    usual = QueueConfig()
    group = _Group(parser, "how messages are handed out")
    group.add(
        "--lease-ms", type=number, metavar="MS", help=f"how long a taker may keep one (default: {usual.lease_ms:g})"
    )
    group.add(
        "--max-attempts",
        type=_WHOLE,
        metavar="N",
        help=f"deliveries before it is a dead letter (none: never; default: {usual.max_attempts})",
    )
    group.add(
        "--balancing",
        choices=(FIRST_COME, *POLICIES),
        help=f"who of those who wait gets the next message (default: {usual.balancing})",
    )
    group.add(
        "--retry",
        dest="kind",
        choices=get_args(RetryKind),
        help=f"what comes after a failure (default: {usual.retry.kind})",
    )
    group.add(
        "--retry-delay-ms",
        dest="base_ms",
        type=number,
        metavar="MS",
        help=f"before the second attempt (default: {usual.retry.base_ms:g})",
    )
    group.add(
        "--retry-max-ms",
        dest="max_ms",
        type=number,
        metavar="MS",
        help=f"before any attempt at most (default: {usual.retry.max_ms:g})",
    )
    group.add(
        "--retry-factor",
        dest="factor",
        type=number,
        metavar="X",
        help=f"by which exponential delays grow (default: {usual.retry.factor:g})",
    )
    group.add("--dead-letter-topic", metavar="NAME", help="of its bin (default: the queue's name and .dlq)")
    group.add(
        "--durable-acks", action="store_true", help="answer acknowledgements when a kill of the broker cannot undo them"
    )
    group.add(
        "--priorities",
        type=integer,
        metavar="N",
        help=f"levels; 0 is the most urgent (default: {usual.priorities})",
    )
    group.add("--ageing-ms", type=_NUMBER, metavar="MS", help="a waiting message rises a level each time")


def log_of(options: argparse.Namespace, present: LogConfig) -> LogConfig | None:
    """What `add_log`'s options make of `present`; None where they say nothing. Raises INVALID_CONFIG."""
    given = _given(options, _LOG_FIELDS)
    return msgspec.structs.replace(present, **given) if given else None


def flow_of(options: argparse.Namespace, present: FlowConfig | None = None) -> FlowConfig | None:
    """What `add_flow`'s options make of `present`; None where they say nothing. Raises INVALID_CONFIG."""
    given = _given(options, _FLOW_FIELDS)
    if given.get("rate_per_s", 0) is None:
        given.setdefault("burst", None)  # above no rate there is none
    return msgspec.structs.replace(present or FlowConfig(), **given) if given else None


def queue_of(options: argparse.Namespace) -> QueueConfig:
    """What `add_queue`'s options say. Raises INVALID_CONFIG."""
    retry = RetryPolicy(**_given(options, _RETRY_FIELDS))
    return QueueConfig(**_given(options, _QUEUE_FIELDS), retry=retry)


def _given(options: argparse.Namespace, names: tuple[str, ...]) -> dict[str, Any]:
    return {name: getattr(options, name) for name in names if hasattr(options, name)}
