"""The README and the guides: short, linked, and their programs run as they stand."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from broker_core.listeners.access.access import Access
from broker_core.operations.entry import Operation

ROOT = Path(__file__).parent.parent
GUIDES = ROOT / "resources" / "guides"
PAGES = [ROOT / "README.md", *sorted(GUIDES.glob("*.md"))]
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
OF_A_LIBRARY = [ROOT / "README.md", *(GUIDES / f"{name}.md" for name in ("library", "kafka", "http"))]


def programs(page: Path) -> list[str]:
    """Python that stands alone."""
    blocks = [code for language, code in BLOCK.findall(page.read_text("utf-8")) if language == "python"]
    return [code for code in blocks if code.startswith("from ")]


def test_the_readme_is_read_in_minutes() -> None:
    text = (ROOT / "README.md").read_text("utf-8")
    assert len(text.splitlines()) <= 130
    assert text.splitlines()[4].startswith("!["), "it opens with a picture"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_link_leads_to_a_file(page: Path) -> None:
    links = re.findall(r"\]\(([^)#]+)\)", page.read_text("utf-8"))
    assert [link for link in links if not (page.parent / link).exists()] == []


@pytest.mark.parametrize("page", OF_A_LIBRARY, ids=lambda page: page.name)
def test_the_programs_run_and_run_again(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("builtins.input", lambda _prompt: "")
    found = programs(page)
    assert found
    for code in [*found, *found]:
        if "HttpBroker(" in code:  # asks a broker that runs elsewhere; tests of the client do that
            compile(code, page.name, "exec")
        else:
            exec(code.replace("port=8080", "port=0"), {})


@pytest.mark.parametrize("name", ["http", "attach"])
def test_the_access_files_are_whole(name: str, tmp_path: Path) -> None:
    blocks = BLOCK.findall((GUIDES / f"{name}.md").read_text("utf-8"))
    (file,) = [code for language, code in blocks if language == "toml"]
    (tmp_path / "access.toml").write_text(file, "utf-8")
    access = Access.of_file(tmp_path / "access.toml")
    someone = access.principal("at-least-sixteen-characters")
    access.check(someone, Operation.ADMIN, "broker")
    access.check(someone, Operation.READ, "topic", "orders")


@pytest.mark.parametrize("german", sorted(GUIDES.glob("*.de.md")), ids=lambda page: page.name)
def test_a_german_guide_has_the_programs_of_the_english_one(german: Path) -> None:
    english = GUIDES / german.name.replace(".de", "")
    assert BLOCK.findall(german.read_text("utf-8")) == BLOCK.findall(english.read_text("utf-8"))
    heads = [len(re.findall(r"^#+ ", page.read_text("utf-8"), re.MULTILINE)) for page in (german, english)]
    assert heads[0] == heads[1]
