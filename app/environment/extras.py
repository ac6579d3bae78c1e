from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Literal

DISTRIBUTION = "brokerscope"
Extra = Literal["gui", "report"]
_NEEDED_BY: dict[Extra, str] = {"gui": "The window", "report": "The report"}


def _requirements() -> Sequence[str]:
    from importlib import metadata  # loads a mail parser: a sixth of what --help takes

    try:
        return metadata.requires(DISTRIBUTION) or ()
    except metadata.PackageNotFoundError:  # a source tree that was never installed promises nothing
        return ()


def packages(
    extra: Literal["", "gui", "report"], requirements: Callable[[], Sequence[str]] = _requirements
) -> list[str]:
    """The packages that pyproject.toml declares for an extra, or for no extra."""
    marks = ((line, re.search(r"""extra == ['"](\w+)['"]""", line)) for line in requirements())
    of_extra = [line for line, mark in marks if (mark[1] if mark else "") == extra]
    return [re.split(r"[^A-Za-z0-9_.-]", line, maxsplit=1)[0] for line in of_extra]


def version_of(distribution: str) -> str:
    from importlib import metadata

    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return ""


def why_missing(
    extra: Extra,
    requirements: Callable[[], Sequence[str]] = _requirements,
    installed: Callable[[str], object] = version_of,
) -> str:
    """One sentence that names the missing packages of `extra` and the command to install them; "" for none."""
    absent = [name for name in packages(extra, requirements) if not installed(name)]
    if not absent:
        return ""
    verb = "is" if len(absent) == 1 else "are"
    return (
        f"{_NEEDED_BY[extra]} needs {' and '.join(absent)}, which {verb} not installed; install with: "
        f"pip install '{DISTRIBUTION}[{extra}]'"
    )
