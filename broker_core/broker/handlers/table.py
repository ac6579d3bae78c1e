"""The type of the tables of handlers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from broker_core.operations.request import Request

CLIENT = "admin"  # the client in the events of these operations
#: `handler(broker, now_ns, request)` returns the result, or a reply that is settled with it.
Handlers = dict[type[Request[Any]], Callable[[Any, int, Any], Any]]
