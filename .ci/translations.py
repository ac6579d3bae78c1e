"""Gathers the words of the program and of its lessons into the .ts files of `resources/translations`; makes the .qm.

`python .ci/translations.py` does both; `--check` only says what is missing, and fails where something is.
"""

from __future__ import annotations

import ast
import functools
import subprocess
import sys
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "resources" / "translations"
SOURCES = (
    *("app", "widgets", "broker_core/broker", "broker_core/filters", "broker_core/flow", "broker_core/log"),
    *("broker_core/access.py", "broker_core/operations", "broker_core/queues", "broker_core/schemas"),
)
SCENARIOS = ROOT / "resources" / "scenarios"
CONTEXT = "Brokerscope"
# Classes whose docstrings the help shows, by their modules.
DOCUMENTED = {
    "broker_core/recording/audit.py": "Audit",
    "broker_core/testing/clock.py": "BrokerClock",
    "broker_core/testing/faults.py": "Faults",
    "broker_core/testing/schedule.py": "Disturbance",
}
# Calls whose literal arguments are words: by name, with the places of the arguments that are.
CALLS = {
    **{"tr": (0,), "mark": (0,), "Sentence": (0,), "Command": (1, 2, 5), "Column": (0,), "Field": (2,)},
    **{"StateStyle": (2,), "PanelInfo": (1, 3, 4)},
    **dict.fromkeys(("time_column", "number_column", "state_column", "owner_column"), (0,)),
    "about": (0,),  # help of a request's field, which forms show
}
KEYWORDS = {
    **{"Command": ("title", "category", "hint"), "Field": ("about",)},
    **dict.fromkeys(("Column", "time_column", "number_column", "state_column", "owner_column"), ("about",)),
    "PanelInfo": ("group", "empty", "how", "filter_hint"),
}


@functools.cache
def words() -> list[str]:
    """Every marked text of the sources, sorted."""
    found: set[str] = set()
    for source in SOURCES:
        for path in sorted((ROOT / source).rglob("*.py")) or [ROOT / source]:
            found.update(_words_of(ast.parse(path.read_text(encoding="utf-8"))))
    for name, documented in DOCUMENTED.items():
        found.update(_words_of_docstrings(ast.parse((ROOT / name).read_text(encoding="utf-8")), documented))
    for path in sorted(SCENARIOS.rglob("*.yaml")):
        found.update(_words_of_lesson(yaml.load(path.read_bytes(), yaml.CSafeLoader)))
    return sorted(found - {""})


def _words_of_lesson(scenario: dict[str, Any]) -> Iterator[str]:
    """The texts of a shipped lesson, as they are shown, and the title by which the lesson before it names it."""
    if lesson := scenario.get("lesson"):
        texts = [
            scenario["title"],
            *(step.get(name, "") for step in lesson["steps"] for name in ("watch", "try", "seen")),
        ]
        question = lesson.get("question", {})
        yield from (" ".join(text.split()) for text in (*texts, question.get("text", ""), question.get("answer", "")))


def _words_of_docstrings(tree: ast.Module, name: str) -> Iterator[str]:
    """The second paragraph of a class, and the first of each public member."""
    (found,) = (node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == name)
    texts = [(ast.get_docstring(found) or "").split("\n\n")[1:2]]
    members = (node for node in found.body if isinstance(node, ast.FunctionDef) and not node.name.startswith("_"))
    texts += [(ast.get_docstring(node) or "").split("\n\n")[:1] for node in members]
    yield from (" ".join(text.split()) for part in texts for text in part)


def _words_of(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        called = node.func.value if isinstance(node.func, ast.Subscript) else node.func  # Column[Row](...)
        name = called.id if isinstance(called, ast.Name) else getattr(called, "attr", "")
        arguments = [node.args[place] for place in CALLS.get(name, ()) if place < len(node.args)]
        arguments += [word.value for word in node.keywords if word.arg in KEYWORDS.get(name, ())]
        for argument in arguments:
            if not isinstance(argument, ast.Constant) or not isinstance(argument.value, str):
                continue
            # A field of a filter is described in a sentence; a field of a form has its kind in that place.
            if name != "Field" or argument.value.endswith("."):
                yield argument.value


def translations(path: Path) -> dict[str, str]:
    """Source text -> translation, "" where there is none yet."""
    found: dict[str, str] = {}
    for message in ET.parse(path).getroot().iter("message"):
        done = message.find("translation")
        found[message.findtext("source", "")] = "" if done is None else (done.text or "")
    return found


def missing(path: Path) -> list[str]:
    """Texts of the sources that a .ts file does not translate."""
    known = translations(path)
    return [text for text in words() if not known.get(text)]


def update(path: Path) -> None:
    """Write every text of the sources into a .ts file, keeping what is translated, and compile it."""
    language = path.stem.rpartition("_")[2]
    known = translations(path) if path.exists() else {}
    root = ET.Element("TS", version="2.1", language=language, sourcelanguage="en")
    context = ET.SubElement(root, "context")
    ET.SubElement(context, "name").text = CONTEXT
    for text in words():
        message = ET.SubElement(context, "message")
        ET.SubElement(message, "source").text = text
        translation = ET.SubElement(message, "translation")
        if known.get(text):
            translation.text = known[text]
        else:
            translation.set("type", "unfinished")
    ET.indent(root, " ")
    head = '<?xml version="1.0" encoding="utf-8"?>\n<!DOCTYPE TS>\n'
    path.write_text(head + ET.tostring(root, encoding="unicode") + "\n", encoding="utf-8")
    lrelease = Path(sys.executable).with_name("pyside6-lrelease")
    subprocess.run([lrelease, "-silent", path, "-qm", path.with_suffix(".qm")], check=True)


def main() -> int:
    """0, or 1 where `--check` finds something missing."""
    paths = sorted(FOLDER.glob("*.ts"))
    if "--check" in sys.argv[1:]:
        lacking = {path.name: missing(path) for path in paths}
        for name, texts in lacking.items():
            for text in texts:
                print(f"{name} lacks: {text!r}")
        return int(any(lacking.values()))
    for path in paths:
        update(path)
        print(f"{path.name}: {len(words())} texts, {len(missing(path))} without a translation")
    return 0


if __name__ == "__main__":
    sys.exit(main())
