"""The hosts that a listener can serve: a broker by itself, or one in a session that an engine runs."""

from __future__ import annotations

from broker_core.engine.engine_host import EngineHost
from broker_core.engine.host import BrokerHost

ServedHost = BrokerHost | EngineHost
