from __future__ import annotations

import platform
from importlib import metadata

from app.environment.extras import packages, version_of
from widgets.i18n import mark, tr

CANVAS = mark(
    "The broker at work, from left to right: producers, topics as stacks of partition lanes, groups with their "
    "consumers, queues with their workers and dead letters.\n\n"
    "- A **lane** is a partition. Its bar ends at the end offset; the tick marks a group's committed offset, and the "
    "filled gap is its **lag**.\n"
    "- A **link** gets thicker as its rate rises. It is dashed and red while it is blocked.\n"
    "- **Drag** a consumer into another group, to the bench, or to an empty spot (a new group). A ghost shows "
    "what a drop would change. `Ctrl+M` does the same without a mouse.\n"
    "- **Drag a topic** onto a group to subscribe it (`Ctrl+Alt+S`).\n"
    "- The menu of a box adds, duplicates and removes, sets rates and limits, and causes faults: crash, pause, slow "
    "down, drop heartbeats, fill the disk, or a **rule** that makes every n-th message fail. Active faults are shown "
    "on the card and in the navigator.\n"
    "- `Ctrl+Z` undoes the last action on the broker, `Ctrl+Shift+Z` redoes it.\n"
    "- **Tab** and the **arrow keys** move from box to box, `Return` selects, the menu key opens the menu of a "
    "box.\n"
    "- The wheel zooms, `Ctrl+0` fits everything."
)

FILTERS = mark(
    "Every table, the canvas, and *Run until* share one language.\n\n"
    "- Words match anywhere: `billing timeout`.\n"
    '- Conditions refer to a column: `lag > 100 and group = "billing"`, `size >= 3 KiB`, `not key contains '
    "test`.\n"
    "- Flags begin with a tilde: `~dlq`, `~inflight`, `~redriven`."
)


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
