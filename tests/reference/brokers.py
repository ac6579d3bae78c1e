"""A broker of Apache Kafka and one of ours, each in a process of its own that ends with this one."""

from __future__ import annotations

import contextlib
import json
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from tests.reference.java_programs import NotHere, dies_with_us, end

ROOT = Path(__file__).parents[2]
PATIENCE_S = 150
# Small, and quick where Kafka would wait for more members, or look for what has expired every ten seconds only.
SETTINGS = """\
process.roles=broker,controller
node.id=0
controller.quorum.voters=0@127.0.0.1:{controller}
listeners=PLAINTEXT://127.0.0.1:{port},CONTROLLER://127.0.0.1:{controller}{listened}
advertised.listeners=PLAINTEXT://127.0.0.1:{port}{advertised}
controller.listener.names=CONTROLLER
listener.security.protocol.map=PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT,CLIENTS:PLAINTEXT
inter.broker.listener.name=PLAINTEXT
log.dirs={data}
num.partitions=1
offsets.topic.replication.factor=1
offsets.topic.num.partitions=4
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
transaction.state.log.num.partitions=4
transaction.abort.timed.out.transaction.cleanup.interval.ms=500
share.coordinator.state.topic.replication.factor=1
share.coordinator.state.topic.min.isr=1
share.coordinator.state.topic.num.partitions=4
group.initial.rebalance.delay.ms=0
authorizer.class.name=org.apache.kafka.metadata.authorizer.StandardAuthorizer
super.users=User:ANONYMOUS
group.share.min.record.lock.duration.ms=1000
"""


def free_port() -> int:
    """A port that nobody listens on, at this moment."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def is_free(port: int) -> bool:
    """Whether nobody listens there."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        return probe.connect_ex(("127.0.0.1", port)) != 0


def answers(port: int) -> bool:
    """Whether a broker there answers ApiVersions."""
    frame = b"\0\0\0\x0d\0\x12\0\0\0\0\0\1\0\3try"
    try:
        with socket.create_connection(("127.0.0.1", port), 2) as connection:
            connection.sendall(frame)
            return len(connection.recv(4)) == 4
    except OSError:
        return False


def _listeners(clients: tuple[int, int] | None) -> dict[str, str]:
    if clients is None:
        return {"listened": "", "advertised": ""}
    listened, advertised = (f",CLIENTS://127.0.0.1:{port}" for port in clients)
    return {"listened": listened, "advertised": advertised}


@contextlib.contextmanager
def kafka(jars: Path, folder: Path, clients: tuple[int, int] | None = None, more: str = "") -> Iterator[str]:
    """bootstrap.servers of a node of Apache Kafka, whose files are in `folder`; `more` are lines of its settings.

    `clients`: another port to listen at, and the one that clients which come there are told to connect to.

    Raises:
        NotHere: it did not start, twice.
    """
    for attempt in range(2):
        own = folder / f"kafka-{attempt}"
        own.mkdir()
        port, controller = free_port(), free_port()
        file = own / "server.properties"
        settings = SETTINGS.format(port=port, controller=controller, data=own / "data", **_listeners(clients))
        file.write_text(settings + more)
        java = ["java", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-XX:-UsePerfData", "-cp", f"{jars}/*"]
        formatting = ["kafka.tools.StorageTool", "format", "-t", "brokerscope-reference_", "-c", str(file)]
        with (own / "log").open("w") as log:
            subprocess.run([*java, *formatting], stdout=log, stderr=log, check=False, timeout=PATIENCE_S)
            log.flush()
            level = "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn"
            process = subprocess.Popen(
                [*java[:1], "-Xmx600m", level, *java[1:], "kafka.Kafka", str(file)],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True,
                preexec_fn=dies_with_us,  # noqa: PLW1509 - no thread runs yet
            )  # fmt: skip
        try:
            until_s = time.monotonic() + PATIENCE_S
            while process.poll() is None and time.monotonic() < until_s:
                if answers(port):
                    yield f"127.0.0.1:{port}"
                    return
                time.sleep(0.2)
        finally:
            end(process, 3)
    lines = (own / "log").read_text(errors="replace").splitlines()
    said = next((line for line in reversed(lines) if "ERROR" in line or "Exception" in line), "it said nothing")
    raise NotHere(f"Kafka's broker did not start here: {said}")


@contextlib.contextmanager
def ours(folder: Path, between: str = "") -> Iterator[str]:
    """bootstrap.servers of `brokerscope serve`, or of the ports that lead to the brokers at `between`."""
    command = [sys.executable, "main.py", "serve", "--kafka", "0", "--http", "off", "--create-topics", "1", "--json"]
    if between:
        recorded = ["--port", "0", "--session", str(folder / "session")]
        command = [sys.executable, "main.py", "between", between, "--without-window", "--json", *recorded]
    with (folder / "ours.log").open("w") as log:
        process = subprocess.Popen(
            command, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=log, text=True,
            start_new_session=True,
            preexec_fn=dies_with_us,  # noqa: PLW1509 - no thread runs yet
        )  # fmt: skip
        try:
            assert process.stdout is not None
            line = process.stdout.readline()
            if not line:
                raise SystemExit(f"Our broker did not start:\n{(folder / 'ours.log').read_text()}")
            yield json.loads(line)["bootstrap_servers" if between else "kafka"]
        finally:
            end(process)
