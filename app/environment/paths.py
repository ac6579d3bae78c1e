from __future__ import annotations

import contextlib
import datetime
import json
import re
from pathlib import Path

import platformdirs

import resources
from app.environment.did_you_mean import meant
from broker_core.errors import ScenarioError
from broker_core.files import private

APP_NAME = "brokerscope"
FIRST_SCENARIO = "first-session"
SCENARIO_SUFFIXES = (".yaml", ".yml")


def shipped_scenarios() -> list[Path]:
    """The scenarios that come with the program, in the order in which their list has them: a good one to learn in."""
    listed = re.findall(
        r"^\| `([a-z-]+)` \|", resources.path("scenarios", "README.md").read_text("utf-8"), re.MULTILINE
    )
    order = {name: place for place, name in enumerate(listed)}
    return sorted(
        resources.path("scenarios").rglob("*.yaml"), key=lambda path: (order.get(path.stem, len(order)), path.stem)
    )


def find_scenario(name: str) -> Path:
    """A file, or the name of a shipped scenario. Raises `ScenarioError` that lists what there is, of the kind
    `NoSuchScenario` if there is nothing of that name.
    """
    path = Path(name)
    if path.is_file():
        return path
    for shipped in shipped_scenarios():
        if name in {shipped.stem, shipped.name}:
            return shipped
    known = [shipped.stem for shipped in shipped_scenarios()]
    is_folder = path.is_dir()
    what = "is a folder" if is_folder else "is neither a file nor a bundled scenario"
    kind = ScenarioError if is_folder else NoSuchScenario
    raise kind(f"{name} {what}{meant(name, known)}; give a YAML file or one of: {', '.join(known)}.")


class NoSuchScenario(ScenarioError):
    """There is no scenario of the given name."""


def sessions_folder() -> Path:
    return Path(platformdirs.user_data_dir(APP_NAME)) / "sessions"


def deeds_file() -> Path:
    """The file that records what this user has done to observed clusters."""
    return Path(platformdirs.user_state_dir(APP_NAME)) / "deeds.jsonl"


def logs_folder() -> Path:
    return Path(platformdirs.user_log_dir(APP_NAME))


def drafts_folder() -> Path:
    return Path(platformdirs.user_data_dir(APP_NAME)) / "scenarios"


def new_session_folder(name: str, parent: Path | None = None) -> Path:
    """A folder that is not there yet, called by the wall time and `name`, in `sessions_folder` or `parent`."""
    if parent is None:
        parent = sessions_folder()
        with contextlib.suppress(OSError):  # the recorder reports it
            private.make_directory(parent)
            private.close_to_others(parent)
    stamp = datetime.datetime.now().strftime("%Y-%m-%d-%H%M%S")
    name = re.sub(r"[^A-Za-z0-9_-]+", "-", name)[:60] or "session"
    folder = parent / f"{stamp}-{name}"
    number = 2
    while folder.exists():
        folder = parent / f"{stamp}-{name}-{number}"
        number += 1
    return folder


def _ports_file() -> Path:
    return Path(platformdirs.user_state_dir(APP_NAME)) / "between-ports.json"


def _all_ports() -> dict[str, list[int]]:
    try:
        found = json.loads(_ports_file().read_text("utf-8"))
        return {str(name): [int(node) for node in nodes] for name, nodes in found.items()}
    except (OSError, ValueError, TypeError, AttributeError):  # it is not there, or was damaged: ports are given anew
        return {}


def kept_ports(cluster: str) -> list[int]:
    """The node ids of a cluster in the order of their ports of `brokerscope between`, the same after a restart."""
    return _all_ports().get(cluster, [])


def keep_ports(cluster: str, nodes: list[int]) -> None:
    with contextlib.suppress(OSError):  # they are the same until the end at least
        _ports_file().parent.mkdir(parents=True, exist_ok=True)
        private.replace(_ports_file(), json.dumps({**_all_ports(), cluster: nodes}).encode())
