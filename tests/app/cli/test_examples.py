"""The programs of the walk-through in resources/scenarios/README.md, as they stand, against a broker."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from broker_core.simulation.arrival_files import DataFiles
from broker_core.simulation.scenario import load_scenario
from broker_core.simulation.simulation import Simulation
from tests.app.cli.conftest import ROOT, served
from tests.processes import Process

EXAMPLES = ROOT / "resources" / "examples"


WALK_THROUGH = ROOT / "resources" / "scenarios" / "README.md"


@contextmanager
def program(name: str, where: str, *words: str) -> Iterator[Process]:
    """One of the examples as a process; it is interrupted at the end."""
    with process_of(str(EXAMPLES / name), "--bootstrap-servers", where, *words) as process:
        yield process


@contextmanager
def process_of(*words: str) -> Iterator[Process]:
    """Python with these words; it is interrupted at the end."""
    process = Process([sys.executable, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        yield process
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGINT)
        process.communicate(timeout=30)


def line_with(process: Process, pattern: str) -> re.Match[str]:
    """The first line from here on that `pattern` is found in."""
    lines = []
    for line in process.stdout:
        lines.append(line)
        if found := re.search(pattern, line):
            return found
    raise AssertionError(f"{pattern} is in none of {lines}")


def owns(process: Process, more: int) -> None:
    """It is given so many partitions from here on, in one step or several."""
    while more > 0:
        more -= line_with(process, "gets orders.*")[0].count("orders/")
    assert more == 0


@pytest.mark.parametrize("protocol", ["classic", "consumer"])
def test_two_consumers_share_what_the_producer_sends(protocol: str) -> None:
    with served("--kafka", "0", "--create-topics", "6") as (where, _process):
        address = where["kafka"]
        with program("producer.py", address, "--count", "200", "--per-s", "500") as producer:
            line_with(producer, "phone-shop: 200 stored")
            assert producer.wait(timeout=30) == 0
        words = ("--protocol", protocol, "--work-ms", "0")
        with program("consumer.py", address, "--client-id", "one", "--count", "200", *words) as one:
            assert line_with(one, "one: gets (.*)")[1].count("orders/") == 6
            line_with(one, r"one: 200 messages, the last orders/\d at \d+")
            line_with(one, "one: has left")
            assert one.wait(timeout=30) == 0
        with program("consumer.py", address, "--client-id", "one", *words) as one:
            owns(one, 6)
            with program("consumer.py", address, "--client-id", "two", *words) as two:
                line_with(one, "one: gives back orders/")
                owns(two, 3)
                one.send_signal(signal.SIGINT)
                line_with(one, "one: has left")
                owns(two, 3)


def test_the_program_in_the_text_runs() -> None:
    text = re.findall("```python\n(.*?)```", WALK_THROUGH.read_text(encoding="utf-8"), re.DOTALL)[0]
    assert '"127.0.0.1:9092"' in text
    with served("--kafka", "0", "--create-topics", "2") as (where, _process):
        address = where["kafka"]
        with program("producer.py", address, "--count", "20", "--per-s", "500") as producer:
            line_with(producer, "20 stored")
        with process_of("-c", text.replace("127.0.0.1:9092", address)) as reader:
            line_with(reader, r"\d \d+ b'{\"order\": \d+, \"from\": \"phone-shop\"}'")
            reader.send_signal(signal.SIGINT)
            assert reader.wait(timeout=30) == 0


def test_its_scenario_is_one() -> None:
    scenario, _text = load_scenario(EXAMPLES / "orders.yaml")
    simulation = Simulation(scenario, find_file=DataFiles(EXAMPLES / "orders.yaml"))
    simulation.start()
    simulation.loop.run_until(30 * 1_000_000_000)
    assert 200 < simulation.snapshot().totals.published < 400
    simulation.close()


def test_the_walk_through_names_what_is_there() -> None:
    text = WALK_THROUGH.read_text(encoding="utf-8")
    named = set(re.findall(r"resources/examples/([\w.]+)", text))
    assert named == {path.name for path in EXAMPLES.iterdir() if path.suffix in {".py", ".yaml"}}
