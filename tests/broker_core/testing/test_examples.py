"""The programs in resources/examples with their tests, run as a user would."""

import shutil
from pathlib import Path

from tests import long_form

EXAMPLES = Path(__file__).parents[3] / "resources" / "examples"
TESTED = sorted(path.parent.name for path in EXAMPLES.glob("*/test_*.py"))


@long_form.both
def test_the_tests_of_the_examples_pass(pytester, run_pytest, fewer_schedules):
    for name in TESTED:
        shutil.copytree(EXAMPLES / name, pytester.path / name, ignore=shutil.ignore_patterns("__pycache__", ".*"))
    done = run_pytest("-rA", *TESTED)
    told = done.stdout.str()
    assert [name for name in TESTED if f"PASSED {name}/" in told] == TESTED
    done.stdout.fnmatch_lines(["XFAIL billing/test_billing.py::test_the_first_version_* - it commits before it writes"])
    assert done.parseoutcomes().keys() == {"passed", "xfailed"}


def test_every_example_is_in_the_list():
    listed = (EXAMPLES / "README.md").read_text(encoding="utf-8")
    assert {path.name for path in EXAMPLES.iterdir() if f"`{path.name}" not in listed} <= {"README.md", "__pycache__"}
