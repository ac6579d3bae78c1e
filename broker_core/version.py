from __future__ import annotations


def program_version() -> str:
    """The version of the installed distribution; "0" if it is not installed."""
    from importlib.metadata import PackageNotFoundError, version  # loads a mail parser

    try:
        return version("brokerscope")
    except PackageNotFoundError:
        return "0"
