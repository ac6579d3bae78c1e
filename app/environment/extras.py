from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from importlib import metadata
from typing import Literal

DISTRIBUTION = "brokerscope"
Extra = Literal["gui", "report"]
_NEEDED_BY: dict[Extra, str] = {"gui": "The window", "report": "The report"}


def _requirements() -> Sequence[str]:
    try:
        return metadata.requires(DISTRIBUTION) or ()
    except metadata.PackageNotFoundError:  # a source tree that was never installed promises nothing
        return ()


def _installed(distribution: str) -> bool:
    try:
        metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return False
    return True


def why_missing(
    extra: Extra,
    requirements: Callable[[], Sequence[str]] = _requirements,
    installed: Callable[[str], bool] = _installed,
) -> str:
    """What of `extra` is not installed and the command that installs it, in one sentence; "" if all is there.

    The packages are those that pyproject.toml declares for the extra.
    """
    marked = re.compile(rf"""extra == ['"]{extra}['"]""")
    names = [re.split(r"[^A-Za-z0-9_.-]", line, maxsplit=1)[0] for line in requirements() if marked.search(line)]
    absent = [name for name in names if not installed(name)]
    if not absent:
        return ""
    verb = "is" if len(absent) == 1 else "are"
    return (
        f"{_NEEDED_BY[extra]} needs {' and '.join(absent)}, which {verb} not installed; install with: "
        f"pip install '{DISTRIBUTION}[{extra}]'"
    )
