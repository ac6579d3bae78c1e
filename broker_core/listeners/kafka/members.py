"""Member ids that were given out and not yet used (KIP-394), forgotten after a while; what members are called."""

from __future__ import annotations

import re
import secrets
from collections import OrderedDict
from collections.abc import Mapping
from typing import TypeVar

from broker_core.clock import NS_PER_S

K = TypeVar("K")
KEPT_FOR_NS = 300 * NS_PER_S
MOST = 10_000
_MARK = "#"
# What clients send that were given no client.id: confluent-kafka, aiokafka, kafka-python, Sarama, KafkaJS, franz-go.
_OF_LIBRARIES = re.compile(r"rdkafka|(aiokafka|kafka-python)-\d.*|sarama|kafkajs|kgo")


class PendingMembers:
    """Ids by group, for the second request to join that uses them, and names. Used under the host's lock."""

    def __init__(self) -> None:
        self._given: OrderedDict[tuple[str, str], int] = OrderedDict()
        # What members were called, by group and connection; by group and client id, that somebody was called so.
        self._labels: OrderedDict[tuple[str, int], str] = OrderedDict()
        self._given_names: OrderedDict[tuple[str, str], str] = OrderedDict()

    def new(self, client: str) -> str:
        return f"{client[:100] or 'member'}-{secrets.token_hex(16)}"

    def give(self, now_ns: int, group: str, client: str) -> str:
        """A new id, kept until it is used."""
        while self._given and (len(self._given) >= MOST or next(iter(self._given.values())) < now_ns - KEPT_FOR_NS):
            self._given.popitem(last=False)
        member_id = self.new(client)
        self._given[group, member_id] = now_ns
        return member_id

    def label(self, group: str, client: str, clients: Mapping[str, str], member_id: str, connection: int) -> str:
        """The member's name: its client id, with the end of its member id if another member has that client id.

        A client id that a library gives who sets none names one program in the group, the first, also after that is
        gone: what another one did would be told of it. `clients` are the names of the group's members, by member id;
        `connection` is the number of the program's connection.
        """
        others = [name for known, name in clients.items() if known != member_id]
        label = self._labels.get((group, connection), "")
        if not self.is_of(label, client) or label in others:
            was_given = (group, client) in self._given_names and _OF_LIBRARIES.fullmatch(client) is not None
            label = f"{client}{_MARK}{member_id[-4:]}" if client in others or was_given else client
        _remember(self._labels, (group, connection), label)
        _remember(self._given_names, (group, client), label)
        return label

    @staticmethod
    def is_of(label: str, client: str) -> bool:
        return label == client or label.startswith(f"{client}{_MARK}")

    def use(self, group: str, member_id: str) -> bool:
        """Whether this id was given and is used now for the first time."""
        return self._given.pop((group, member_id), None) is not None


def _remember(names: OrderedDict[K, str], key: K, label: str) -> None:
    names[key] = label
    if len(names) > MOST:
        names.popitem(last=False)
