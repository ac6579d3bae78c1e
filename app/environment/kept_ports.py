"""Which node of a cluster has which port of `brokerscope between`, the same after a restart."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path

import platformdirs

from app.environment.paths import APP_NAME


def _file() -> Path:
    return Path(platformdirs.user_state_dir(APP_NAME)) / "between-ports.json"


def _all() -> dict[str, list[int]]:
    try:
        found = json.loads(_file().read_text("utf-8"))
        return {str(name): [int(node) for node in nodes] for name, nodes in found.items()}
    except (OSError, ValueError, TypeError, AttributeError):  # it is not there, or was damaged: ports are given anew
        return {}


def kept_ports(cluster: str) -> list[int]:
    """The node ids in the order of their ports."""
    return _all().get(cluster, [])


def keep_ports(cluster: str, nodes: list[int]) -> None:
    with contextlib.suppress(OSError):  # they are the same until the end at least
        _file().parent.mkdir(parents=True, exist_ok=True)
        _file().write_text(json.dumps({**_all(), cluster: nodes}), "utf-8")
