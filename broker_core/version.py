"""Which version of the program this is."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version


def program_version() -> str:
    """As it is installed; "0" where it is not."""
    try:
        return version("brokerscope")
    except PackageNotFoundError:
        return "0"
