"""Operations of the catalogue that a listener answers itself, since they are more than one call of the broker."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from broker_core.listeners.http.context import HttpCall
from broker_core.operations.request import Request

ByHand = dict[type[Request[Any]], Callable[[HttpCall, Any], Awaitable[Any]]]
