"""The tables of `resources`: nothing in them is read by nobody, and no word of a row is one that nobody knows."""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Iterator
from dataclasses import fields
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from app.cli import main, parser, window
from app.commands.menus import COMMANDS
from app.pages.page import words
from widgets.dialogs.field_widgets import Field
from widgets.panels.panel import PanelInfo

ROOT = Path(__file__).parent.parent
FORM = {"title", "about", "fields", "button", "danger"}
COMMAND = {"about", "exits", "verbs", "arguments"}


def table(name: str) -> dict[str, Any]:
    return tomllib.loads((ROOT / "resources" / name).read_text(encoding="utf-8"))


def named(place: int, *functions: str) -> set[str]:
    """The texts that calls of these functions have in this place."""
    found = set()
    for node in (each for tree in trees(functions) for each in ast.walk(tree)):
        if isinstance(node, ast.Call) and len(node.args) > place:
            name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            if name in functions and isinstance(text := node.args[place], ast.Constant):
                found.add(str(text.value))
    return found


def trees(functions: tuple[str, ...]) -> Iterator[ast.AST]:
    """Of the files that call one of them."""
    for text in texts():
        if any(f"{each}(" in text for each in functions):
            yield ast.parse(text)


@cache
def texts() -> list[str]:
    return [path.read_text("utf-8") for name in ("app", "widgets") for path in (ROOT / name).rglob("*.py")]


def test_each_form_is_opened_and_each_word_of_a_field_is_one() -> None:
    forms = table("forms.toml")
    like, parts = forms.pop("like"), forms.pop("parts")
    # The others are opened by the command of their name.
    assert forms.keys() - {command.id for command in COMMANDS} <= named(0, "form", "form_of") | {
        f"duplicate_{what}" for what in ("topic", "queue", "group")
    }
    assert {name for form in forms.values() for name in form} <= FORM
    rows = [each for rows in (*parts.values(), *(form.get("fields", ()) for form in forms.values())) for each in rows]
    names = {each for each in rows if isinstance(each, str)}
    of_fields = [each for each in rows if not isinstance(each, str)]
    assert names == parts.keys()
    assert {each["like"] for each in of_fields if "like" in each} == like.keys()
    known = {*(field.name for field in fields(Field)), "like", "words"}
    assert {name for each in (*of_fields, *like.values()) for name in each} <= known


def test_each_panel_is_one_and_each_word_of_its_row_is_one() -> None:
    panels = table("panels.toml")
    assert panels.keys() == named(0, "declared")
    assert {name for panel in panels.values() for name in panel} <= {field.name for field in fields(PanelInfo)}


def test_each_command_of_the_command_line_and_each_argument_is_one(monkeypatch: pytest.MonkeyPatch) -> None:
    declared = table("command_line.toml")
    commands = declared.pop("commands")
    assert {name for each in declared.values() for name in each} <= COMMAND
    about = {name for name, each in declared.items() if "about" in each}
    assert about == {*commands, "window"}
    arguments = {f"{name} {flag}" for name, each in declared.items() for flag in each.get("arguments", ())}
    asked = set()

    def noted(name: str) -> dict[str, Any]:
        asked.add(name)
        return declared_as(name)

    declared_as = parser._declared  # what an argument is like it asks for, too
    monkeypatch.setattr(parser, "_declared", noted)
    made = {name: make()[0] for name, make in main.COMMANDS.items()}
    window.window_command()
    assert asked == arguments
    for guide in (ROOT / "resources" / "guides").glob("command-line*.md"):
        rows = " ".join(re.findall(r"^\| `brokerscope.*?(?=\| \w)", guide.read_text("utf-8"), re.MULTILINE))
        assert set(main.COMMANDS) - set(re.findall(r"[\w-]+", rows)) == set(), guide
    for command, verbs in ((name, each["verbs"]) for name, each in declared.items() if "verbs" in each):
        actions = [action.choices for action in made[command]._actions if isinstance(action.choices, dict)]
        assert verbs.keys() <= {verb for choices in actions for verb in choices}, command


def test_each_word_of_a_page_of_a_session_is_shown_and_each_that_is_shown_is_there() -> None:
    page, script = ((ROOT / "resources/session_page" / name).read_text("utf-8") for name in ("page.html.j2", "page.js"))
    shown = {*re.findall(r"said\.(\w+)", page), *re.findall(r'said\["(\w+)"\]', page)}
    shown |= {*re.findall(r"words\??\.(\w+)", script), *re.findall(r'name in \("(.*?)"\)', page)[0].split('", "')}
    assert shown == words().keys()
