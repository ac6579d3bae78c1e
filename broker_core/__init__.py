"""The broker core: a message broker as a library, without Qt, Spark, or a clock of its own.

    import broker_core

    with broker_core.BrokerHost("orders-data") as host, broker_core.Producer(host) as producer:
        broker_core.Admin(host).create_topic("orders", partitions=6)
        producer.publish("orders", b"one book", key=b"customer-7")

The public interface is `__all__`, which is what `__init__.pyi` imports. Each name is imported on first access.
"""

from __future__ import annotations

import ast
from importlib import import_module
from pathlib import Path
from typing import Any

_MODULE_OF = {
    alias.name: str(line.module)
    for line in ast.parse(Path(__file__).with_suffix(".pyi").read_bytes()).body
    if isinstance(line, ast.ImportFrom)
    for alias in line.names
}
__all__ = sorted(_MODULE_OF)  # noqa: PLE0605


def __getattr__(name: str) -> Any:
    module = _MODULE_OF.get(name)
    if module is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(module), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
