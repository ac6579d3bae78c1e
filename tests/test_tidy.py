"""Rules of the code that no linter knows."""

import ast
import os
import re
import sys
import tomllib
from collections.abc import Iterator
from fnmatch import fnmatch
from functools import cache
from graphlib import TopologicalSorter
from importlib import metadata
from pathlib import Path

import pytest
from PySide6.QtCore import QTimer

from tests.costs import ALWAYS, LIST, costly

ROOT = Path(__file__).parent.parent
LINES_MAX = 600  # files follow responsibility; this only finds those that have lost theirs
OURS = "brokerscope["
PRODUCT = ("app", "broker_core", "widgets", "spark_reports")
PACKAGES = {*PRODUCT, "resources", "tests"}
FILES_ON_TOP = {
    "main.py",
    "pyproject.toml",
    "README.md",
    "CONTRIBUTING.md",
    "LICENSE",
    "Makefile",
    "CHANGELOG.md",
    ".gitignore",
}

# Written in pieces, so that this file does not find itself.
UNFINISHED = re.compile("|".join(["TO" + "DO", "FIX" + "ME", "XX" + "X", "NotImplemented" + "Error"]))


@cache
def kept_files() -> list[Path]:
    """Every file but what .gitignore names; read without git, which a user's machine may lack."""
    ignored = [".git", *(line.rstrip("/") for line in (ROOT / ".gitignore").read_text().splitlines())]
    found = []
    for folder, folders, files in os.walk(ROOT):
        for names in (folders, files):
            names[:] = [name for name in names if not any(fnmatch(name, pattern) for pattern in ignored)]
        found += [Path(folder, name) for name in files]
    return sorted(found)


def python_files(*below: str) -> list[Path]:
    inside = [ROOT / name for name in below] or [ROOT]
    return [path for path in kept_files() if path.suffix == ".py" and any(path.is_relative_to(one) for one in inside)]


def places(paths: list[Path], pattern: re.Pattern[str]) -> list[str]:
    """``file:line`` of every match; binary files are passed over."""
    found = []
    for path in paths:
        try:
            lines = path.read_text("utf-8").splitlines()
        except UnicodeDecodeError:
            continue
        hits = (number for number, line in enumerate(lines, 1) if pattern.search(line))
        found += [f"{path.relative_to(ROOT)}:{number}" for number in hits]
    return found


def test_the_top_level_holds_only_what_it_should():
    tops = {path.relative_to(ROOT).parts[0] for path in kept_files()}
    assert tops <= PACKAGES | FILES_ON_TOP | {".ci"}


def test_guides_and_notes_name_files_that_are_there():
    files = {path.relative_to(ROOT).as_posix() for path in kept_files()}
    pages = [path for path in kept_files() if path.suffix == ".md"]
    named = {(page, name) for page in pages for name in re.findall(r"`([\w/]+\.py)`", page.read_text("utf-8"))}
    assert len(named) > 50
    assert [
        f"{page.relative_to(ROOT)}: {name}"
        for page, name in sorted(named)
        if not any(f"/{file}".endswith(f"/{name}") for file in files)
    ] == []


def test_no_file_has_grown_out_of_hand():
    lengths = {str(path.relative_to(ROOT)): len(path.read_bytes().splitlines()) for path in python_files()}
    assert {name: length for name, length in lengths.items() if length > LINES_MAX} == {}


def test_files_are_named_after_the_noun_in_them():
    vague = {"utils.py", "util.py", "helpers.py", "misc.py", "common.py"}
    assert [str(path) for path in python_files() if path.name in vague] == []


@cache
def core_layers() -> list[set[str]]:
    """The packages and modules of each layer of the core, as the import contract has them."""
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    layers = next(each["layers"] for each in contracts if each.get("containers") == ["broker_core"])
    return [set(re.findall(r"\w+", layer)) for layer in layers]


def test_nothing_is_left_unfinished():
    assert places(python_files(), UNFINISHED) == []


def test_no_sentence_has_a_name_in_braces_that_nothing_fills():
    # By rich, by the action of the sentence, and by the request that is asked about.
    filled = {"{task.description}", "{fault.what}", "{it.name}"}
    name = re.compile(r"\{(?:[A-Z][A-Z_]+|\w+\.\w+)\}")
    for path in python_files(*PRODUCT):
        text = path.read_text("utf-8")
        for node in ast.walk(ast.parse(text)) if name.search(text) else ():
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                assert set(name.findall(node.value)) <= filled, f"{path}:{node.lineno} lacks an f"


def test_the_core_prints_nothing():
    assert places(python_files("broker_core"), re.compile(r"^\s*print\(")) == []


Definition = ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


def public_definitions(node: ast.AST, prefix: str = "") -> Iterator[tuple[str, Definition]]:
    """Classes, functions and methods with a public name, at any depth of classes."""
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, Definition):
            continue
        if child.name.startswith("_") or is_overload(child):
            continue
        yield prefix + child.name, child
        if isinstance(child, ast.ClassDef):
            yield from public_definitions(child, f"{prefix}{child.name}.")


