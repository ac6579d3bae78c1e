"""Which kind of broker an address means, and how it is observed."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from broker_core.observation.deed_journal import DeedJournal
from broker_core.observation.kafka.config import connection_config, is_cluster
from broker_core.observation.peer import Peer


def peer_at(
    address: str,
    *,
    token: str | None = None,
    ca_file: Path | str | None = None,
    config: Path | None = None,
    every_s: float = 1.0,
    topics: Sequence[str] = (),
    groups: Sequence[str] = (),
    journal: DeedJournal | None = None,
) -> Peer:
    """The broker at `address`, not connected yet. Raises INVALID_CONFIG.

    `token` and `ca_file` are for a URL, the others for a cluster: see `KafkaPeer`; `config` is a client.properties,
    and `journal` has what is done to it.
    """
    if is_cluster(address):
        from broker_core.observation.kafka.peer import KafkaPeer  # loads asyncio, which few windows need

        return KafkaPeer(
            connection_config(address, config), every_s=every_s, topics=topics, groups=groups, journal=journal
        )
    from broker_core.observation.serve_peer import ServePeer  # loads urllib3

    return ServePeer(address, token=token or None, ca_file=ca_file or None)
