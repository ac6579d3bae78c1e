"""What stands between clients and a Kafka cluster: its arguments, its peer, and its recording without a window."""

from __future__ import annotations

import argparse
import gc
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from app.cli.credentials import tls_of, token_of
from app.cli.notes import note
from app.cli.output import print_json
from app.cli.parser import Parser, parser_of
from app.cli.target_types import TYPES
from app.cli.watch import Watched, observe
from app.environment.paths import keep_ports, kept_ports
from broker_core.observation.kafka.config import connection_config

if TYPE_CHECKING:
    from broker_core.listeners.between.peer import BetweenPeer


def between_parser() -> Parser:
    from broker_core.listeners.between.peer import DEFAULT_PORT  # loads the listener, which watching does not need

    parser = parser_of("between", TYPES)
    parser.set_defaults(port=DEFAULT_PORT)
    return parser


def between_peer(options: argparse.Namespace, told: Callable[[str], object] = note) -> BetweenPeer:
    """Raises INVALID_CONFIG, CommandError."""
    from broker_core.listeners.between.peer import BetweenPeer

    config = connection_config(options.broker, options.config)
    return BetweenPeer(
        config,
        address=options.address,
        port=options.port,
        token=token_of(options) or "",
        logs_in=options.login or (options.share_login and bool(config.mechanism)),
        shared=options.share_login,
        tls=tls_of(options),
        node_order=kept_ports,
        keep=keep_ports,
        told=told,
    )


def run_between(options: argparse.Namespace) -> int:
    return observe(between_peer, options, "between", partial(_Between, as_json=options.json))


class _Between(Watched):
    def __init__(self, peer: BetweenPeer, where: Path, *, hides_hosts: bool, as_json: bool) -> None:
        super().__init__(peer, where, hides_hosts=hides_hosts)
        gc.collect()
        gc.freeze()  # a look at all that was loaded would hold up the bytes
        self._peer = peer
        nodes = {str(node): f"{peer.ports.address}:{port}" for node, (port, _place) in peer.ports.nodes.items()}
        if as_json:
            told = {"bootstrap_servers": peer.bootstrap_servers, "nodes": nodes, "cluster": peer.facts.name}
            print_json(told | ({"rights": peer.facts.rights} if peer.facts.rights else {}))
            return
        note(f"bootstrap.servers={peer.bootstrap_servers} leads to {peer.address}, and what goes through is seen.")
        if peer.facts.rights:
            note(f"Whoever connects there has the rights of {peer.facts.rights}.")

    def summary(self) -> dict[str, Any]:
        return {
            **super().summary(),
            "deliveries": self.session.latest.totals.delivered,
            "added_ms": list(self._peer.added_ms),
            "not_seen": self._peer.not_seen,
            "published_before": self._peer.published_before,
            "not_answered": self._peer.not_answered,
        }
