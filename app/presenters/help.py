from __future__ import annotations

import platform
from importlib import metadata

import resources
from app.environment.extras import packages, version_of
from widgets.i18n import tr


def page(name: str) -> str:
    """Markdown about a panel, the canvas or filters, in the language of the window."""
    return resources.path("help", language(), f"{name}.md").read_text(encoding="utf-8")


def language() -> str:
    """The code of the window's language."""
    return tr("help/en").rpartition("/")[2]


def parts() -> list[str]:
    return list(dict.fromkeys((*packages("gui"), *packages("report"), *packages(""))))


def about() -> str:
    lines = [
        f"## Brokerscope {version_of('brokerscope')}",
        tr("A desktop workbench for message brokers. Apache License 2.0."),
        tr("Qt is used under the LGPL 3: it is installed as a separate package and can be replaced."),
        "",
        f"| {tr('Part')} | {tr('Version')} | {tr('Licence')} |",
        "|---|---|---|",
        *(f"| {name} | {version_of(name)} | {_licence(name)} |" for name in parts() if version_of(name)),
        "| Inter, JetBrains Mono | | SIL Open Font License 1.1 |",
        "| Apache ECharts, Swagger UI | | Apache-2.0 |",
        "",
        f"Python {platform.python_version()}, {platform.system()} {platform.machine()}",
    ]
    return "\n\n".join(lines[:3]) + "\n\n" + "\n".join(lines[3:])


def _licence(name: str) -> str:
    found = metadata.metadata(name)
    said = found["License-Expression"] or ""
    if not said:
        classes = [
            line.rpartition(":: ")[2] for line in found.get_all("Classifier", []) if line.startswith("License ::")
        ]
        said = ", ".join(classes) or (found["License"] or "").partition("\n")[0]
    return said.replace("|", "/")[:80]
