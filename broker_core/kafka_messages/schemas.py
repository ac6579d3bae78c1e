"""The schemas of `kio`, loaded by one thread at a time: two that import parts of one version wait for each other."""

from __future__ import annotations

import threading
from typing import Any

from kio import index

_LOADING = threading.RLock()


def load_request_schema(api_key: int, version: int) -> Any:
    with _LOADING:
        return index.load_request_schema(api_key, version)


def load_response_schema(api_key: int, version: int) -> Any:
    with _LOADING:
        return index.load_response_schema(api_key, version)
