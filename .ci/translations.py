"""Gathers the words of the program and of its lessons into the .ts files of `resources/translations`; makes the .qm.

`python .ci/translations.py` does both; `--check` only says what is missing, and fails where something is.
"""

from __future__ import annotations

import ast
import functools
import re
import subprocess
import sys
import tomllib
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from broker_core.errors import ErrorCode

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "resources" / "translations"
SOURCES = (
    *("app", "widgets", "broker_core/broker", "broker_core/filters", "broker_core/flow", "broker_core/log"),
    *(
        "broker_core/access.py",
        "broker_core/groups/config.py",
        "broker_core/operations",
        "broker_core/recording/verdicts.py",
        "broker_core/queues",
        "broker_core/schemas",
    ),
    *("resources/account.py", "resources/measures.py"),
)
SCENARIOS = ROOT / "resources" / "scenarios"
STATES = ROOT / "resources" / "themes" / "states.toml"
# Tables of resources, and under which names they have texts.
TABLES = {
    "session_page/words.toml": (),
    "events.toml": ("word", "tick"),
    "menus.toml": ("title", "hint"),
    "forms.toml": ("title", "about", "button", "label", "hint", "suffix", "none"),
    "sentences.toml": (),
    "report/parts.toml": ("heading",),
    "panels.toml": ("title", "hint", "group", "empty", "how", "filter_hint"),
}
CONTEXT = "Brokerscope"
# Calls whose literal arguments are words: by name, with the places of the arguments that are.
CALLS = {
    **{"tr": (0,), "mark": (0,), "Sentence": (0,), "Column": (0,), "Field": (2,)},
    **dict.fromkeys(("time_column", "number_column", "state_column", "text_column", "owner_column"), (0,)),
    **{"State": (0, 1), "Reason": (0, 1), "Promise": (0, 1)},
    "Measure": (0,),
    "about": (0,),  # help of a request's field, which forms show
}
KEYWORDS = {
    "Field": ("about",),
    **dict.fromkeys(
        ("Column", "time_column", "number_column", "state_column", "text_column", "owner_column"), ("about",)
    ),
}


@functools.cache
def words() -> list[str]:
    """Every marked text of the sources, sorted."""
    found: set[str] = set()
    for source in SOURCES:
        for path in sorted((ROOT / source).rglob("*.py")) or [ROOT / source]:
            found.update(_words_of(ast.parse(path.read_text(encoding="utf-8"))))
    found.update(word for part in tomllib.loads(STATES.read_text(encoding="utf-8")).values() for word in part)
    for name, texts in TABLES.items():
        found.update(_words_of_table(_table(name), texts))
    found.update(code.sentence for code in ErrorCode)
    menus = _table("menus.toml")
    found.update((*menus, *menus["Broker"]))
    for path in sorted(SCENARIOS.rglob("*.yaml")):
        found.update(_words_of_scenario(yaml.load(path.read_bytes(), yaml.CSafeLoader)))
    return sorted(found - {""})


def _table(name: str) -> dict[str, Any]:
    return tomllib.loads((ROOT / "resources" / name).read_text(encoding="utf-8"))


def _words_of_table(held: Any, names: tuple[str, ...]) -> Iterator[str]:
    """Texts under `names`, all if there are none, however deep; and all under `words`."""
    if isinstance(held, list):
        for each in held:
            yield from _words_of_table(each, names)
    for name, value in held.items() if isinstance(held, dict) else ():
        if not isinstance(value, str):
            yield from _words_of_table(value, () if name == "words" else names)
        elif (name in names or not names) and re.search("[a-z]", re.sub("{.*?}", "", value)):
            yield value


def _words_of_scenario(scenario: dict[str, Any]) -> Iterator[str]:
    """The texts of a shipped scenario and its lesson, as they are shown."""
    texts = [scenario["title"], scenario.get("about", ""), *scenario.get("watch", ()), *scenario.get("try", ())]
    if lesson := scenario.get("lesson"):
        texts += (step.get(name, "") for step in lesson["steps"] for name in ("watch", "try", "seen"))
        question = lesson.get("question", {})
        texts += [question.get("text", ""), question.get("answer", "")]
    yield from (" ".join(text.split()) for text in texts)


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
    made = path.with_suffix(".new")
    subprocess.run([lrelease, "-silent", path, "-qm", made], check=True)
    made.replace(path.with_suffix(".qm"))  # a window that runs reads the old file


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
