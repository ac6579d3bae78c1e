"""The test kit: a user's own programs and functions, tested against a broker that can be stopped and broken.

The public interface is `__all__`. Each name is imported on first access, so that pytest's plugin costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from broker_core.testing.embedded_broker import EmbeddedBroker
    from broker_core.testing.given import given_schedule
    from broker_core.testing.schedule import Disturbance, Schedule
    from broker_core.testing.virtual_asyncio import VirtualAsyncConsumer
    from broker_core.testing.virtual_broker import VirtualBroker
    from broker_core.testing.virtual_consumer import VirtualConsumer
    from broker_core.testing.virtual_session import VirtualSession
    from broker_core.testing.virtual_worker import VirtualWorker

__all__ = [
    "Disturbance",
    "EmbeddedBroker",
    "Schedule",
    "VirtualAsyncConsumer",
    "VirtualBroker",
    "VirtualConsumer",
    "VirtualSession",
    "VirtualWorker",
    "given_schedule",
]

#: The attribute of an error that `given_schedule` raises: the broker of the run, for the plugin.
BROKER_OF_ERROR = "brokerscope_broker"

_MODULE_OF = {
    "Disturbance": "schedule",
    "EmbeddedBroker": "embedded_broker",
    "Schedule": "schedule",
    "VirtualAsyncConsumer": "virtual_asyncio",
    "VirtualBroker": "virtual_broker",
    "VirtualConsumer": "virtual_consumer",
    "VirtualSession": "virtual_session",
    "VirtualWorker": "virtual_worker",
    "given_schedule": "given",
}


def __getattr__(name: str) -> Any:
    module = _MODULE_OF.get(name)
    if module is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{module}"), name)
