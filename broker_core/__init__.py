"""The broker core: a message broker as a library, without Qt, Spark, or a clock of its own.

    import broker_core

    with broker_core.BrokerHost("orders-data") as host, broker_core.Producer(host) as producer:
        broker_core.Admin(host).create_topic("orders", partitions=6)
        producer.publish("orders", b"one book", key=b"customer-7")

The public interface is `__all__`, which is what `__init__.pyi` imports. Each name is imported on first access.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any


def exports(package: str, file: str) -> tuple[list[str], Callable[[str], Any]]:
    """(`__all__`, `__getattr__`) of `package`, whose `__init__.py` is `file`: what its `__init__.pyi` imports."""
    modules = {
        alias.name: str(line.module)
        for line in ast.parse(Path(file).with_suffix(".pyi").read_bytes()).body
        if isinstance(line, ast.ImportFrom)
        for alias in line.names
    }

    def get(name: str) -> Any:
        module = modules.get(name)
        if module is None:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(import_module(module), name)

    return sorted(modules), get


__all__, __getattr__ = exports(__name__, __file__)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
