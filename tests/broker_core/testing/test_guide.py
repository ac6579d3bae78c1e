"""The recipes of the guide, each run as it stands."""

import os
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
GUIDES = ROOT / "resources" / "guides"
RECIPE = re.compile(r"^## (.+?)\n(.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL)
CODE = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def recipes(name: str = "testing.md") -> dict[str, str]:
    """The code of each, by title."""
    text = (GUIDES / name).read_text(encoding="utf-8")
    found = {}
    for title, body in RECIPE.findall(text):
        (found[title],) = CODE.findall(body)
    return found


TITLES = list(recipes())


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory) -> dict[str, list[str]]:
    """By file, the outcome of each of its tests."""
    folder = tmp_path_factory.mktemp("guide")
    for number, code in enumerate(recipes().values()):
        (folder / f"test_recipe_{number}.py").write_text(code, encoding="utf-8")
    plugin = ("-p", "no:brokerscope", "-p", "broker_core.testing.plugin", "-p", "anyio.pytest_plugin")
    subprocess.run(
        [sys.executable, "-m", "pytest", *plugin, "-q", "--rootdir", ".", "--junitxml", "outcomes.xml"],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        check=False,
    )
    found: dict[str, list[str]] = {}
    for case in ET.parse(folder / "outcomes.xml").iter("testcase"):
        problems = [part.get("message") or part.tag for part in case if part.tag in {"failure", "error", "skipped"}]
        found.setdefault(case.attrib["classname"], []).append(problems[0] if problems else "passed")
    return found


def test_there_are_ten():
    assert len(TITLES) >= 10


@pytest.mark.parametrize("number", range(len(TITLES)), ids=lambda number: re.sub(r"\W+", "-", TITLES[number]))
def test_a_recipe_passes_as_it_stands(outcomes, number):
    assert set(outcomes[f"test_recipe_{number}"]) == {"passed"}


def test_the_recipe_of_xdist_passes_in_several_processes(tmp_path):
    (code,) = (code for title, code in recipes().items() if "xdist" in title)
    (tmp_path / "test_recipe.py").write_text(code, encoding="utf-8")
    plugin = ("-p", "no:brokerscope", "-p", "broker_core.testing.plugin")
    ran = subprocess.run(
        [sys.executable, "-m", "pytest", *plugin, "-n", "2", "-q", "--rootdir", "."],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        check=False,
        capture_output=True,
        text=True,
    )
    assert "4 passed" in ran.stdout, ran.stdout


def test_the_german_guide_has_the_same_recipes():
    assert list(recipes("testing.de.md").values()) == list(recipes().values())
