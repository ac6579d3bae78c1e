"""The recipes of CONTRIBUTING.md name the files that one more of a kind touches: all of them, and no others."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parent.parent
PRODUCT = ("app", "broker_core", "widgets", "spark_reports", "resources", "resources/kafka")


class Recipe(NamedTuple):
    """`example` is a pattern that finds one of its kind; what mentions it below `used_by` only uses it."""

    title: str
    example: re.Pattern[str]
    files: set[str]
    used_by: tuple[str, ...]


def recipes() -> list[Recipe]:
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    found = []
    for part in text.partition("\n## Recipes\n")[2].split("\n### ")[1:]:
        title = part.partition("\n")[0]
        line = next(line for line in part.splitlines() if line.startswith("Example: "))
        example, *uses = re.findall("`([^`]+)`", line)
        files = set(re.findall(r"^\| `([^`]+)` \|", part, re.MULTILINE))
        found.append(Recipe(title, re.compile(example), files, tuple(f"{use}/" for use in uses)))
    return found


@pytest.mark.parametrize("recipe", recipes(), ids=lambda recipe: recipe.title)
def test_a_recipe_names_every_file_of_its_example(recipe: Recipe):
    mentioned = {
        str(path.relative_to(ROOT))
        for package in PRODUCT
        for path in (
            (ROOT / package).rglob("*.py") if package != "resources/kafka" else (ROOT / package).glob("*.toml")
        )
        if recipe.example.search(path.read_text(encoding="utf-8"))
    }
    assert {name for name in mentioned if not (recipe.used_by and name.startswith(recipe.used_by))} == recipe.files


def test_every_kind_has_its_recipe_and_touches_few_files():
    assert {recipe.title: len(recipe.files) for recipe in recipes()} == {
        "An operation of the broker": 2,
        "A verb of the command line": 1,
        "A command of the window": 3,
        "A panel": 2,
        "A fault": 3,
        "An assignor": 2,
        "A setting of topics": 4,
        "A Kafka API": 2,
        "A figure": 4,
        "An event kind": 4,
        "A finding of the report": 2,
    }
