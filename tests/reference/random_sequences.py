"""`make reference-random`: random sequences of requests on a broker of Apache Kafka and on ours, answers compared.

Each sequence has topics, groups and producers of its own. What differs is shrunk by leaving out steps for as long as
it still differs, and printed; the shortest become tests (`test_found_by_chance.py`).
"""

from __future__ import annotations

import argparse
import contextlib
import json
import random
import struct
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from broker_core.listeners.kafka import apis  # noqa: F401 - fills the table
from tests.broker_core.listeners.kafka.raw import KEYS, Raw
from tests.reference import brokers
from tests.reference.comparison import Difference, Judge, meant_differences
from tests.reference.java_programs import NotHere, libraries
from tests.reference.sequences import PATIENCE_S, World, some_steps

MEANT = Path(__file__).parent / "meant_by_chance.yaml"


# Kafka assigns with the heartbeat that asks for it, as ours does, and not up to a second later.
AT_ONCE = """\
group.consumer.min.assignment.interval.ms=0
group.consumer.assignment.interval.ms=0
group.consumer.assignor.offload.enable=false
group.share.min.assignment.interval.ms=0
group.share.assignment.interval.ms=0
group.share.assignor.offload.enable=false
"""


def told(steps: list[list[Any]], servers: str, name: str) -> list[str]:
    """What a broker answers to each step, as text; the last of them may be that it ends the connection."""
    found: list[str] = []
    with contextlib.closing(Raw(int(servers.rpartition(":")[2]))) as connection:
        world = World(connection, name)
        try:
            for step in steps:
                found.append(world.told(step))
        except (OSError, struct.error) as error:
            found.append(f"no answer: {type(error).__name__}")
    return found


def first_difference(steps: list[list[Any]], real: str, ours: str, judge: Judge, name: str) -> Difference | None:
    """The first step that is answered differently, and not as meant."""
    pairs = zip(steps, told(steps, real, name), told(steps, ours, name), strict=False)
    found = [Difference(f"{step[0]}/{json.dumps(step[1:])}", one, other) for step, one, other in pairs if one != other]
    left = judge.unmeant(found)
    return left[0] if left else None


def ready(servers: str) -> None:
    """Kafka makes the topics of its coordinators when it is first asked for one."""
    with contextlib.closing(Raw(int(servers.rpartition(":")[2]))) as connection:
        for kind, key in ((0, "g"), (1, "p"), (2, "g:AAAAAAAAAAAAAAAAAAAAAQ:0")):
            until_s = time.monotonic() + PATIENCE_S
            asked = {"key_type": kind, "coordinator_keys": [key]}
            while connection.asked(KEYS["FindCoordinator"], 6, asked).coordinators[0].error_code.name != "none":
                assert time.monotonic() < until_s, f"{servers} has no coordinator of kind {kind}"
                time.sleep(0.2)
        world = World(connection, "ready")
        for step in (["committed", "consumer"], ["init_producer", "p"], ["set_share_offset", 0, 0, 0]):
            until_s = time.monotonic() + PATIENCE_S
            while any(word in world.told(step) for word in ("coordinator", "load_in_progress")):
                assert time.monotonic() < until_s, f"{servers} does not answer {step}"
                time.sleep(0.2)


class Search:
    """Tries sequences and shrinks what it finds."""

    def __init__(self, real: str, ours: str, seed: int) -> None:
        self._real, self._ours, self._seed, self._tried = real, ours, seed, 0
        for servers in (real, ours):
            ready(servers)
        self._judge = Judge(meant_differences(MEANT))

    def _differs(self, steps: list[list[Any]]) -> Difference | None:
        self._tried += 1
        return first_difference(steps, self._real, self._ours, self._judge, f"x{self._seed}-{self._tried}-")

    def shrunk(self, steps: list[list[Any]]) -> list[list[Any]]:
        """No step of it can be left out."""
        position = len(steps)
        while position > 0:
            position -= 1
            fewer = steps[:position] + steps[position + 1 :]
            if fewer and self._differs(fewer) and self._differs(fewer):
                steps = fewer
        return steps

    def run(self, count: int, until_s: float) -> dict[str, tuple[list[list[Any]], Difference]]:
        """The shortest sequence for each kind of step that was answered differently."""
        found: dict[str, tuple[list[list[Any]], Difference]] = {}
        for number in range(count):
            if number and number % 100 == 0:
                print(f"{number} sequences were tried", flush=True)
            if time.monotonic() > until_s:
                print(f"{number} sequences were tried; the time is over")
                break
            steps = some_steps(random.Random(f"{self._seed} {number}"))
            difference = self._differs(steps)
            if difference is None or not self._differs(steps):
                continue
            kind = f"{difference.where.partition('/')[0]}: {difference.real[:60]} / {difference.ours[:60]}"
            if kind not in found:
                shortest = self.shrunk(steps)
                found[kind] = shortest, self._differs(shortest) or difference
                print(f"sequence {number}: {json.dumps(shortest)}\n  {found[kind][1]}", flush=True)
        else:
            print(f"{count} sequences were tried")
        return found


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.reference.random_sequences")
    parser.add_argument("--count", type=int, default=2_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--minutes", type=float, default=60)
    arguments = parser.parse_args()
    try:
        jars = libraries()
        with contextlib.ExitStack() as stack:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="reference-")))
            real = stack.enter_context(brokers.kafka(jars, folder, more=AT_ONCE))
            ours = stack.enter_context(brokers.ours(folder))
            search = Search(real, ours, arguments.seed)
            found = search.run(arguments.count, time.monotonic() + arguments.minutes * 60)
    except NotHere as error:
        print(f"Nothing was compared with Apache Kafka. {error}")
        return 0
    print(f"{len(found)} kinds of differences")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
