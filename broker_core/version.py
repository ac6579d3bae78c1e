from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version


def program_version() -> str:
    """The version of the installed distribution; "0" if it is not installed."""
    try:
        return version("brokerscope")
    except PackageNotFoundError:
        return "0"
