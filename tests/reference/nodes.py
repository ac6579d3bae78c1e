"""Three nodes of Apache Kafka, to be killed, stopped and held up, and an administrator of theirs in Java."""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import random
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

from tests.reference.brokers import PATIENCE_S, answers, is_free
from tests.reference.java_programs import NotHere, classes, dies_with_us, end

COUNT: Final = 3
_PORTS: Final = range(24_000, 25_000)  # below those that connections get while a node is away
_JAVA: Final = ["-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-XX:-UsePerfData"]
_SETTINGS: Final = """\
process.roles=broker,controller
node.id={node}
broker.rack=rack-{node}
controller.quorum.voters={voters}
listeners=PLAINTEXT://127.0.0.1:{port},CONTROLLER://127.0.0.1:{controller}
controller.listener.names=CONTROLLER
listener.security.protocol.map=PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT
inter.broker.listener.name=PLAINTEXT
log.dirs={data}
default.replication.factor=3
offsets.topic.replication.factor=3
offsets.topic.num.partitions=6
transaction.state.log.replication.factor=3
transaction.state.log.min.isr=1
transaction.state.log.num.partitions=6
share.coordinator.state.topic.replication.factor=3
share.coordinator.state.topic.min.isr=1
share.coordinator.state.topic.num.partitions=6
group.initial.rebalance.delay.ms=0
leader.imbalance.check.interval.seconds=3600
"""


class Nodes:
    """Their numbers are 1 to 3. All die with this process."""

    def __init__(self, jars: Path, folder: Path) -> None:
        self._jars, self._folder = jars, folder
        self._running: dict[int, subprocess.Popen[bytes]] = {}
        free = filter(is_free, random.sample(_PORTS, len(_PORTS)))
        self.ports = {node: next(free) for node in range(1, COUNT + 1)}
        controllers = {node: next(free) for node in self.ports}
        voters = ",".join(f"{node}@127.0.0.1:{port}" for node, port in controllers.items())
        for node, port in self.ports.items():
            (own := self._own(node)).mkdir()
            where = {"node": node, "port": port, "controller": controllers[node], "data": own / "data"}
            (own / "server.properties").write_text(_SETTINGS.format(voters=voters, **where))
            formatting = ["kafka.tools.StorageTool", "format", "-t", "brokerscope-nodes______", "-c"]
            with (own / "log").open("w") as log:
                command = [*self._java(), *formatting, str(own / "server.properties")]
                subprocess.run(command, stdout=log, stderr=log, check=False, timeout=PATIENCE_S)

    @property
    def servers(self) -> str:
        return ",".join(f"127.0.0.1:{port}" for port in self.ports.values())

    def start(self, *nodes: int) -> None:
        """All of them without any. Returns at once."""
        for node in nodes or self.ports:
            own = self._own(node)
            level = "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn"
            command = [*self._java("-Xmx256m", level), "kafka.Kafka", str(own / "server.properties")]
            with (own / "log").open("a") as log:
                self._running[node] = subprocess.Popen(
                    command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True,
                    preexec_fn=dies_with_us,  # noqa: PLW1509 - it only asks the kernel for something
                )  # fmt: skip

    def await_answers(self) -> None:
        """Raises NotHere where one has not started."""
        until_s = time.monotonic() + PATIENCE_S
        while not all(map(answers, self.ports.values())):
            if time.monotonic() > until_s:
                raise NotHere(f"Kafka's nodes did not start here: {self._own(1) / 'log'} says why")
            time.sleep(0.2)

    def send(self, node: int, number: signal.Signals) -> None:
        """SIGKILL and SIGTERM end it, SIGSTOP and SIGCONT hold it up."""
        process = self._running[node]
        process.send_signal(number)
        if number is signal.SIGKILL:
            process.wait()

    def await_end(self, node: int) -> None:
        self._running[node].wait(PATIENCE_S)

    def close(self) -> None:
        for process in self._running.values():
            with contextlib.suppress(ProcessLookupError):
                process.send_signal(signal.SIGCONT)
            end(process, 1)

    def _own(self, node: int) -> Path:
        return self._folder / f"node-{node}"

    def _java(self, *options: str) -> list[str]:
        return ["java", *_JAVA, *options, "-cp", f"{self._jars}/*"]


@contextlib.contextmanager
def three_nodes(jars: Path, folder: Path) -> Iterator[Nodes]:
    """Raises NotHere."""
    with contextlib.closing(Nodes(jars, folder)) as nodes:
        nodes.start()
        nodes.await_answers()
        yield nodes


class Administrator:
    """Kafka's own administrator. `ask` may be called from any thread."""

    def __init__(self, jars: Path, servers: str, log: Path) -> None:
        path = f"{classes(jars)}{os.pathsep}{jars}/*"
        level = "-Dorg.slf4j.simpleLogger.defaultLogLevel=off"
        with log.open("w") as errors:
            self._process = subprocess.Popen(
                ["java", *_JAVA, "-Xmx128m", level, "-cp", path, "reference.Administrator", servers],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, text=True, start_new_session=True,
                preexec_fn=dies_with_us,  # noqa: PLW1509 - it only asks the kernel for something
            )  # fmt: skip
        self._numbers = itertools.count()
        self._waiting: dict[int, Callable[[Any], object]] = {}
        self._lock = threading.Lock()
        threading.Thread(target=self._read, daemon=True).start()

    def ask(self, what: str, *arguments: str, patience_s: float = 60.0) -> Any:
        """Raises RuntimeError with what it says, TimeoutError."""
        answered, found = threading.Event(), list[Any]()

        def take(told: Any) -> None:
            found.append(told)
            answered.set()

        number = next(self._numbers)
        self._waiting[number] = take
        assert self._process.stdin is not None
        with self._lock:
            self._process.stdin.write("\t".join((str(number), what, *arguments)) + "\n")
            self._process.stdin.flush()
        if not answered.wait(patience_s):
            raise TimeoutError(what)
        (told,) = found
        if "failed" in told:
            raise RuntimeError(told["failed"])
        return told["found"]

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            told = json.loads(line)
            self._waiting.pop(told["id"])(told)

    def close(self) -> None:
        end(self._process, 1)
