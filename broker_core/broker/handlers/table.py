"""What the families of handlers share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from broker_core.operations.request import Request

CLIENT = "admin"  # whom events name who asks in this way
#: `handler(broker, now_ns, request)` gives the result, or a reply that it comes in.
Handlers = dict[type[Request[Any]], Callable[[Any, int, Any], Any]]
