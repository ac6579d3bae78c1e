"""The class path of Spark's driver: what a report needs comes first, and what costs a second is not there."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from spark_reports.errors import ReportError
from spark_reports.spark import jvm
from spark_reports.spark.java import find_java

pytestmark = pytest.mark.spark


def test_the_jars_with_most_classes_come_first_and_no_other_is_lost() -> None:
    home = jvm.spark_home()
    found = [jar.name for jar in jvm.jars(home)]
    for name, jar in zip(jvm.FIRST, found, strict=False):
        assert jar.startswith(name), "an update of Spark has renamed it"
    left_out = {jar.name for jar in (home / "jars").glob("*.jar")} - set(found)
    assert [name.startswith("spark-mllib_") for name in left_out] == [True]
    assert len(set(found)) == len(found)


def test_java_gets_every_path_as_it_is(tmp_path: Path) -> None:
    home = tmp_path / 'a "folder" with \\ and blanks'
    (home / "jars").mkdir(parents=True)
    for name in ("some other.jar", "spark-core_2.13.jar", "spark-mllib_2.13.jar"):
        (home / "jars" / name).touch()
    command = [str(find_java()), f"@{jvm.class_path(home, tmp_path)}", "-XshowSettings:properties", "-version"]
    told = subprocess.run(command, capture_output=True, text=True, check=True).stderr.splitlines()
    first = next(number for number, line in enumerate(told) if "java.class.path" in line)
    expected = [str(home / "conf"), *(str(home / "jars" / name) for name in ("spark-core_2.13.jar", "some other.jar"))]
    assert [line.partition(" = ")[2] or line.strip() for line in told[first : first + 3]] == expected


def _why_it_ended(work: Path, said: str) -> str:
    """What is told of a Java that says this and ends."""
    (work / "said").write_text(said)
    java = work / "java"
    java.write_text(f"#!/bin/sh\ncat '{work}/said' >&2\nexit 1\n")
    java.chmod(0o755)
    process = jvm.Jvm(java, work, work / "log")
    try:
        with pytest.raises(ReportError) as raised:
            process.connect()
    finally:
        process.close()
    return str(raised.value).removeprefix("Java ended with code 1 before Spark was up")


def test_why_java_ended_is_the_root_cause_and_not_that_of_an_earlier_one(tmp_path: Path) -> None:
    lost = "Error: Could not find or load main class org.X\nCaused by: java.lang.ClassNotFoundException: org.X\n"
    assert _why_it_ended(tmp_path, lost) == " (ClassNotFoundException: org.X)."
    full = 'Exception in thread "main" java.lang.OutOfMemoryError: Java heap space\n\tat org.X.main(X.java:1)\n'
    assert _why_it_ended(tmp_path, full) == " (OutOfMemoryError: Java heap space)."
    assert _why_it_ended(tmp_path, "") == "."
    assert _why_it_ended(tmp_path, "Error occurred during initialization of VM\nToo small maximum heap\n") == (
        " (Too small maximum heap)."
    )
