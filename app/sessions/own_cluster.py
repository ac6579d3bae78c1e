"""A cluster for a lesson: its scenario, run beside the window, with a listener for Kafka's clients."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from broker_core.engine.engine_host import EngineHost
from broker_core.engine.runner import Engine
from broker_core.recording.live_session import LiveSession
from broker_core.simulation.arrival_files import DataFiles
from broker_core.simulation.scenario import Scenario

SPEED: Final = 1.0


class OwnCluster:
    """Runs until it is closed. `address` is its HOST:PORT."""

    def __init__(self, scenario: Scenario, text: str, path: Path, seed: int | None) -> None:
        """Raises BrokerError."""
        from broker_core.listeners.kafka.listener import KafkaListener  # takes a while to load

        self._session = LiveSession(scenario, text, folder=None, find_file=DataFiles(path), seed=seed)
        self._engine = Engine(self._session.simulation, shared=False)
        self._host = EngineHost(self._engine, self._session.simulation)
        self._engine.run(SPEED)
        self._listener = KafkaListener(self._host, address="127.0.0.1", port=0).start()
        self.address = self._listener.bootstrap_servers

    def close(self) -> None:
        self._listener.close()
        self._host.close()
        self._engine.close()
        self._session.close(finished=False)
