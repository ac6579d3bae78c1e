"""The Kafka listener, and the ports between, with the Java client beside a broker of Apache Kafka.

Six partitions, messages of 100 bytes.
"""

from __future__ import annotations

import contextlib
import json
import os
import statistics
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import pytest

from tests.benchmarks.core.measure import show_rows
from tests.benchmarks.listeners.test_between import between
from tests.reference import brokers
from tests.reference.java_programs import NotHere, classes, libraries

pytestmark = [pytest.mark.bench, pytest.mark.timeout(900)]

ROUNDS, RECORDS = 5, 1_000_000
# What is measured, its goal, and whether more is better: ratios to Apache Kafka, and for BETWEEN the time added.
GOALS = {
    "produce": ("records/s", 1.2, True),
    "consume": ("records/s", 0.9, True),
    "p50": ("ms end to end", 1.0, False),
    "p99": ("ms end to end", 1.0, False),
}
BETWEEN = {
    "produce": ("records/s", 0.85, True),
    "consume": ("records/s", 0.75, True),
    "p50": ("ms end to end", 0.5, False),
    "p99": ("ms end to end", 2.0, False),
}


def told_by(both: list[str], jars: Path) -> list[list[dict[str, float]]]:
    """What the client says of each of two brokers, round by round."""
    path = f"{classes(jars)}{os.pathsep}{jars}/*"
    options = ["-Xmx600m", "-XX:+UseSerialGC", "-Dorg.slf4j.simpleLogger.defaultLogLevel=error"]
    command = ["java", *options, "-cp", path, "reference.Speed", str(ROUNDS), str(RECORDS), *both]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=800)
    told = [json.loads(line) for line in done.stdout.splitlines()]
    return [[each for each in told if each["servers"] == servers] for servers in both]


def test_the_java_client() -> None:
    """Goals: produce 1.2 and consume 0.9 of Apache Kafka's rate; end to end at 1,000/s at most its time."""
    with contextlib.ExitStack() as stack:
        jars, folder = beginning(stack)
        both = [stack.enter_context(brokers.kafka(jars, folder)), stack.enter_context(brokers.ours(folder))]
        real, ours = told_by(both, jars)
    rows = []
    for name, (unit, goal, more) in GOALS.items():
        ratio = statistics.median(mine[name] / theirs[name] for mine, theirs in zip(ours, real, strict=True))
        rows.append(row(name, unit, (real, ours), ratio, goal, more))
    show_rows(f"Kafka: the Java client, medians of {ROUNDS}", ("Apache Kafka", "ours", "ratio", "goal", ""), rows)


def test_the_java_client_through_the_ports() -> None:
    """Goals: produce 0.85 and consume 0.75 of direct, watched and recorded; at 1,000/s 0.5 and 2 ms more."""
    with contextlib.ExitStack() as stack:
        jars, folder = beginning(stack)
        servers = stack.enter_context(brokers.kafka(jars, folder))
        direct, through = told_by([servers, stack.enter_context(between(servers))], jars)
    rows = []
    for name, (unit, goal, more) in BETWEEN.items():
        pairs = [(mine[name], theirs[name]) for mine, theirs in zip(through, direct, strict=True)]
        found = statistics.median(mine / theirs if more else mine - theirs for mine, theirs in pairs)
        rows.append(row(name, unit, (direct, through), found, goal, more))
    header = ("direct", "through the ports", "ratio, or ms more", "goal", "")
    show_rows(f"Between: the Java client at Apache Kafka, medians of {ROUNDS}", header, rows)


def beginning(stack: contextlib.ExitStack) -> tuple[Path, Path]:
    """The libraries and a folder."""
    try:
        return libraries(), Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="reference-")))
    except NotHere as error:
        pytest.skip(str(error))


def row(name: str, unit: str, both: tuple[Any, Any], found: float, goal: float, more: bool) -> tuple[str, ...]:
    figures = (f"{statistics.median(each[name] for each in one):,.{0 if more else 1}f}" for one in both)
    verdict = "met" if (found >= goal if more else found <= goal) else "missed"
    return (f"{name}, {unit}", *figures, f"{found:.2f}", f"{goal:g}", verdict)
