"""A broker of ours for one recorded conversation; as a program, what it answers differently in all or those named."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from broker_core import BrokerHost, HostConfig
from broker_core.groups.config import GroupConfig
from broker_core.listeners.kafka.listener import KafkaListener
from tests.reference.comparison import Difference, Judge, meant_differences
from tests.reference.conversations import FOLDER, Conversation, Replay, stored

# As the broker of Apache Kafka that it was recorded with.
CONFIG = HostConfig(groups=GroupConfig(initial_rebalance_delay_ms=0))


def replayed(conversation: Conversation) -> list[Difference]:
    """What our listener answers differently; a new broker each time."""
    with BrokerHost(config=CONFIG) as host, KafkaListener(host, port=0, create_topics=1) as listener:
        return list(Replay(conversation, listener.port).differences())


def judge() -> Judge:
    """Of differences in recorded conversations."""
    return Judge(meant_differences(FOLDER / "meant.yaml"))


def show(names: Sequence[str]) -> None:
    judging = judge()
    for conversation in stored():
        if not names or conversation.name in names:
            left = judging.unmeant(replayed(conversation))
            print(f"{conversation.name}: {len(conversation.steps)} steps, {len(left)} differences", flush=True)
            for difference in left:
                print(f"  {difference}")
    for entry in judging.unmatched if not names else ():
        print(f"nothing differs any more as {entry.where!r} says ({entry.reason})")


if __name__ == "__main__":
    show(sys.argv[1:])
