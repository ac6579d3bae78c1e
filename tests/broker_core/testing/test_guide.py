"""The recipes of the guide and the test of the README, each run as it stands."""

import re
from pathlib import Path

from tests import long_form

GUIDES = Path(__file__).parents[3] / "resources" / "guides"
RECIPE = re.compile(r"^## (.+?)\n(.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL)
CODE = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def recipes(name: str = "testing.md") -> dict[str, str]:
    """The code of each, by title."""
    text = (GUIDES / name).read_text(encoding="utf-8")
    found = {}
    for title, body in RECIPE.findall(text):
        (found[title],) = CODE.findall(body)
    return found


@long_form.both
def test_the_recipes_pass_as_they_stand(pytester, run_pytest, fewer_schedules):
    found = recipes()
    readme = (GUIDES.parents[1] / "README.md").read_text(encoding="utf-8")
    (found["the readme"],) = [code for code in CODE.findall(readme) if "def test_" in code]
    files = {f"test_{re.sub('[^a-z]+', '_', title.lower())}": code for title, code in found.items()}
    pytester.makepyfile(**files)
    done = run_pytest("-rA", "-oasyncio_default_fixture_loop_scope=function", plugins=("pytest_asyncio.plugin",))
    passed = {name for name in files if re.search(rf"^PASSED {name}\.py", done.stdout.str(), re.MULTILINE)}
    assert passed == {*files}
    assert set(done.parseoutcomes()) == {"passed"}
    assert len(found) >= 10


def test_the_german_guide_has_the_same_recipes():
    assert list(recipes("testing.de.md").values()) == list(recipes().values())