def is_overload(node: Definition) -> bool:
    return any(isinstance(mark, ast.Name) and mark.id == "overload" for mark in node.decorator_list)


def test_what_the_library_offers_says_what_it_is():
    """A method may leave it to the port that it fills: another class's documented method of its name. Below what the
    library offers, a name and its types may say it all.
    """
    offered = set(re.findall(r"(\w+) as \w+", (ROOT / "broker_core/__init__.pyi").read_text("utf-8")))
    documented, silent = set(), []
    for path in python_files("broker_core"):
        for name, node in public_definitions(ast.parse(path.read_text("utf-8"))):
            owner, _, last = name.rpartition(".")
            if ast.get_docstring(node) is not None:
                documented.add(last)
            elif (owner or name) in offered:
                silent.append((last if owner else "", f"{path.relative_to(ROOT)}:{node.lineno} {name}"))
    assert [place for method, place in silent if method not in documented] == []


def layer_of(path: Path) -> str:
    """The layer that a file is in: a root package, or one of the core's."""
    root, *inner = path.relative_to(ROOT).parts
    if root != "broker_core":
        return root
    name = inner[0].removesuffix(".py")
    return next((f"{root} {number}" for number, names in enumerate(core_layers()) if name in names), root)


def test_no_class_name_stands_twice_in_a_layer():
    places: dict[tuple[str, str], list[str]] = {}
    for path in python_files(*PRODUCT):
        for name in re.findall(r"^ *class (\w+)[(:\[]", path.read_text("utf-8"), re.MULTILINE):
            places.setdefault((layer_of(path), name), []).append(str(path.relative_to(ROOT)))
    assert {name: found for (_, name), found in places.items() if len(found) > 1} == {}


IMPORTS = re.compile(r"^ *from ([\w.]+) import (\([^)]*\)|.+)|^ *import ([\w.]+)", re.MULTILINE)


def test_no_files_import_each_other_in_a_circle():
    """Imports in functions and for types count, too: what two files share belongs below both."""
    files = {".".join(path.relative_to(ROOT).with_suffix("").parts): path for path in python_files(*PRODUCT)}
    files = {name.removesuffix(".__init__"): path for name, path in files.items()}
    graph: dict[str, set[str]] = {}
    for name, path in files.items():
        imported = graph[name] = set()
        for module, names, whole in IMPORTS.findall(path.read_text("utf-8")):
            inside = {f"{module}.{each}" for each in re.findall(r"\w+", names)} & files.keys()
            imported |= (inside or {module or whole}) - {name}
    TopologicalSorter(graph).prepare()  # raises CycleError, which names the circle


def canonical(name: str) -> str:
    """A distribution's name as PEP 503 compares it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def test_every_dependency_is_pinned():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"].values()
    asked = [*project["dependencies"], *(line for lines in extras for line in lines if not line.startswith(OURS))]
    pins = (ROOT / ".ci" / "constraints.txt").read_text().splitlines()
    assert [line for line in pins if not re.fullmatch(r"[A-Za-z0-9_.-]+==[^\s=]+", line)] == []
    pinned = {canonical(line.partition("==")[0]) for line in pins}
    names = {canonical(re.split(r"[^A-Za-z0-9_.-]", line, maxsplit=1)[0]) for line in asked}
    assert names - pinned == set()


def test_what_is_installed_is_what_is_pinned():
    """An environment that drifted hides that a fresh one cannot be made."""
    pins = (line.partition("==") for line in (ROOT / ".ci" / "constraints.txt").read_text().splitlines())
    wanted = {canonical(name): version for name, _, version in pins}
    present = {canonical(each.metadata["Name"]): each.version for each in metadata.distributions()}
    assert {name: present[name] for name in wanted.keys() & present if present[name] != wanted[name]} == {}


@pytest.mark.usefixtures("qapp")
def test_qt_does_not_steal_references():
    """PySide6 6.12.0 drops a reference to None, True or False with each void or bool call on Python 3.11."""
    timer = QTimer()
    calls = 500
    before = [sys.getrefcount(one) for one in (None, True, False)]
    for _ in range(calls):
        timer.stop()
        timer.setSingleShot(True)
        timer.isSingleShot()
        timer.setSingleShot(False)
        timer.isSingleShot()
        timer.isActive()
    after = [sys.getrefcount(one) for one in (None, True, False)]
    assert all(new > old - calls // 2 for old, new in zip(before, after, strict=True)), (before, after)


def test_every_costly_test_is_there_and_may_be_left_to_make_check():
    for test in costly():
        file, name = test.split("::")[:2]
        assert f"def {name.split('[')[0]}(" in (ROOT / file).read_text("utf-8"), f"{test}: take it out of {LIST.name}"
        assert not test.startswith(ALWAYS)
