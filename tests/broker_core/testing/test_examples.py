"""The programs in resources/examples with their tests, run as a user would."""

import os
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
EXAMPLES = ROOT / "resources" / "examples"
TESTED = sorted(path.parent.name for path in EXAMPLES.glob("*/test_*.py"))


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory) -> dict[str, dict[str, str]]:
    """By example, the outcome of each of its tests."""
    folder = tmp_path_factory.mktemp("examples")
    for name in TESTED:
        shutil.copytree(EXAMPLES / name, folder / name, ignore=shutil.ignore_patterns("__pycache__", ".*"))
    plugin = ["-p", "no:brokerscope", "-p", "broker_core.testing.plugin"]
    subprocess.run(
        [sys.executable, "-m", "pytest", *plugin, "--rootdir", ".", "--junitxml", "outcomes.xml", "-q", *TESTED],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        check=False,
    )
    found: dict[str, dict[str, str]] = {name: {} for name in TESTED}
    for case in ET.parse(folder / "outcomes.xml").iter("testcase"):
        parts = [(part.tag, part.get("message")) for part in case if part.tag in {"failure", "error", "skipped"}]
        outcome = "passed" if not parts else " ".join(str(each) for each in parts[0])
        found[case.attrib["classname"].split(".")[0]][case.attrib["name"]] = outcome
    return found


@pytest.mark.parametrize("name", TESTED)
def test_the_tests_of_an_example_pass(outcomes, name):
    assert outcomes[name]
    expected = {
        test: "skipped it commits before it writes" if test.startswith("test_the_first_version") else "passed"
        for test in outcomes[name]
    }
    assert outcomes[name] == expected


def test_every_example_is_in_the_list():
    listed = (EXAMPLES / "README.md").read_text(encoding="utf-8")
    assert {path.name for path in EXAMPLES.iterdir() if f"`{path.name}" not in listed} <= {"README.md", "__pycache__"}
