"""Files that the program ships: fonts, icons, themes, scenarios, templates, sample data, help."""

import tomllib
from importlib.resources import files
from pathlib import Path
from typing import Any


def path(*parts: str) -> Path:
    """The path of a shipped file or folder: ``path("fonts", "Inter-Regular.otf")``.

    Raises:
        FileNotFoundError: nothing of that name is shipped.
    """
    found = Path(str(files(__name__).joinpath(*parts)))
    if not found.exists():
        raise FileNotFoundError(f"not shipped: {'/'.join(parts)}")
    return found


def table(*parts: str) -> dict[str, Any]:
    """The content of a shipped TOML file: ``table("events.toml")``."""
    return tomllib.loads(path(*parts).read_text(encoding="utf-8"))
