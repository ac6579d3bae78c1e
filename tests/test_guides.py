"""The README and the guides: short, linked, and their programs run as they stand."""

from __future__ import annotations

import argparse
import re
import shlex
import sys
from pathlib import Path
from urllib.request import Request, urlopen

import pytest

from app.cli.main import COMMANDS, main
from broker_core import BrokerHost
from broker_core.listeners.access.access import Access
from broker_core.listeners.http.listener import HttpListener
from broker_core.operations.entry import Operation
from broker_core.testing import EmbeddedBroker
from tests.app.cli.conftest import served
from tests.broker_core.admin import Admin
from tests.long_form import form

ROOT = Path(__file__).parent.parent
GUIDES = ROOT / "resources" / "guides"
PAGES = [ROOT / "README.md", *sorted(GUIDES.glob("*.md"))]
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
USUAL = "http://localhost:8080"  # where `brokerscope serve` listens
OF_A_LIBRARY = [ROOT / "README.md", *(GUIDES / f"{name}.md" for name in ("library", "kafka", "http"))]


def programs(page: Path) -> list[str]:
    """Python that stands alone."""
    blocks = [code for language, code in BLOCK.findall(page.read_text("utf-8")) if language == "python"]
    return [code for code in blocks if code.startswith("from ")]


def test_the_library_guide_has_every_name_that_the_library_exports() -> None:
    guide = (GUIDES / "library.md").read_text("utf-8")
    exported = re.findall(r"(\w+) as \w+", (ROOT / "broker_core" / "__init__.pyi").read_text("utf-8"))
    assert [name for name in exported if not re.search(rf"\b{name}s?\b", guide)] == []


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
    with BrokerHost() as host, HttpListener(host) as elsewhere:
        for code in [*found, *found]:
            if "payments" in Admin(host).topics():
                Admin(host).delete_topic("payments")
            exec(code.replace("port=8080", "port=0").replace(USUAL, elsewhere.url), {})


def lines_of_shell(*pages: str) -> list[list[str]]:
    """The words of every command."""
    found = []
    for page in pages:
        for language, code in BLOCK.findall((ROOT / page).read_text("utf-8")):
            if language == "sh":
                found += [shlex.split(line.removesuffix("&"), comments=True) for line in code.splitlines()]
    return found


def test_every_command_of_a_guide_is_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "client.properties").touch()
    pages = [str(page.relative_to(ROOT)) for page in PAGES]
    asked = [words for words in lines_of_shell(*pages) if words[0].endswith("brokerscope")]
    assert len(asked) > 15
    for _, name, *words in asked:
        parser, _run = COMMANDS[name]()
        parser.parse_args(words)


def commands() -> list[list[str]]:
    """Those of `brokerscope` in all guides, each once."""
    pages = [str(page.relative_to(ROOT)) for page in PAGES]
    return [
        list(words)
        for words in dict.fromkeys(
            tuple(words[1:]) for words in lines_of_shell(*pages) if words[0].endswith("brokerscope")
        )
    ]


#: What differs where a command of a guide is run by a test: less time, no window, and another program.
SHORTER = {
    "between": ["--port", "0", "--without-window", "--until", "0.2"],
    "run": ["--until", "3"],
    "watch": ["--until", "0.2"],
}


def test_what_the_guides_run_beside_a_broker_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    done = set()
    with EmbeddedBroker() as broker:
        broker.create_topic("orders", partitions=3)
        broker.publish("orders", b"one")
        assert main(["consume", "orders", "--group", "billing", "--count", "1", "--broker", broker.http_url]) == 0
        places = {"kafka-1:9092": broker.bootstrap_servers, "kafka-1:9092,kafka-2:9092": broker.bootstrap_servers}
        for name, *words in commands():
            if name not in {*SHORTER, "with"} and (name != "groups" or "--kafka" not in words):
                continue
            here = [places.get(word, word.replace("/tmp/", f"{tmp_path}/")) for word in words]
            if "--" in here:
                here = [*here[: here.index("--") + 1], sys.executable, "-c", ""]
            assert main([name, *here, *SHORTER.get(name, ())]) == 0, (here, capfd.readouterr().err)
            done.add(name)
    assert done == {*SHORTER, "with", "groups"}


def test_the_brokers_of_the_guides_begin(tmp_path: Path) -> None:
    found = [words for name, *words in commands() if name == "serve"]
    assert len(found) == 3
    for words in form(found[-1:], found):
        here = [re.sub(r"^(9092|8080)$", "0", word.replace("/tmp/", f"{tmp_path}/")) for word in words]
        with served(*here) as (where, _process):
            assert bool(where["kafka"]) == ("--kafka" in words)


@pytest.mark.long
def test_the_reports_of_the_guides_are_made(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    for name in ("first", "before", "after"):
        assert main(["run", "first-session", "--until", "30", "--session", str(tmp_path / name)]) == 0
    found = [words for name, *words in commands() if name == "report"]
    assert len(found) == 4
    for words in found:
        here = [word.replace("/tmp/", f"{tmp_path}/") for word in words]
        assert main(["report", *here, "--parts", "latency,lag"]) == 0, (words, capfd.readouterr().err)


def curl(broker_url: str, words: list[str]) -> bytes:
    """What curl would do, for the options that the guides have."""
    parser = argparse.ArgumentParser()
    parser.add_argument("url")
    for option in ("-d", "-X", "-H"):
        parser.add_argument(option)
    asked = parser.parse_args(words)
    url = f"{broker_url}/{asked.url.partition('/')[2]}"
    body = None if asked.d is None else asked.d.encode()
    headers = dict([asked.H.split(": ")]) if asked.H else {}
    with urlopen(Request(url, body, headers, method=asked.X)) as answer:
        told: bytes = answer.read()
    return told


@pytest.mark.parametrize("page", ["http", "kafka", "command-line"])
def test_what_a_guide_asks_of_a_running_broker_is_done(page: str) -> None:
    asked = 0
    with EmbeddedBroker() as broker:  # as `serve --testing`
        for program, *words in lines_of_shell(f"resources/guides/{page}.md"):
            if program == "curl":
                curl(broker.http_url, words)
            elif program == "brokerscope" and words[0] in {"topics", "produce", "consume", "groups"}:
                assert main([*words, "--broker", broker.http_url]) == 0
            else:
                continue
            asked += 1
    assert asked


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
