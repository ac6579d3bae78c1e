"""Ports between clients and the cluster that the arguments name, watched and recorded, until standard input ends.

Says its port, and at the end what passing has added (ms: median, p99) and what was not seen.
"""

from __future__ import annotations

import gc
import sys
import tempfile
from pathlib import Path

from broker_core.listeners.between.peer import BetweenPeer
from broker_core.observation.kafka.config import connection_config
from broker_core.observation.observed_session import ObservedSession

if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        peer = BetweenPeer(connection_config(sys.argv[1]), port=0)
        session = ObservedSession(peer, folder=Path(folder) / "session")
        gc.collect()
        gc.freeze()  # as the command does
        print(peer.ports.port, flush=True)
        sys.stdin.read()
        print(*peer.added_ms, peer.not_seen, flush=True)
        session.close()
