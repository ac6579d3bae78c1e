"""The test kit: a user's own programs and functions, tested against a broker that can be stopped and broken.

The public interface is `__all__`. Each name is imported on first access, so that pytest's plugin costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from broker_core.testing.embedded_broker import EmbeddedBroker as EmbeddedBroker
    from broker_core.testing.given import given_schedule as given_schedule
    from broker_core.testing.schedule import Disturbance as Disturbance
    from broker_core.testing.schedule import Schedule as Schedule
    from broker_core.testing.virtual_asyncio import VirtualAsyncConsumer as VirtualAsyncConsumer
    from broker_core.testing.virtual_broker import VirtualBroker as VirtualBroker
    from broker_core.testing.virtual_consumer import VirtualConsumer as VirtualConsumer
    from broker_core.testing.virtual_session import VirtualSession as VirtualSession
    from broker_core.testing.virtual_worker import VirtualWorker as VirtualWorker

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
__all__ = sorted(_MODULE_OF)  # noqa: PLE0605


def __getattr__(name: str) -> Any:
    module = _MODULE_OF.get(name)
    if module is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{module}"), name)
